package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	systemclasses "k8s.io/kubernetes/pkg/apis/scheduling/v1"
)

// priorityClasses gives a pod the priority of its class, as the API server's admission does.
// kube-scheduler reads the number only, never the class.
type priorityClasses struct {
	byName   map[string]*schedulingv1.PriorityClass
	fallback *schedulingv1.PriorityClass
}

func (c *cluster) priorityClasses() priorityClasses {
	known := priorityClasses{byName: map[string]*schedulingv1.PriorityClass{}}
	for _, class := range systemclasses.SystemPriorityClasses() {
		known.byName[class.Name] = class
	}
	for _, object := range c.objects[kindPriorityClass] {
		class := object.(*schedulingv1.PriorityClass)
		known.byName[class.Name] = class
		if class.GlobalDefault && (known.fallback == nil || class.Value < known.fallback.Value) {
			known.fallback = class
		}
	}
	return known
}

// admit leaves a pod alone that has its priority already: it comes from an API server.
func (p priorityClasses) admit(pod *v1.Pod) error {
	if pod.Spec.Priority != nil {
		return nil
	}
	class := p.fallback
	if name := pod.Spec.PriorityClassName; name != "" {
		if class = p.byName[name]; class == nil {
			return fmt.Errorf("no PriorityClass with name %s was found", name)
		}
	}
	if class == nil {
		priority := int32(scheduling.DefaultPriorityWhenNoDefaultClassExists)
		pod.Spec.Priority = &priority
		return nil
	}
	pod.Spec.PriorityClassName = class.Name
	pod.Spec.Priority = &class.Value
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = class.PreemptionPolicy
	}
	return nil
}
