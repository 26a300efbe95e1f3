package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"

	jsoniter "github.com/json-iterator/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// strictJSON reads field names as Kubernetes does and refuses those it does not know: a misspelt
// one would otherwise make a comparison quietly meaningless. Reading takes most of a request's
// time, and encoding/json is half as fast.
var strictJSON = jsoniter.Config{CaseSensitive: true, DisallowUnknownFields: true}.Froze()

// readResult is one object of a request, with the API server's defaults, or what is wrong with it.
type readResult struct {
	kind   string
	object metav1.Object
	err    error
}

// readObjects reads all objects, on as many cores as there are.
func readObjects(objects []json.RawMessage) []readResult {
	results := make([]readResult, len(objects))
	workers := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < len(objects); i += workers {
				results[i] = readObject(objects[i])
			}
		})
	}
	group.Wait()
	return results
}

func readObject(raw json.RawMessage) readResult {
	apiVersion := strictJSON.Get(raw, "apiVersion").ToString()
	kindName := strictJSON.Get(raw, "kind").ToString()
	name := apiVersion + "/" + kindName
	kind, known := kinds[name]
	if !known {
		err := fmt.Errorf("apiVersion %q, kind %q: not known here", apiVersion, kindName)
		return readResult{err: err}
	}
	object := kind.make()
	if err := strictJSON.Unmarshal(raw, object); err != nil {
		return readResult{err: fmt.Errorf("%s: %w", name, err)}
	}
	if object.GetName() == "" {
		return readResult{err: fmt.Errorf("%s without a name", name)}
	}
	if kind.namespaced && object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	// kube-scheduler tells pods apart by uid, so an object without one gets one that is its own.
	if object.GetUID() == "" {
		object.SetUID(types.UID(object.GetNamespace() + "/" + object.GetName()))
	}
	kind.setDefault(object)
	return readResult{kind: name, object: object}
}
