package main

import (
	"encoding/json"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster is what a request says there is, as kube-scheduler would see it: read by kind, with the
// API server's defaults, without pods that have ended (kube-scheduler does not watch them).
type cluster struct {
	objects map[string][]any
	nodes   []*v1.Node
	pods    []*v1.Pod
	byName  map[string]*v1.Pod
}

func podName(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

func ended(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func readCluster(objects []json.RawMessage) (*cluster, error) {
	c := &cluster{objects: map[string][]any{}, byName: map[string]*v1.Pod{}}
	seen := map[string]bool{}
	for i, read := range readObjects(objects) {
		if read.err != nil {
			return nil, fmt.Errorf("objects[%d]: %w", i, read.err)
		}
		key := read.kind + " " + read.object.GetNamespace() + "/" + read.object.GetName()
		if seen[key] {
			return nil, fmt.Errorf("objects[%d]: %s is there twice", i, key)
		}
		seen[key] = true
		if pod, ok := read.object.(*v1.Pod); ok && ended(pod) {
			continue
		}
		c.add(read.kind, read.object)
	}
	if err := c.admitPods(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *cluster) add(name string, object metav1.Object) {
	c.objects[name] = append(c.objects[name], object)
	switch object := object.(type) {
	case *v1.Node:
		c.nodes = append(c.nodes, object)
	case *v1.Pod:
		c.pods = append(c.pods, object)
		c.byName[podName(object)] = object
	}
}

// admitPods does what happens to a pod on its way through the API server and the kubelet, where
// kube-scheduler relies on it.
func (c *cluster) admitPods() error {
	priorities := c.priorityClasses()
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	for _, pod := range c.pods {
		if err := priorities.admit(pod); err != nil {
			return fmt.Errorf("pod %s: %w", podName(pod), err)
		}
		// kube-scheduler takes the present for a start that is not known yet, and reads the clock
		// anew for every comparison, which makes the order of such victims a matter of luck. Here
		// the clock stands still for the length of a request.
		if pod.Spec.NodeName != "" && pod.Status.StartTime == nil {
			pod.Status.StartTime = &now
		}
	}
	return nil
}
