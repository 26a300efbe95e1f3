package main

import (
	"math/rand"
	"reflect"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// author fills every field of an object by chance, those that no scheduler reads included, with
// values that are mostly right and often empty: it is there that the two encodings differ.
type author struct {
	*rand.Rand
}

func pick[T any](author *author, values []T) T {
	return values[author.Intn(len(values))]
}

// kinds are those that are read, the frequent ones more than once.
var kinds = []schema.GroupVersionKind{
	corev1.SchemeGroupVersion.WithKind("Pod"),
	corev1.SchemeGroupVersion.WithKind("Pod"),
	corev1.SchemeGroupVersion.WithKind("Pod"),
	corev1.SchemeGroupVersion.WithKind("Pod"),
	corev1.SchemeGroupVersion.WithKind("Node"),
	corev1.SchemeGroupVersion.WithKind("Node"),
	corev1.SchemeGroupVersion.WithKind("Namespace"),
	corev1.SchemeGroupVersion.WithKind("Service"),
	corev1.SchemeGroupVersion.WithKind("ReplicationController"),
	corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
	corev1.SchemeGroupVersion.WithKind("PersistentVolume"),
	corev1.SchemeGroupVersion.WithKind("PersistentVolume"),
	schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"),
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	appsv1.SchemeGroupVersion.WithKind("Deployment"),
	batchv1.SchemeGroupVersion.WithKind("Job"),
	storagev1.SchemeGroupVersion.WithKind("StorageClass"),
	storagev1.SchemeGroupVersion.WithKind("CSINode"),
	storagev1.SchemeGroupVersion.WithKind("CSIDriver"),
	storagev1.SchemeGroupVersion.WithKind("CSIStorageCapacity"),
	storagev1.SchemeGroupVersion.WithKind("VolumeAttachment"),
}

// texts by the type of a field, for words of Kubernetes, or by its name in JSON. Words that nobody
// knows are there where a reader must bear them.
var texts = map[string][]string{
	"TolerationOperator":            {"", "Exists", "Equal", "Lt", "Gt", "Future"},
	"NodeSelectorOperator":          {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Future"},
	"LabelSelectorOperator":         {"In", "NotIn", "Exists", "DoesNotExist", "Future"},
	"TaintEffect":                   {"NoSchedule", "PreferNoSchedule", "NoExecute", "Future"},
	"Protocol":                      {"", "TCP", "UDP", "SCTP"},
	"ContainerRestartPolicy":        {"Always", "OnFailure", "Never"},
	"ContainerRestartRuleAction":    {"", "Restart", "RestartAllContainers"},
	"UnsatisfiableConstraintAction": {"DoNotSchedule", "ScheduleAnyway"},
	"NodeInclusionPolicy":           {"Honor", "Ignore"},
	"PreemptionPolicy":              {"Never", "PreemptLowerPriority"},
	"PodPhase":                      {"", "Pending", "Running", "Succeeded", "Failed", "Unknown"},
	"PersistentVolumeClaimPhase":    {"", "Pending", "Bound", "Lost"},
	"PersistentVolumePhase":         {"", "Pending", "Available", "Bound", "Released", "Failed"},
	"PersistentVolumeAccessMode":    {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"},
	"PersistentVolumeMode":          {"", "Filesystem", "Block"},
	"VolumeBindingMode":             {"Immediate", "WaitForFirstConsumer"},
	"CompletionMode":                {"NonIndexed", "Indexed"},
	"JobConditionType":              {"Complete", "Failed", "Suspended"},
	"ConditionStatus":               {"True", "False", "Unknown", ""},
	"ResourceName":                  {"cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi", "storage"},
	"name":                          {"a", "web-0.b", "c"},
	"generateName":                  {"", "g-"},
	"namespace":                     {"", "n-s", "default"},
}

var anyTexts = []string{"", "", "a", "b\n\u00e9", "\U0001F600", "10", "<&>", strings.Repeat("long ", 60), "\xff\xe2\x82", "\x00"}

// numbers by the name of a field in JSON: those that readers hold to limits.
var numbers = map[string][]int64{
	"weight":                {1, 50, 100},
	"maxSkew":               {1, 2, 1<<31 - 1},
	"minDomains":            {1, 5},
	"containerPort":         {1, 80, 65535},
	"hostPort":              {0, 80, 65535},
	"activeDeadlineSeconds": {1, 60},
	"generation":            {0, 1, -1, 1 << 40, -1 << 63},
	"priority":              {0, 10, -5, 1<<31 - 1, -1 << 31},
	"value":                 {0, 10, -5, 1000000000},
	"tolerationSeconds":     {0, 300, -1},
}

var anyNumbers = []int64{0, 0, 1, 7, 200, 1<<31 - 1}

// What requests ask for is below every limit.
var (
	requestAmounts = []string{"0", "1", "100m", "1u", "1500n", "250m"}
	otherAmounts   = []string{"2", "3Gi", "1e3", "1500m", "9P", "12345678901234567", "1.5Gi", "2e3"}
)

func (a *author) kind() schema.GroupVersionKind { return pick(a, kinds) }

// now and then, so that what is refused is compared too.
func (a *author) rarely() bool { return a.Intn(400) == 0 }

func (a *author) object(kind schema.GroupVersionKind) runtime.Object {
	object, err := scheme.Scheme.New(kind)
	if err != nil {
		panic(err)
	}
	a.fill(reflect.ValueOf(object).Elem(), "")
	object.GetObjectKind().SetGroupVersionKind(kind)
	if meta := object.(metav1.Object); meta.GetName() == "" && !a.rarely() {
		meta.SetName("a")
	}
	if !a.rarely() {
		a.matchTemplate(object)
	}
	return object
}

// matchTemplate makes a workload's selector mean its own pods, as an API server demands.
func (a *author) matchTemplate(object runtime.Object) {
	matching := func(selector **metav1.LabelSelector, template *corev1.PodTemplateSpec) {
		if *selector != nil {
			*selector = &metav1.LabelSelector{MatchLabels: template.Labels}
		}
	}
	switch made := object.(type) {
	case *appsv1.ReplicaSet:
		matching(&made.Spec.Selector, &made.Spec.Template)
	case *appsv1.StatefulSet:
		matching(&made.Spec.Selector, &made.Spec.Template)
	case *appsv1.Deployment:
		matching(&made.Spec.Selector, &made.Spec.Template)
	case *corev1.ReplicationController:
		if made.Spec.Template == nil {
			made.Spec.Template = &corev1.PodTemplateSpec{}
			a.fill(reflect.ValueOf(made.Spec.Template).Elem(), "")
		}
		if made.Spec.Selector != nil {
			made.Spec.Selector = made.Spec.Template.Labels
		}
	case *policyv1.PodDisruptionBudget:
		if made.Spec.MinAvailable != nil {
			made.Spec.MaxUnavailable = nil
		}
	}
}

// fillWhole fills types that are one value to JSON. False for all others.
func (a *author) fillWhole(value reflect.Value, name string) bool {
	switch out := value.Addr().Interface().(type) {
	case *resource.Quantity:
		amounts := otherAmounts
		if name == "requests" {
			amounts = requestAmounts
		}
		*out = resource.MustParse(pick(a, amounts))
		if a.rarely() {
			*out = resource.MustParse("-1")
		}
	case *metav1.Time:
		*out = pick(a, []metav1.Time{{}, metav1.Unix(0, 0), metav1.Unix(1769860800, 0), metav1.Unix(-1, 0)})
	case *metav1.MicroTime:
		*out = metav1.NewMicroTime(time.Unix(1769860800, 5000))
	case *metav1.FieldsV1:
		out.Raw = []byte(`{"f:spec":{}}`)
	case *runtime.RawExtension:
		out.Raw = []byte(`{}`)
	case *intstr.IntOrString:
		*out = pick(a, []intstr.IntOrString{
			intstr.FromInt32(0), intstr.FromInt32(3), intstr.FromString("50%"), intstr.FromString("0%"),
		})
		if a.rarely() {
			*out = pick(a, []intstr.IntOrString{intstr.FromInt32(-1), intstr.FromString("many")})
		}
	default:
		return false
	}
	return true
}

// fill gives a field a value; `name` is what JSON calls it.
func (a *author) fill(value reflect.Value, name string) {
	if a.fillWhole(value, name) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		if a.Intn(5) < 2 {
			value.Set(reflect.New(value.Type().Elem()))
			a.fill(value.Elem(), name)
		}
	case reflect.Struct:
		a.fillStruct(value)
	case reflect.Slice:
		count := a.Intn(3)
		if name == "containers" && !a.rarely() {
			count = 1 + a.Intn(2)
		}
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte("bytes"))
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), count, count))
		for i := range count {
			a.fill(value.Index(i), "")
		}
	case reflect.Map:
		a.fillMap(value, name)
	case reflect.String:
		value.SetString(a.text(value.Type().Name(), name))
	case reflect.Bool:
		value.SetBool(a.Intn(2) == 0)
	case reflect.Int32, reflect.Int64:
		a.fillNumber(value, name)
	}
}

