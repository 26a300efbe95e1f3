package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// score scores the feasible nodes. kube-scheduler does not if there is only one, or if the pod's own
// nominated node is among them, so what goes wrong then is nobody's concern.
func (c *cycle) score(feasible []fwk.NodeInfo) {
	c.answer.Single = len(feasible) == 1
	decided := c.answer.Single || c.answer.Nominated != ""
	if err := c.runScorePlugins(feasible); err != nil && !decided {
		c.fail(v1.PodReasonSchedulerError, err)
	}
}

func (c *cycle) runScorePlugins(feasible []fwk.NodeInfo) error {
	f := c.engine.framework
	c.answer.Totals = make(map[string]int64, len(feasible))
	if !f.HasScorePlugins() {
		for _, node := range feasible {
			c.answer.Totals[node.Node().Name] = 1
		}
		return nil
	}
	if status := f.RunPreScorePlugins(c.engine.ctx, c.state, c.pod, feasible); !status.IsSuccess() {
		return status.AsError()
	}
	weighted, status := f.RunScorePlugins(c.engine.ctx, c.state, c.pod, feasible)
	if !status.IsSuccess() {
		return status.AsError()
	}
	c.answer.SkippedScores = sets.List(c.state.GetSkipScorePlugins())
	c.answer.Scores = map[string]map[string]Score{}
	enabled := map[string]config.Plugin{}
	for _, plugin := range f.ListPlugins().Score.Enabled {
		enabled[plugin.Name] = plugin
	}
	for i, node := range feasible {
		c.answer.Totals[weighted[i].Name] = weighted[i].TotalScore
		for _, score := range weighted[i].Scores {
			if err := c.reportScore(enabled[score.Name], node, score.Score); err != nil {
				return err
			}
		}
	}
	return nil
}

// reportScore asks the plugin for the raw score once more, since the framework keeps only what came
// of it. Scoring changes nothing, so the second answer is the first. The normalised score is the
// weighted one without its weight, exactly: weights are whole numbers above zero.
func (c *cycle) reportScore(enabled config.Plugin, node fwk.NodeInfo, weighted int64) error {
	plugin, ok := c.engine.plugins[enabled.Name].(fwk.ScorePlugin)
	if !ok {
		return fmt.Errorf("plugin %q does not score", enabled.Name)
	}
	raw, status := plugin.Score(c.engine.ctx, c.state, c.pod, node)
	if !status.IsSuccess() {
		return status.AsError()
	}
	byNode := c.answer.Scores[enabled.Name]
	if byNode == nil {
		byNode = map[string]Score{}
		c.answer.Scores[enabled.Name] = byNode
	}
	byNode[node.Node().Name] = Score{raw, weighted / int64(enabled.Weight), weighted}
	return nil
}
