package main

import (
	"cmp"
	"math"
	"slices"
	"time"

	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// harm is what kube-scheduler weighs when it picks the node to preempt on, most important first.
type harm struct {
	violations      int64
	highestPriority int32
	sumOfPriorities int64
	victims         int
	// start of the longest-running of the most important victims: the later the better.
	start time.Time
}

func harmOf(victims *extenderv1.Victims) harm {
	h := harm{
		violations:      victims.NumPDBViolations,
		highestPriority: corev1helpers.PodPriority(victims.Pods[0]),
		victims:         len(victims.Pods),
		start:           util.GetEarliestPodStartTime(victims).Time,
	}
	for _, pod := range victims.Pods {
		// Shifted, so that more victims of negative priority are not better than fewer.
		h.sumOfPriorities += int64(corev1helpers.PodPriority(pod)) + math.MaxInt32 + 1
	}
	return h
}

func compareHarm(a, b harm) int {
	return cmp.Or(
		cmp.Compare(a.violations, b.violations),
		cmp.Compare(a.highestPriority, b.highestPriority),
		cmp.Compare(a.sumOfPriorities, b.sumOfPriorities),
		cmp.Compare(a.victims, b.victims),
		b.start.Compare(a.start),
	)
}

// best returns the candidates that are equally good: kube-scheduler takes the one that a map
// happens to yield first, which tells one of them only. The rule is therefore written down once
// more here, and a test holds it against kube-scheduler's picks.
func best(candidates map[string]*extenderv1.Victims) []string {
	names := []string{}
	var least harm
	for node, victims := range candidates {
		h := harmOf(victims)
		order := 0
		if len(names) > 0 {
			order = compareHarm(h, least)
		}
		if order < 0 {
			names = names[:0]
		}
		if order <= 0 {
			names, least = append(names, node), h
		}
	}
	slices.Sort(names)
	return names
}
