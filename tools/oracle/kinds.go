package main

import (
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	resourcedefaults "k8s.io/kubernetes/pkg/apis/resource/v1"
	schedulingdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"
)

type (
	factory  = informers.SharedInformerFactory
	informer = cache.SharedIndexInformer
)

// kind is what the oracle knows about one kind of object: how an empty one is made, which defaults
// the API server gives it, and in which informer kube-scheduler's plugins look for it.
type kind struct {
	make       func() metav1.Object
	setDefault func(metav1.Object)
	namespaced bool
	informerOf func(factory) informer
}

// The kinds that the oracle itself looks at, beyond handing them to the plugins.
const (
	kindPod           = "v1/Pod"
	kindNode          = "v1/Node"
	kindPriorityClass = "scheduling.k8s.io/v1/PriorityClass"
	kindResourceClaim = "resource.k8s.io/v1/ResourceClaim"
	kindDeviceClass   = "resource.k8s.io/v1/DeviceClass"
)

const (
	inNamespace = true
	inCluster   = false
)

// kindOf describes the kind with the Go type T. A nil setDefault is for kinds without defaults.
func kindOf[T any, P interface {
	*T
	metav1.Object
}](namespaced bool, informerOf func(factory) informer, setDefault func(P)) kind {
	return kind{
		make: func() metav1.Object { return P(new(T)) },
		setDefault: func(object metav1.Object) {
			if setDefault != nil {
				setDefault(object.(P))
			}
		},
		namespaced: namespaced,
		informerOf: informerOf,
	}
}

// setPodDefaults names a pull policy where there is none: the API server's default for it depends
// on the image's tag, and to find that takes longer than all the rest. kube-scheduler never looks
// at it.
func setPodDefaults(pod *v1.Pod) {
	for _, containers := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if containers[i].ImagePullPolicy == "" {
				containers[i].ImagePullPolicy = v1.PullIfNotPresent
			}
		}
	}
	coredefaults.SetObjectDefaults_Pod(pod)
}

// kinds has every kind that kube-scheduler reads in its default configuration, by
// "apiVersion/kind".
var kinds = map[string]kind{
	kindPod: kindOf(inNamespace,
		func(f factory) informer { return f.Core().V1().Pods().Informer() },
		setPodDefaults),
	kindNode: kindOf(inCluster,
		func(f factory) informer { return f.Core().V1().Nodes().Informer() },
		coredefaults.SetObjectDefaults_Node),
	"v1/Namespace": kindOf(inCluster,
		func(f factory) informer { return f.Core().V1().Namespaces().Informer() },
		coredefaults.SetObjectDefaults_Namespace),
	"v1/Service": kindOf(inNamespace,
		func(f factory) informer { return f.Core().V1().Services().Informer() },
		coredefaults.SetObjectDefaults_Service),
	"v1/ReplicationController": kindOf(inNamespace,
		func(f factory) informer { return f.Core().V1().ReplicationControllers().Informer() },
		coredefaults.SetObjectDefaults_ReplicationController),
	"v1/PersistentVolume": kindOf(inCluster,
		func(f factory) informer { return f.Core().V1().PersistentVolumes().Informer() },
		coredefaults.SetObjectDefaults_PersistentVolume),
	"v1/PersistentVolumeClaim": kindOf(inNamespace,
		func(f factory) informer { return f.Core().V1().PersistentVolumeClaims().Informer() },
		coredefaults.SetObjectDefaults_PersistentVolumeClaim),
	"apps/v1/ReplicaSet": kindOf(inNamespace,
		func(f factory) informer { return f.Apps().V1().ReplicaSets().Informer() },
		appsdefaults.SetObjectDefaults_ReplicaSet),
	"apps/v1/StatefulSet": kindOf(inNamespace,
		func(f factory) informer { return f.Apps().V1().StatefulSets().Informer() },
		appsdefaults.SetObjectDefaults_StatefulSet),
	"policy/v1/PodDisruptionBudget": kindOf[policyv1.PodDisruptionBudget](inNamespace,
		func(f factory) informer { return f.Policy().V1().PodDisruptionBudgets().Informer() }, nil),
	kindPriorityClass: kindOf(inCluster,
		func(f factory) informer { return f.Scheduling().V1().PriorityClasses().Informer() },
		schedulingdefaults.SetObjectDefaults_PriorityClass),
	"storage.k8s.io/v1/StorageClass": kindOf(inCluster,
		func(f factory) informer { return f.Storage().V1().StorageClasses().Informer() },
		storagedefaults.SetObjectDefaults_StorageClass),
	"storage.k8s.io/v1/CSINode": kindOf[storagev1.CSINode](inCluster,
		func(f factory) informer { return f.Storage().V1().CSINodes().Informer() }, nil),
	"storage.k8s.io/v1/CSIDriver": kindOf(inCluster,
		func(f factory) informer { return f.Storage().V1().CSIDrivers().Informer() },
		storagedefaults.SetObjectDefaults_CSIDriver),
	"storage.k8s.io/v1/CSIStorageCapacity": kindOf[storagev1.CSIStorageCapacity](inNamespace,
		func(f factory) informer { return f.Storage().V1().CSIStorageCapacities().Informer() }, nil),
	"storage.k8s.io/v1/VolumeAttachment": kindOf(inCluster,
		func(f factory) informer { return f.Storage().V1().VolumeAttachments().Informer() },
		storagedefaults.SetObjectDefaults_VolumeAttachment),
	kindResourceClaim: kindOf(inNamespace,
		func(f factory) informer { return f.Resource().V1().ResourceClaims().Informer() },
		resourcedefaults.SetObjectDefaults_ResourceClaim),
	"resource.k8s.io/v1/ResourceSlice": kindOf(inCluster,
		func(f factory) informer { return f.Resource().V1().ResourceSlices().Informer() },
		resourcedefaults.SetObjectDefaults_ResourceSlice),
	kindDeviceClass: kindOf[resourcev1.DeviceClass](inCluster,
		func(f factory) informer { return f.Resource().V1().DeviceClasses().Informer() }, nil),
}
