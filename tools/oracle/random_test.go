package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// chance makes clusters in which every plugin has something to say.
type chance struct{ *rand.Rand }

func newChance(seed uint64) chance { return chance{rand.New(rand.NewPCG(seed, 0))} }

func (r chance) one(in int) bool { return r.IntN(in) == 0 }

func pick[T any](r chance, from ...T) T { return from[r.IntN(len(from))] }

func (r chance) app() map[string]string {
	return map[string]string{"app": pick(r, "web", "db", "batch")}
}

func (r chance) selector() *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: r.app()} }

func (r chance) topologyKey() string {
	return pick(r, v1.LabelHostname, v1.LabelTopologyZone, "rack")
}

func (r chance) resources(limits ...string) v1.ResourceList {
	return v1.ResourceList{
		v1.ResourceCPU:    resource.MustParse(limits[r.IntN(len(limits))]),
		v1.ResourceMemory: resource.MustParse(pick(r, "128Mi", "1Gi", "3Gi")),
	}
}

func (r chance) node(i int) *v1.Node {
	name := fmt.Sprintf("node-%02d", i)
	node := &v1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelHostname: name}},
		Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU:    resource.MustParse(pick(r, "2", "4", "8")),
			v1.ResourceMemory: resource.MustParse("16Gi"),
			v1.ResourcePods:   resource.MustParse(pick(r, "5", "20")),
		}},
	}
	if !r.one(6) {
		node.Labels[v1.LabelTopologyZone] = pick(r, "a", "b", "c")
	}
	if r.one(2) {
		node.Labels["rack"] = pick(r, "r1", "r2")
	}
	if r.one(2) {
		node.Labels["disk"] = pick(r, "ssd", "hdd")
	}
	if r.one(6) {
		node.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "gpu", Effect: pick(r,
			v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)}}
	}
	node.Spec.Unschedulable = r.one(15)
	for image := range 4 {
		if r.one(3) {
			node.Status.Images = append(node.Status.Images, v1.ContainerImage{
				Names: []string{fmt.Sprintf("image-%d:1", image)}, SizeBytes: 400 << 20})
		}
	}
	return node
}

func (r chance) pod(name string) *v1.Pod {
	pod := &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pick(r, "one", "two"), Name: name, Labels: r.app()},
		Spec: v1.PodSpec{
			Priority: new(pick[int32](r, -5, 0, 10, 100)),
			Containers: []v1.Container{{
				Name: "main", Image: fmt.Sprintf("image-%d:1", r.IntN(4)),
				Resources: v1.ResourceRequirements{Requests: r.resources("0", "100m", "500m", "2")},
			}},
		},
	}
	if r.one(4) {
		pod.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: pick[int32](r, 80, 81)}}
	}
	if r.one(4) {
		pod.Spec.Tolerations = []v1.Toleration{{Key: "dedicated", Operator: v1.TolerationOpExists}}
	}
	if r.one(4) {
		pod.Spec.NodeSelector = map[string]string{"disk": pick(r, "ssd", "hdd")}
	}
	if r.one(2) {
		pod.Spec.Affinity = r.affinity()
	}
	if r.one(3) {
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: pick[int32](r, 1, 2), TopologyKey: r.topologyKey(),
			WhenUnsatisfiable: pick(r, v1.DoNotSchedule, v1.ScheduleAnyway), LabelSelector: r.selector(),
		}}
		if r.one(20) {
			// Nothing is in no set: an error for the plugin, where API validation does not stop it.
			pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{
				Key: "app", Operator: metav1.LabelSelectorOpIn}}
		}
	}
	return pod
}

func (r chance) affinityTerm() v1.PodAffinityTerm {
	term := v1.PodAffinityTerm{LabelSelector: r.selector(), TopologyKey: r.topologyKey()}
	if r.one(3) {
		term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick(r, "x", "y")}}
	}
	return term
}

func (r chance) affinity() *v1.Affinity {
	required := []v1.PodAffinityTerm{r.affinityTerm()}
	preferred := []v1.WeightedPodAffinityTerm{{Weight: int32(1 + r.IntN(100)), PodAffinityTerm: r.affinityTerm()}}
	switch r.IntN(6) {
	case 0:
		return &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	case 1:
		return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	case 2:
		return &v1.Affinity{PodAffinity: &v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred}}
	case 3:
		return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred}}
	case 4:
		return &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{
				Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn,
				Values: []string{fmt.Sprintf("node-%02d", r.IntN(8))}}}}},
		}}}
	}
	return &v1.Affinity{NodeAffinity: &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{
		Weight: int32(1 + r.IntN(100)),
		Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{
			Key: "disk", Operator: v1.NodeSelectorOpIn, Values: []string{"ssd"}}}},
	}}}}
}