func (a *author) fillStruct(value reflect.Value) {
	described := value.Type()
	// A volume has one source, nearly always.
	only := -1
	if strings.HasSuffix(described.Name(), "VolumeSource") && described.NumField() > 15 && a.Intn(20) > 0 {
		only = a.Intn(described.NumField())
	}
	for i := range described.NumField() {
		field := described.Field(i)
		if field.Name == "TypeMeta" || !field.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if only == i {
			value.Field(i).Set(reflect.New(field.Type.Elem()))
			a.fill(value.Field(i).Elem(), name)
		} else if only < 0 {
			a.fill(value.Field(i), name)
		}
	}
}

func (a *author) fillMap(value reflect.Value, name string) {
	described := value.Type()
	value.Set(reflect.MakeMap(described))
	for range a.Intn(4) {
		key := reflect.New(described.Key()).Elem()
		element := reflect.New(described.Elem()).Elem()
		if described.Key().Name() == "ResourceName" {
			key.SetString(a.text("ResourceName", ""))
		} else {
			key.SetString(pick(a, []string{"app", "x.com/y", "b_c", "Z"}))
		}
		if described.Elem().Kind() == reflect.String {
			element.SetString(pick(a, []string{"", "1", "a_b.c-d"}))
		} else {
			a.fill(element, name)
		}
		value.SetMapIndex(key, element)
	}
}

func (a *author) text(typeName, name string) string {
	if a.rarely() {
		return "No Such Word"
	}
	if pool, known := texts[typeName]; known {
		return pick(a, pool)
	}
	if pool, known := texts[name]; known {
		return pick(a, pool)
	}
	return pick(a, anyTexts)
}

func (a *author) fillNumber(value reflect.Value, name string) {
	pool, known := numbers[name]
	if !known {
		pool = anyNumbers
	}
	number := pick(a, pool)
	if a.rarely() {
		number = -1
	}
	value.SetInt(number)
}
