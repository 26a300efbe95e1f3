// knx-objects COUNT SEED writes random objects of Kubernetes as an API server sends them, each as
// JSON and as protobuf, for a reader of the one to be held against a reader of the other. A line of
// JSON is one answer: an object, a list, or a watch with several events.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

// answer is one line. Proto is the body of the answer, of a watch the whole stream.
type answer struct {
	Shape    string            `json:"shape"`              // object, list or watch
	Objects  []json.RawMessage `json:"objects"`            // in JSON, in their order
	Types    []string          `json:"types,omitempty"`    // of the events of a watch
	Version  string            `json:"version,omitempty"`  // of a list
	Continue string            `json:"continue,omitempty"` // of a list
	Proto    []byte            `json:"proto"`
}

var (
	enveloped = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	bare      = protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme)
)

func oneObject(object runtime.Object) (*answer, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	if err := enveloped.Encode(object, &body); err != nil {
		return nil, err
	}
	return &answer{Shape: "object", Objects: []json.RawMessage{text}, Proto: body.Bytes()}, nil
}

func list(objects []runtime.Object, kind schema.GroupVersionKind) (*answer, error) {
	result := &answer{Shape: "list", Objects: []json.RawMessage{}, Version: "12345", Continue: "more"}
	kind.Kind += "List"
	made, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	made.GetObjectKind().SetGroupVersionKind(kind)
	access, err := meta.ListAccessor(made)
	if err != nil {
		return nil, err
	}
	access.SetResourceVersion(result.Version)
	access.SetContinue(result.Continue)
	if err := meta.SetList(made, objects); err != nil {
		return nil, err
	}
	for _, object := range objects {
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		result.Objects = append(result.Objects, text)
	}
	var body bytes.Buffer
	if err := enveloped.Encode(made, &body); err != nil {
		return nil, err
	}
	result.Proto = body.Bytes()
	return result, nil
}

// bookmark is the object of an event that tells a version and nothing else.
func bookmark(kind schema.GroupVersionKind, last bool) (runtime.Object, error) {
	made, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	made.GetObjectKind().SetGroupVersionKind(kind)
	object := made.(metav1.Object)
	object.SetResourceVersion("777")
	if last {
		object.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return made, nil
}

func watched(objects []runtime.Object, kind schema.GroupVersionKind) (*answer, error) {
	result := &answer{Shape: "watch"}
	var stream bytes.Buffer
	frames := streaming.NewEncoder(protobuf.LengthDelimitedFramer.NewFrameWriter(&stream), bare)
	encoder := restwatch.NewEncoder(frames, enveloped)
	send := func(eventType watch.EventType, object runtime.Object) error {
		text, err := json.Marshal(object)
		if err != nil {
			return err
		}
		result.Types = append(result.Types, string(eventType))
		result.Objects = append(result.Objects, text)
		return encoder.Encode(&watch.Event{Type: eventType, Object: object})
	}
	changes := []watch.EventType{watch.Added, watch.Modified, watch.Deleted}
	for i, object := range objects {
		if err := send(changes[i%len(changes)], object); err != nil {
			return nil, err
		}
	}
	for _, last := range []bool{false, true} {
		mark, err := bookmark(kind, last)
		if err != nil {
			return nil, err
		}
		if err := send(watch.Bookmark, mark); err != nil {
			return nil, err
		}
	}
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired,
		Message: "too old", Details: &metav1.StatusDetails{RetryAfterSeconds: 3},
	}
	if err := send(watch.Error, status); err != nil {
		return nil, err
	}
	result.Proto = stream.Bytes()
	return result, nil
}

func makeAnswer(author *author) (*answer, error) {
	kind := author.kind()
	objects := make([]runtime.Object, author.Intn(4))
	for i := range objects {
		objects[i] = author.object(kind)
	}
	switch author.Intn(10) {
	case 0:
		return list(objects, kind)
	case 1:
		return watched(objects, kind)
	default:
		return oneObject(author.object(kind))
	}
}

func run(count, seed int64) error {
	out := bufio.NewWriter(os.Stdout)
	lines := json.NewEncoder(out)
	author := &author{Rand: rand.New(rand.NewSource(seed))}
	for range count {
		made, err := makeAnswer(author)
		if err != nil {
			return err
		}
		if err := lines.Encode(made); err != nil {
			return err
		}
	}
	return out.Flush()
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("knx-objects: ")
	flag.Parse()
	var numbers [2]int64
	for i := range numbers {
		number, err := strconv.ParseInt(flag.Arg(i), 10, 64)
		if err != nil || flag.NArg() != len(numbers) {
			log.Fatal("usage: knx-objects COUNT SEED")
		}
		numbers[i] = number
	}
	if err := run(numbers[0], numbers[1]); err != nil {
		log.Fatal(fmt.Errorf("seed %d: %w", numbers[1], err))
	}
}
