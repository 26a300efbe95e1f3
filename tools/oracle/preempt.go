package main

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// dryRun stands between kube-scheduler's preemption and the plugin that picks the victims on a
// node: it has every node tried, and writes down what came of it.
type dryRun struct {
	preemption.Interface
	candidates map[string]*extenderv1.Victims
}

// GetOffsetAndNumCandidates asks for all nodes from the first on. kube-scheduler would begin
// anywhere and stop after a tenth of them, or a hundred.
func (d *dryRun) GetOffsetAndNumCandidates(nodes int32) (int32, int32) { return 0, nodes }

func (d *dryRun) SelectVictimsOnNode(
	ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo,
	budgets []*policyv1.PodDisruptionBudget,
) ([]*v1.Pod, int, *fwk.Status) {
	pods, violations, status := d.Interface.SelectVictimsOnNode(ctx, state, pod, node, budgets)
	if status.IsSuccess() && len(pods) > 0 {
		d.candidates[node.Node().Name] = &extenderv1.Victims{
			Pods: pods, NumPDBViolations: int64(violations),
		}
	}
	return pods, violations, status
}

// idleHandle shows the executor no lower nominations, which it would want to clear through a client
// that is not there.
type idleHandle struct{ fwk.Handle }

func (idleHandle) NominatedPodsForNode(string) []fwk.PodInfo { return nil }

// observePreemption gives the DefaultPreemption plugin an evaluator that only looks; for other
// plugins it does nothing and returns nil.
func observePreemption(plugin fwk.Plugin, handle fwk.Handle) *dryRun {
	p, ok := plugin.(*defaultpreemption.DefaultPreemption)
	if !ok {
		return nil
	}
	executor := preemption.NewExecutor(idleHandle{handle}, feature.Features{})
	executor.PreemptPod = func(
		context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string,
	) error {
		return nil
	}
	run := &dryRun{Interface: p}
	p.Evaluator = preemption.NewEvaluator(p.Name(), handle, run, executor)
	return run
}

// preempt runs the PostFilter plugins and returns what they add to the message.
func (c *cycle) preempt(statuses *framework.NodeToStatus) string {
	run := c.engine.dryRun
	if run == nil {
		run = &dryRun{}
	}
	run.candidates = map[string]*extenderv1.Victims{}
	f := c.engine.framework
	result, status := f.RunPostFilterPlugins(c.engine.ctx, c.state, c.pod, statuses)
	report := &Preemption{
		Candidates: map[string]Candidate{},
		Best:       best(run.candidates),
		Code:       status.Code().String(),
		Message:    status.Message(),
	}
	for node, victims := range run.candidates {
		report.Candidates[node] = candidateOf(victims)
	}
	if result != nil && result.Mode() == fwk.ModeOverride {
		report.NominatedNodeName = &result.NominatedNodeName
	}
	if status.IsSuccess() && report.NominatedNodeName != nil {
		report.Chosen = *report.NominatedNodeName
		if !slices.Contains(report.Best, report.Chosen) {
			c.answer.Error = fmt.Sprintf("kube-scheduler chose %s, which is none of the best, %v",
				report.Chosen, report.Best)
		}
	}
	c.answer.Preemption = report
	return status.Message()
}

func candidateOf(victims *extenderv1.Victims) Candidate {
	names := make([]string, 0, len(victims.Pods))
	for _, pod := range victims.Pods {
		names = append(names, podName(pod))
	}
	slices.Sort(names)
	return Candidate{Victims: names, PDBViolations: victims.NumPDBViolations}
}
