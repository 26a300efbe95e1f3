package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const aNode = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"1","pods":"9"}}}`
const aPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}]}}`

func TestBadRequestsAreAnsweredAndTheNextOneIsToo(t *testing.T) {
	for name, test := range map[string]struct{ line, id, want string }{
		"no JSON":                {`{"id":"1",`, "1", "reading the request"},
		"no object":              {`[]`, "", "reading the request"},
		"an unknown field":       {`{"id":"2","podz":[]}`, "2", "podz"},
		"an object without kind": {`{"id":"3","objects":[{"metadata":{"name":"x"}}]}`, "3", "objects[0]"},
		"an object that is none": {`{"id":"3","objects":[7]}`, "3", "objects[0]"},
		"an unknown kind":        {`{"id":"4","objects":[{"apiVersion":"v1","kind":"Pot"}]}`, "4", `kind "Pot"`},
		"a misspelt field":       {`{"id":"5","objects":[{"apiVersion":"v1","kind":"Node","spek":{}}]}`, "5", "spek"},
		"a wrong type":           {`{"id":"6","objects":[{"apiVersion":"v1","kind":"Node","spec":[]}]}`, "6", "objects[0]"},
		"a bad quantity": {`{"id":"7","objects":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},` +
			`"status":{"allocatable":{"cpu":"much"}}}]}`, "7", "quantities"},
		"no name":                {`{"id":"8","objects":[{"apiVersion":"v1","kind":"Node"}]}`, "8", "without a name"},
		"an object twice":        {`{"id":"9","objects":[` + aNode + `,` + aNode + `]}`, "9", "twice"},
		"no such profile":        {`{"id":"10","scheduler":"x"}`, "10", `no profile is named "x"`},
		"a broken configuration": {`{"id":"11","config":"profiles: {"}`, "11", "config"},
		"another configuration":  {`{"id":"12","config":"apiVersion: v1\nkind: Pod"}`, "12", "config"},
		"an unknown plugin": {`{"id":"13","config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":` +
			`"KubeSchedulerConfiguration","profiles":[{"plugins":{"score":{"enabled":[{"name":"Luck"}]}}}]}}`, "13", "Luck"},
		"an extender": {`{"id":"14","config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":` +
			`"KubeSchedulerConfiguration","extenders":[{"urlPrefix":"http://x/","filterVerb":"f"}]}}`, "14", "extenders"},
		"a missing class": {`{"id":"15","objects":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},` +
			`"spec":{"priorityClassName":"none","containers":[]}}]}`, "15", "no PriorityClass with name none"},
	} {
		t.Run(name, func(t *testing.T) {
			good := `{"id":"good","objects":[` + aNode + `,` + aPod + `],"pods":["default/p"]}`
			var out bytes.Buffer
			if err := Serve(strings.NewReader(test.line+"\n\n"+good), &out); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if len(lines) != 2 {
				t.Fatalf("%d answers: %q", len(lines), lines)
			}
			var bad, next Answer
			if err := json.Unmarshal([]byte(lines[0]), &bad); err != nil {
				t.Fatal(err)
			}
			if bad.ID != test.id || !strings.Contains(bad.Error, test.want) || len(bad.Pods) > 0 {
				t.Errorf("got %s, want an error with %q", lines[0], test.want)
			}
			if err := json.Unmarshal([]byte(lines[1]), &next); err != nil {
				t.Fatal(err)
			}
			if next.Error != "" || len(next.Pods) != 1 || len(next.Pods[0].Feasible) != 1 {
				t.Errorf("got %s after it", lines[1])
			}
		})
	}
}

func TestAPanicFailsOneRequestOnly(t *testing.T) {
	oracle := newOracle()
	line := []byte(`{"id":"1","objects":[` + aNode + `,` + aPod + `],"pods":["default/p"]}`)
	broken, err := oracle.engines.get(engineKey{scheduler: "default-scheduler"})
	if err != nil {
		t.Fatal(err)
	}
	broken.devices = nil
	if answer := oracle.answerLine(line); !strings.Contains(answer.Error, "panic: ") || len(answer.Pods) > 0 {
		t.Errorf("got %+v from an engine that panics", answer)
	}
	if answer := oracle.answerLine(line); answer.Error != "" || len(answer.Pods) != 1 {
		t.Errorf("got %+v after it", answer)
	}
}

func TestAPanicInAWorkerIsCaught(t *testing.T) {
	caught := catchPanics()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer utilruntime.HandleCrash()
		panic("in a worker")
	}()
	<-done
	if err := caught.take(); err == nil || err.Error() != "panic: in a worker" {
		t.Errorf("caught %v", err)
	}
	if err := caught.take(); err != nil {
		t.Errorf("caught %v twice", err)
	}
}
