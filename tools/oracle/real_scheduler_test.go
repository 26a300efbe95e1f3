package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func TestMain(m *testing.M) {
	if err := prepare(); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}

// realScheduler is the whole of kube-scheduler over a fake API server, stopped just before it acts.
// It is far too slow to be the oracle, and tells far less; but what it tells must agree.
type realScheduler struct {
	scheduler *scheduler.Scheduler
	next      *framework.QueuedPodInfo
	outcome   realOutcome
}

type realOutcome struct {
	host      string
	feasible  int
	message   string
	reason    string
	nominated *fwk.NominatingInfo
}

var errPlaced = errors.New("placed: nothing more is wanted")

func newRealScheduler(ctx context.Context, t *testing.T, c *cluster) *realScheduler {
	t.Helper()
	var objects []runtime.Object
	for _, kind := range slices.Sorted(maps.Keys(c.objects)) {
		for _, object := range c.objects[kind] {
			objects = append(objects, object.(runtime.Object))
		}
	}
	client := fake.NewClientset(objects...)
	// Victims are to survive, so that the next pod meets the same cluster.
	swallow := func(clienttesting.Action) (bool, runtime.Object, error) { return true, &v1.Pod{}, nil }
	client.PrependReactor("delete", "pods", swallow)
	client.PrependReactor("patch", "pods", swallow)
	loaded, err := loadConfig("")
	if err != nil {
		t.Fatal(err)
	}
	informerFactory := scheduler.NewInformerFactory(client, 0)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	real := &realScheduler{}
	real.scheduler, err = scheduler.New(ctx, client, informerFactory, nil,
		func(name string) events.EventRecorderLogger { return broadcaster.NewRecorder(nil, name) },
		scheduler.WithProfiles(loaded.Profiles...),
		scheduler.WithPercentageOfNodesToScore(new(int32(100))),
	)
	if err != nil {
		t.Fatal(err)
	}
	informerFactory.Start(ctx.Done())
	informerFactory.WaitForCacheSync(ctx.Done())
	if err := real.scheduler.WaitForHandlersSync(ctx); err != nil {
		t.Fatal(err)
	}
	real.hook()
	return real
}

// hook takes the pod from us instead of the queue, and stops the cycle where it would begin to act.
func (r *realScheduler) hook() {
	r.scheduler.NextPod = func(klog.Logger) (*framework.QueuedPodInfo, error) { return r.next, nil }
	schedulePod := r.scheduler.SchedulePod
	r.scheduler.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState,
		pod *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		result, err := schedulePod(ctx, f, state, pod)
		if err != nil {
			return result, err
		}
		r.outcome.host, r.outcome.feasible = result.SuggestedHost, result.FeasibleNodes
		return result, errPlaced
	}
	r.scheduler.FailureHandler = func(_ context.Context, _ framework.Framework, _ *framework.QueuedPodInfo,
		status *fwk.Status, nominated *fwk.NominatingInfo, _ time.Time) {
		if errors.Is(status.AsError(), errPlaced) {
			return
		}
		r.outcome.message, r.outcome.nominated = status.Message(), nominated
		r.outcome.reason = v1.PodReasonSchedulerError
		if status.IsRejected() {
			r.outcome.reason = v1.PodReasonUnschedulable
		}
	}
}

func (r *realScheduler) ask(ctx context.Context, pod *v1.Pod) realOutcome {
	info, _ := framework.NewPodInfo(pod)
	r.next, r.outcome = &framework.QueuedPodInfo{PodInfo: info}, realOutcome{}
	r.scheduler.ScheduleOne(ctx)
	return r.outcome
}

// disagreement says where an answer differs from what kube-scheduler did, or "".
func disagreement(answer PodAnswer, real realOutcome) string {
	switch {
	case answer.Error != "":
		return answer.Error
	case answer.Message != real.message || answer.Reason != real.reason:
		return fmt.Sprintf("says %s %q, kube-scheduler %s %q", answer.Reason, answer.Message, real.reason, real.message)
	case answer.Message == "":
		return placedElsewhere(answer, real)
	}
	return nominatedElsewhere(answer.Preemption, real.nominated)
}

// nominatedElsewhere compares what becomes of the pod's nomination. Where there was no PostFilter,
// kube-scheduler clears it.
func nominatedElsewhere(answer *Preemption, real *fwk.NominatingInfo) string {
	if answer == nil {
		answer = &Preemption{NominatedNodeName: new("")}
	}
	said := answer.NominatedNodeName != nil
	if wanted := real.Mode() == fwk.ModeOverride; said != wanted {
		return fmt.Sprintf("nominates: %v, kube-scheduler: %v", said, wanted)
	}
	if said && *answer.NominatedNodeName != real.NominatedNodeName && !slices.Contains(answer.Best, real.NominatedNodeName) {
		return fmt.Sprintf("best are %v, kube-scheduler nominates %q", answer.Best, real.NominatedNodeName)
	}
	return ""
}

func placedElsewhere(answer PodAnswer, real realOutcome) string {
	if answer.Nominated != "" {
		if real.host != answer.Nominated {
			return fmt.Sprintf("nominated is %s, kube-scheduler takes %s", answer.Nominated, real.host)
		}
		return ""
	}
	if real.feasible != len(answer.Feasible) {
		return fmt.Sprintf("%v fit, for kube-scheduler %d do", answer.Feasible, real.feasible)
	}
	if answer.Single {
		return ""
	}
	most := slices.Max(slices.Collect(maps.Values(answer.Totals)))
	if answer.Totals[real.host] != most {
		return fmt.Sprintf("totals are %v, kube-scheduler takes %s", answer.Totals, real.host)
	}
	return ""
}

func TestAgreesWithTheWholeOfKubeScheduler(t *testing.T) {
	oracle := newOracle()
	outcomes := map[string]int{}
	for seed := range uint64(60) {
		request := newChance(seed).request(5+int(seed%10), 20+int(seed%40), 6)
		answers, err := oracle.answer(request)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c, err := readCluster(request.Objects)
		if err != nil {
			t.Fatal(err)
		}
		// Without a logger: every placed pod is reported as an error by errPlaced.
		ctx, stop := context.WithCancel(klog.NewContext(context.Background(), klog.New(nil)))
		real := newRealScheduler(ctx, t, c)
		for _, answer := range answers {
			outcome := real.ask(ctx, c.byName[answer.Pod])
			if wrong := disagreement(answer, outcome); wrong != "" {
				t.Errorf("seed %d, %s: %s", seed, answer.Pod, wrong)
			}
			outcomes[kindOfOutcome(answer)]++
		}
		stop()
	}
	t.Logf("compared: %v", outcomes)
	for _, wanted := range []string{"placed", "nominated", "preempts", "hopeless", "error"} {
		if outcomes[wanted] == 0 {
			t.Errorf("no random cluster had a pod that is %q", wanted)
		}
	}
}

func kindOfOutcome(answer PodAnswer) string {
	switch {
	case answer.Reason == v1.PodReasonSchedulerError:
		return "error"
	case answer.Nominated != "":
		return "nominated"
	case answer.Message == "":
		return "placed"
	case answer.Preemption != nil && len(answer.Preemption.Candidates) > 0:
		return "preempts"
	}
	return "hopeless"
}
