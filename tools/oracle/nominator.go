package main

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// nominator knows which waiting pods have a node kept for them. In kube-scheduler this is part of
// the queue; here it follows from the pods alone and changes only with the cluster.
type nominator struct {
	byNode map[string][]fwk.PodInfo
}

// load takes over the nominations of a cluster. Pods of schedulers that are not in the
// configuration never enter kube-scheduler's queue, so their nominations count for nothing.
func (n *nominator) load(c *cluster, schedulers sets.Set[string]) {
	n.byNode = map[string][]fwk.PodInfo{}
	for _, pod := range c.pods {
		node := pod.Status.NominatedNodeName
		if node == "" || pod.Spec.NodeName != "" || !schedulers.Has(pod.Spec.SchedulerName) {
			continue
		}
		// The error is about affinity terms that cannot be parsed; kube-scheduler's queue keeps
		// such pods, too.
		info, _ := framework.NewPodInfo(pod)
		n.byNode[node] = append(n.byNode[node], info)
	}
}

func (n *nominator) NominatedPodsForNode(node string) []fwk.PodInfo { return n.byNode[node] }

func (n *nominator) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}

func (n *nominator) DeleteNominatedPodIfExists(*v1.Pod) {}

func (n *nominator) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo) {}
