package main

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

func TestEnginesBeyondTheLimitAreLetGo(t *testing.T) {
	engines := newEngineCache(2)
	before := runtime.NumGoroutine()
	first := engineKey{scheduler: "default-scheduler"}
	for i := range 20 {
		key := engineKey{config: fmt.Sprintf("# %d\napiVersion: kubescheduler.config.k8s.io/v1\n"+
			"kind: KubeSchedulerConfiguration\n", i), scheduler: "default-scheduler"}
		for _, wanted := range []engineKey{first, key} {
			if _, err := engines.get(wanted); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(engines.engines) != 2 || len(engines.recent) != 2 || engines.engines[first] == nil {
		t.Errorf("keeps %d engines, the one in constant use: %v", len(engines.engines), engines.engines[first] != nil)
	}
	for key := range engines.engines {
		engines.drop(key)
	}
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if left := runtime.NumGoroutine() - before; left > 0 {
		t.Errorf("%d goroutines are left of engines that were let go", left)
	}
}
