package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// devices is the state that plugins share about dynamically allocated devices. Unlike everything
// else it lives on events, not on listers, so it is told what comes and goes with each cluster.
type devices struct {
	shared fwk.SharedDRAManager
	// Who listens to which kind, and what they were told last.
	listeners map[string]cache.ResourceEventHandler
	told      map[string][]any
}

// handlerTaker is the part of an informer that an assume cache uses.
type handlerTaker struct {
	taken cache.ResourceEventHandler
}

func (h *handlerTaker) AddEventHandler(handler cache.ResourceEventHandler) (
	cache.ResourceEventHandlerRegistration, error) {
	h.taken = handler
	return nil, nil
}

func newDevices(ctx context.Context, informers factory) (*devices, error) {
	claims := &handlerTaker{}
	logger := klog.FromContext(ctx)
	claimCache := assumecache.NewAssumeCache(logger, claims, "ResourceClaim", "", nil)
	// Without device taint rules, which are off by default, the tracker reads the informer and
	// nothing else.
	slices, err := tracker.StartTracker(ctx, tracker.Options{
		SliceInformer: informers.Resource().V1().ResourceSlices(),
	})
	if err != nil {
		return nil, fmt.Errorf("tracking resource slices: %w", err)
	}
	shared := dynamicresources.NewDRAManager(ctx, claimCache, slices, informers)
	classes, ok := shared.DeviceClassResolver().(cache.ResourceEventHandler)
	if !ok {
		return nil, fmt.Errorf("a %T takes no events", shared.DeviceClassResolver())
	}
	return &devices{
		shared: shared,
		listeners: map[string]cache.ResourceEventHandler{
			kindResourceClaim: claims.taken, kindDeviceClass: classes,
		},
		told: map[string][]any{},
	}, nil
}

func (d *devices) load(c *cluster) {
	for kind, handler := range d.listeners {
		for _, object := range d.told[kind] {
			handler.OnDelete(object)
		}
		d.told[kind] = c.objects[kind]
		for _, object := range d.told[kind] {
			handler.OnAdd(object, true)
		}
	}
}
