package main

import "encoding/json"

// Request is one question: a cluster, and the pods whose fate in it is asked for. docs/oracle.md
// describes it.
type Request struct {
	ID string `json:"id"`
	// Config is a KubeSchedulerConfiguration: YAML or JSON in a string, or JSON as it is.
	Config    json.RawMessage   `json:"config"`
	Scheduler string            `json:"scheduler"`
	Objects   []json.RawMessage `json:"objects"`
	Pods      []string          `json:"pods"`
	Preempt   bool              `json:"preempt"`
}

// Answer holds either an error or one entry for each pod that was asked about, in that order.
type Answer struct {
	ID    string      `json:"id"`
	Error string      `json:"error,omitempty"`
	Pods  []PodAnswer `json:"pods,omitempty"`
}

// Verdict is a "no", or an error, and who said it.
type Verdict struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
}

// PreFilterVerdict also says which nodes the PreFilter plugins left over; nil means all.
type PreFilterVerdict struct {
	Verdict
	Nodes []string `json:"nodes"`
}

// Score is what one plugin gave one node: raw, after normalising, and after the weight.
type Score [3]int64

// PodAnswer is what kube-scheduler would find out about one pod.
type PodAnswer struct {
	Pod string `json:"pod"`
	// Error says why kube-scheduler would never take up the pod, or why the question makes no
	// sense.
	Error      string            `json:"error,omitempty"`
	PreEnqueue *Verdict          `json:"preEnqueue,omitempty"`
	PreFilter  *PreFilterVerdict `json:"prefilter,omitempty"`
	// Nodes has the rejected nodes. Like Feasible it is absent only if there was no cycle.
	Nodes    map[string]Verdict `json:"nodes,omitzero"`
	Feasible []string           `json:"feasible,omitzero"`
	// Nominated is the pod's own nominated node if it passes: kube-scheduler then asks about no
	// other.
	Nominated     string                      `json:"nominated,omitempty"`
	Single        bool                        `json:"single,omitempty"`
	Scores        map[string]map[string]Score `json:"scores,omitempty"`
	SkippedScores []string                    `json:"skippedScores,omitempty"`
	Totals        map[string]int64            `json:"totals,omitempty"`
	// Reason and Message are those of the PodScheduled condition; empty if the pod can be placed.
	Reason               string      `json:"reason,omitempty"`
	Message              string      `json:"message,omitempty"`
	UnschedulablePlugins []string    `json:"unschedulablePlugins,omitempty"`
	Preemption           *Preemption `json:"preemption,omitempty"`
}

// Candidate is a node on which evicting the victims would make room.
type Candidate struct {
	Victims       []string `json:"victims"`
	PDBViolations int64    `json:"pdbViolations"`
}

// Preemption is the outcome of the PostFilter plugins.
type Preemption struct {
	Candidates map[string]Candidate `json:"candidates"`
	// Best are the candidates between which kube-scheduler picks by chance, Chosen the one it
	// picked this time.
	Best   []string `json:"best"`
	Chosen string   `json:"chosen,omitempty"`
	// NominatedNodeName is what the pod's status gets: a node, "" when it is cleared, nil when it
	// stays as it was.
	NominatedNodeName *string `json:"nominatedNodeName"`
	Code              string  `json:"code"`
	Message           string  `json:"message"`
}
