package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// engine is one profile of kube-scheduler, ready to be asked about one cluster after the other.
// Building it is the expensive part, so it outlives a request. Its informers are never started: a
// cluster is put straight into their stores, from which all listers read.
type engine struct {
	ctx       context.Context
	stop      context.CancelFunc
	framework framework.Framework
	// plugins are those behind the framework, which does not hand them out, by name.
	plugins    map[string]fwk.Plugin
	schedulers sets.Set[string]
	snapshot   *internalcache.Snapshot
	nominator  *nominator
	devices    *devices
	stores     map[string]cache.Indexer
	dryRun     *dryRun
}

func newEngine(key engineKey) (*engine, error) {
	loaded, err := loadConfig(key.config)
	if err != nil {
		return nil, err
	}
	e := &engine{
		plugins:    map[string]fwk.Plugin{},
		schedulers: sets.New[string](),
		snapshot:   internalcache.NewEmptySnapshot(),
		nominator:  &nominator{},
		stores:     map[string]cache.Indexer{},
	}
	var profile *config.KubeSchedulerProfile
	for i := range loaded.Profiles {
		e.schedulers.Insert(loaded.Profiles[i].SchedulerName)
		if loaded.Profiles[i].SchedulerName == key.scheduler {
			profile = &loaded.Profiles[i]
		}
	}
	if profile == nil {
		return nil, fmt.Errorf("config: no profile is named %q", key.scheduler)
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	if err := e.build(profile); err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

func (e *engine) build(profile *config.KubeSchedulerProfile) error {
	informerFactory := informers.NewSharedInformerFactory(nil, 0)
	var err error
	if e.devices, err = newDevices(e.ctx, informerFactory); err != nil {
		return err
	}
	e.framework, err = frameworkruntime.NewFramework(e.ctx, e.registry(), profile,
		frameworkruntime.WithInformerFactory(informerFactory),
		frameworkruntime.WithSnapshotSharedLister(e.snapshot),
		frameworkruntime.WithSharedDRAManager(e.devices.shared),
		frameworkruntime.WithSharedCSIManager(
			nodevolumelimits.NewCSIManager(informerFactory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithPodNominator(e.nominator),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		// One worker: the same answer every time, and faster than many for clusters of the size
		// that is asked about.
		frameworkruntime.WithParallelism(1),
	)
	if err != nil {
		return fmt.Errorf("profile %q: %w", profile.SchedulerName, err)
	}
	// Only after the plugins, since they add indexes to the stores.
	for name, kind := range kinds {
		e.stores[name] = kind.informerOf(informerFactory).GetIndexer()
	}
	return nil
}

// registry has kube-scheduler's own plugins. Each is remembered when the framework makes it;
// preemption is made harmless.
func (e *engine) registry() frameworkruntime.Registry {
	registry := plugins.NewInTreeRegistry()
	for name, create := range registry {
		registry[name] = func(
			ctx context.Context, args runtime.Object, handle fwk.Handle,
		) (fwk.Plugin, error) {
			plugin, err := create(ctx, args, handle)
			if err != nil {
				return nil, err
			}
			e.plugins[name] = plugin
			if run := observePreemption(plugin, handle); run != nil {
				e.dryRun = run
			}
			return plugin, nil
		}
	}
	return registry
}

// load replaces the cluster of the request before. The snapshot is made by kube-scheduler's own
// cache from nodes and pods in the order of the request, so that everything derived from it (node
// order, image spread, used claims) is as in kube-scheduler.
func (e *engine) load(c *cluster) error {
	for name, store := range e.stores {
		if err := store.Replace(c.objects[name], ""); err != nil {
			return fmt.Errorf("storing %s: %w", name, err)
		}
	}
	e.devices.load(c)
	e.nominator.load(c, e.schedulers)
	// The cache keeps a goroutine for its metrics as long as this context lives; the snapshot stays
	// valid without it.
	ctx, stop := context.WithCancel(e.ctx)
	defer stop()
	logger := klog.FromContext(ctx)
	state := internalcache.New(ctx, nil, false)
	for _, node := range c.nodes {
		state.AddNode(logger, node)
	}
	for _, pod := range c.pods {
		if pod.Spec.NodeName == "" {
			continue
		}
		if err := state.AddPod(logger, pod); err != nil {
			return fmt.Errorf("pod %s: %w", podName(pod), err)
		}
	}
	*e.snapshot = *internalcache.NewEmptySnapshot()
	return state.UpdateSnapshot(logger, e.snapshot)
}

func (e *engine) close() error {
	e.stop()
	return e.framework.Close()
}
