package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the answers into testdata/ instead of comparing them")

// Each request in testdata/ says what it is about; the answer beside it was read by a person once.
func TestGoldenAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests in testdata/: %v", err)
	}
	oracle := newOracle()
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			line, err := yaml.YAMLToJSON(text)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(t, oracle.answerLine(line))
			golden := filepath.Join("testdata", name+".answer")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

// describe writes an answer so that a change of it is a change of few lines. It leaves out the
// choice that kube-scheduler makes by chance, if it had one.
func describe(t *testing.T, answer Answer) []byte {
	text := bytes.NewBufferString(answer.Error)
	for _, pod := range answer.Pods {
		if p := pod.Preemption; p != nil && len(p.Best) > 1 {
			p.Chosen, p.NominatedNodeName = "", nil
		}
		raw, err := json.Marshal(pod)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(text, "pod %s\n", pod.Pod)
		delete(fields, "pod")
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			fmt.Fprintf(text, "  %s %s\n", name, fields[name])
		}
	}
	return text.Bytes()
}
