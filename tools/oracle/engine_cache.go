package main

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// enginesKept bounds the memory of a long run in which every request brings a configuration of its
// own.
const enginesKept = 8

type engineKey struct {
	config    string
	scheduler string
}

func keyOf(request *Request) (engineKey, error) {
	text, err := configText(request.Config)
	if err != nil {
		return engineKey{}, err
	}
	key := engineKey{config: text, scheduler: request.Scheduler}
	if key.scheduler == "" {
		key.scheduler = v1.DefaultSchedulerName
	}
	return key, nil
}

// engineCache keeps the engines used last.
type engineCache struct {
	limit   int
	engines map[engineKey]*engine
	// recent has the keys, the least recently used first.
	recent []engineKey
}

func newEngineCache(limit int) *engineCache {
	return &engineCache{limit: limit, engines: map[engineKey]*engine{}}
}

func (c *engineCache) get(key engineKey) (*engine, error) {
	found, ok := c.engines[key]
	if !ok {
		var err error
		if found, err = newEngine(key); err != nil {
			return nil, err
		}
		if len(c.recent) == c.limit {
			c.drop(c.recent[0])
		}
		c.engines[key] = found
	}
	c.recent = slices.DeleteFunc(c.recent, func(k engineKey) bool { return k == key })
	c.recent = append(c.recent, key)
	return found, nil
}

func (c *engineCache) drop(key engineKey) {
	dropped, ok := c.engines[key]
	if !ok {
		return
	}
	if err := dropped.close(); err != nil {
		klog.Background().Error(err, "Closing an engine", "scheduler", key.scheduler)
	}
	delete(c.engines, key)
	c.recent = slices.DeleteFunc(c.recent, func(k engineKey) bool { return k == key })
}
