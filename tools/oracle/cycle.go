package main

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// ask answers for one pod. It walks through kube-scheduler's cycle with two differences: all nodes
// are looked at, in the order of the snapshot, whatever the sampling and however early the outcome
// is clear; and nothing is assumed, reserved or evicted.
func (e *engine) ask(c *cluster, name string, preempt bool) PodAnswer {
	answer := PodAnswer{Pod: name}
	pod := c.byName[name]
	if answer.Error = e.refusal(pod); answer.Error != "" {
		return answer
	}
	for _, plugin := range e.framework.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(e.ctx, pod); !status.IsSuccess() {
			gate := verdictOf(status.WithPlugin(plugin.Name()))
			answer.PreEnqueue = &gate
			return answer
		}
	}
	run := &cycle{engine: e, pod: pod, state: framework.NewCycleState(), answer: &answer}
	run.decide(preempt)
	return answer
}

// refusal says why the pod would never get as far as a cycle, or "".
func (e *engine) refusal(pod *v1.Pod) string {
	switch {
	case pod == nil:
		return "no such pod, or it has ended"
	case pod.Spec.NodeName != "":
		return fmt.Sprintf("it is on node %s already", pod.Spec.NodeName)
	case pod.Spec.SchedulerName != e.framework.ProfileName():
		return fmt.Sprintf("it belongs to scheduler %s, not to %s",
			pod.Spec.SchedulerName, e.framework.ProfileName())
	case pod.DeletionTimestamp != nil:
		return fmt.Sprintf("skip schedule deleting pod: %s", podName(pod))
	}
	return ""
}

// cycle is one pod on its way through the extension points.
type cycle struct {
	engine *engine
	pod    *v1.Pod
	state  *framework.CycleState
	answer *PodAnswer
}

func (c *cycle) decide(preempt bool) {
	nodes, err := c.engine.snapshot.List()
	if err != nil {
		c.fail(v1.PodReasonSchedulerError, err)
		return
	}
	if len(nodes) == 0 {
		c.fail(v1.PodReasonUnschedulable, scheduler.ErrNoNodesAvailable)
		return
	}
	diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	feasible, err := c.findFeasible(nodes, &diagnosis)
	c.reportNodes(nodes, feasible, diagnosis.NodeToStatus)
	switch {
	case err != nil:
		c.fail(v1.PodReasonSchedulerError, err)
	case len(feasible) > 0:
		c.score(feasible)
	case c.answer.Nominated == "":
		fitError := &framework.FitError{Pod: c.pod, NumAllNodes: len(nodes), Diagnosis: diagnosis}
		if preempt && c.engine.framework.HasPostFilterPlugins() {
			fitError.Diagnosis.PostFilterMsg = c.preempt(diagnosis.NodeToStatus)
		}
		c.answer.UnschedulablePlugins = sets.List(diagnosis.UnschedulablePlugins)
		c.fail(v1.PodReasonUnschedulable, fitError)
	}
}

func (c *cycle) fail(reason string, err error) {
	c.answer.Reason = reason
	c.answer.Message = err.Error()
}

// findFeasible runs PreFilter and Filter. An error is what ends the whole cycle in kube-scheduler.
func (c *cycle) findFeasible(
	nodes []fwk.NodeInfo, diagnosis *framework.Diagnosis,
) ([]fwk.NodeInfo, error) {
	f := c.engine.framework
	left, status, rejectors := f.RunPreFilterPlugins(c.engine.ctx, c.state, c.pod)
	c.reportPreFilter(left, status)
	diagnosis.UnschedulablePlugins = rejectors
	if status.IsRejected() {
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
		diagnosis.AddPluginStatus(status)
		return nil, nil
	}
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	c.tryNominated(*diagnosis)
	if !left.AllNodes() {
		diagnosis.NodeToStatus.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(rejectors))))
	}
	var feasible []fwk.NodeInfo
	var firstErr error
	for _, node := range nodes {
		name := node.Node().Name
		if !left.AllNodes() && !left.NodeNames.Has(name) {
			continue
		}
		status := f.RunFilterPluginsWithNominatedPods(c.engine.ctx, c.state, c.pod, node)
		if status.IsSuccess() {
			feasible = append(feasible, node)
			continue
		}
		if status.Code() == fwk.Error && firstErr == nil {
			firstErr = status.AsError()
		}
		diagnosis.NodeToStatus.Set(name, status)
		diagnosis.AddPluginStatus(status)
	}
	return feasible, firstErr
}

// tryNominated looks at the pod's own nominated node first, as kube-scheduler does: whether
// PreFilter left it over or not. A "no" stays in the diagnosis, so it can be counted beside the
// nodes that PreFilter took out; kube-scheduler hands over a copy of the diagnosis, of which the
// maps are the same, and so is this one.
func (c *cycle) tryNominated(diagnosis framework.Diagnosis) {
	name := c.pod.Status.NominatedNodeName
	if name == "" {
		return
	}
	node, err := c.engine.snapshot.Get(name)
	if err != nil {
		return
	}
	f := c.engine.framework
	status := f.RunFilterPluginsWithNominatedPods(c.engine.ctx, c.state, c.pod, node)
	switch {
	case status.IsSuccess():
		c.answer.Nominated = name
	case status.Code() != fwk.Error:
		diagnosis.NodeToStatus.Set(name, status)
		diagnosis.AddPluginStatus(status)
	}
}

func (c *cycle) reportPreFilter(left *fwk.PreFilterResult, status *fwk.Status) {
	c.answer.PreFilter = &PreFilterVerdict{Verdict: verdictOf(status)}
	if !left.AllNodes() {
		c.answer.PreFilter.Nodes = sets.List(left.NodeNames)
	}
}

func (c *cycle) reportNodes(nodes, feasible []fwk.NodeInfo, statuses *framework.NodeToStatus) {
	c.answer.Feasible = namesOf(feasible)
	c.answer.Nodes = map[string]Verdict{}
	for _, node := range nodes {
		name := node.Node().Name
		if _, fits := slices.BinarySearch(c.answer.Feasible, name); !fits {
			c.answer.Nodes[name] = verdictOf(statuses.Get(name))
		}
	}
}

func namesOf(nodes []fwk.NodeInfo) []string {
	names := make([]string, 0, len(nodes))
	for _, node := range nodes {
		names = append(names, node.Node().Name)
	}
	slices.Sort(names)
	return names
}

// verdictOf also takes the nil that plugins return for success.
func verdictOf(status *fwk.Status) Verdict {
	verdict := Verdict{Code: status.Code().String(), Reasons: []string{}}
	if status != nil {
		verdict.Plugin = status.Plugin()
		verdict.Reasons = append(verdict.Reasons, status.Reasons()...)
	}
	return verdict
}