// volume gives the pod a claim, which may be bound, waiting for its first consumer, or not there at
// all.
func (r chance) volume(pod *v1.Pod) []any {
	name := pod.Name + "-data"
	pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
	size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	claim := &v1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name},
		Spec: v1.PersistentVolumeClaimSpec{
			StorageClassName: new(pick(r, "late", "late", "local", "local", "missing")),
			AccessModes:      []v1.PersistentVolumeAccessMode{pick(r, v1.ReadWriteOnce, v1.ReadWriteOncePod)},
			Resources:        v1.VolumeResourceRequirements{Requests: size},
		},
	}
	if r.one(8) {
		return nil
	}
	if r.one(2) && pod.Spec.NodeName == "" {
		return []any{claim}
	}
	volume := &v1.PersistentVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name, Labels: map[string]string{}},
		Spec: v1.PersistentVolumeSpec{
			Capacity: size, AccessModes: claim.Spec.AccessModes, StorageClassName: *claim.Spec.StorageClassName,
			PersistentVolumeSource: v1.PersistentVolumeSource{
				CSI: &v1.CSIPersistentVolumeSource{Driver: "csi.example", VolumeHandle: name}},
			NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{
					Key: v1.LabelTopologyZone, Operator: v1.NodeSelectorOpIn, Values: []string{pick(r, "a", "b")}}}}}}},
		},
	}
	if r.one(3) {
		return []any{claim, volume}
	}
	volume.Labels[v1.LabelTopologyZone] = pick(r, "a", "b")
	volume.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name,
		UID: "uid-" + claim.UID}
	claim.UID = volume.Spec.ClaimRef.UID
	claim.Spec.VolumeName = volume.Name
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	claim.Status.Phase = v1.ClaimBound
	return []any{claim, volume}
}

func (r chance) surroundings() []any {
	objects := []any{
		&storagev1.StorageClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
			ObjectMeta: metav1.ObjectMeta{Name: "late"}, Provisioner: "csi.example",
			VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
			AllowedTopologies: []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{
				Key: v1.LabelTopologyZone, Values: []string{"a", "c"}}}}},
		},
		&storagev1.StorageClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
			ObjectMeta: metav1.ObjectMeta{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner",
			VolumeBindingMode: new(pick(r, storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate)),
		},
	}
	for _, name := range []string{"one", "two"} {
		objects = append(objects, &v1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": pick(r, "x", "y")}}})
		objects = append(objects, &v1.Service{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "front"},
			Spec:       v1.ServiceSpec{Selector: map[string]string{"app": "web"}}})
		objects = append(objects, &policyv1.PodDisruptionBudget{
			TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "budget"},
			Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(1)), Selector: r.selector()},
			Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(r.IntN(3))}})
	}
	return objects
}

// request makes a cluster of some nodes and pods and asks about all its pending pods.
func (r chance) request(nodes, running, pending int) *Request {
	objects := r.surroundings()
	for i := range nodes {
		objects = append(objects, r.node(i))
		objects = append(objects, &storagev1.CSINode{
			TypeMeta:   metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"},
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%02d", i)},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "csi.example",
				Allocatable: &storagev1.VolumeNodeResources{Count: new(pick[int32](r, 1, 4))}}}}})
	}
	nodeName := func() string { return fmt.Sprintf("node-%02d", r.IntN(nodes)) }
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range running {
		pod := r.pod(fmt.Sprintf("running-%d", i))
		pod.Spec.NodeName = nodeName()
		// No two start together: among victims that are equal in everything, the order is nobody's
		// promise.
		pod.Status = v1.PodStatus{Phase: v1.PodRunning, StartTime: new(metav1.NewTime(start.Add(
			time.Duration(i*7%running) * time.Minute)))}
		if r.one(4) {
			objects = append(objects, r.volume(pod)...)
		}
		objects = append(objects, pod)
	}
	request := &Request{ID: "random", Preempt: true}
	for i := range pending {
		pod := r.pod(fmt.Sprintf("pending-%d", i))
		pod.Spec.Containers[0].Resources.Requests = r.resources("100m", "1", "2", "4")
		pod.Status.Phase = v1.PodPending
		if r.one(4) {
			pod.Status.NominatedNodeName = nodeName()
		}
		if r.one(3) {
			objects = append(objects, r.volume(pod)...)
		}
		objects = append(objects, pod)
		request.Pods = append(request.Pods, podName(pod))
	}
	for _, object := range objects {
		raw, err := json.Marshal(object)
		if err != nil {
			panic(err)
		}
		request.Objects = append(request.Objects, raw)
	}
	return request
}

func BenchmarkSmallCluster(b *testing.B) {
	oracle := newOracle()
	line, err := json.Marshal(newChance(1).request(50, 300, 3))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if answer := oracle.answerLine(line); answer.Error != "" {
			b.Fatal(answer.Error)
		}
	}
}
