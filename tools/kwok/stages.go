package main

import (
	_ "embed"
	"fmt"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodeheartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/yaml"
)

const (
	// How long the pods of a Job run, and the annotation of a pod that says otherwise, e.g. 5m.
	jobMilliseconds  = 30_000
	runForExpression = `.metadata.annotations["sim.kubenexus.io/run-for"]`
)

//go:embed node-allocatable.yaml
var nodeAllocatable string

type stagesByKind = map[internalversion.StageResourceRef][]*internalversion.Stage

// loadStages returns what kwok does to nodes and pods, and when.
func loadStages() (stagesByKind, error) {
	stages := stagesByKind{}
	for _, each := range []struct {
		text   string
		change func(*v1alpha1.StageSpec)
	}{
		{nodefast.DefaultNodeInit, nil},
		{nodeheartbeat.DefaultNodeHeartbeatWithLease, nil},
		{nodeAllocatable, nil},
		{podfast.DefaultPodReady, nil},
		{podfast.DefaultPodComplete, runForAWhile},
		{podfast.DefaultPodDelete, keepFinalizers},
	} {
		stage, err := readStage(each.text, each.change)
		if err != nil {
			return nil, err
		}
		stages[stage.Spec.ResourceRef] = append(stages[stage.Spec.ResourceRef], stage)
	}
	return stages, nil
}

func readStage(text string, change func(*v1alpha1.StageSpec)) (*internalversion.Stage, error) {
	stage := &v1alpha1.Stage{}
	if err := yaml.UnmarshalStrict([]byte(text), stage); err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}
	v1alpha1.SetObjectDefaults_Stage(stage)
	if change != nil {
		change(&stage.Spec)
	}
	return internalversion.ConvertToInternalStage(stage)
}

// kwok would end the pods of a Job at once, so that nobody could see them run.
func runForAWhile(stage *v1alpha1.StageSpec) {
	duration := int64(jobMilliseconds)
	stage.Delay = &v1alpha1.StageDelay{
		DurationMilliseconds: &duration,
		DurationFrom: &v1alpha1.ExpressionFrom{
			JQ: &v1alpha1.ExpressionJQ{Expression: runForExpression},
		},
	}
}

// kwok would take away the finalizers by which the Job controller counts what has ended.
func keepFinalizers(stage *v1alpha1.StageSpec) {
	stage.Next.Finalizers = nil
}
