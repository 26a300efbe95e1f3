package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Serve answers requests until the input ends. Only a broken input or output is an error; a bad
// request is answered.
func Serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	writer := bufio.NewWriterSize(out, 1<<16)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	oracle := newOracle()
	for {
		line, readErr := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := encoder.Encode(oracle.answerLine(line)); err != nil {
				return fmt.Errorf("writing an answer: %w", err)
			}
			if err := writer.Flush(); err != nil {
				return fmt.Errorf("writing an answer: %w", err)
			}
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return fmt.Errorf("reading a request: %w", readErr)
		}
	}
}

type oracle struct {
	engines *engineCache
	panics  *panicLog
}

func newOracle() *oracle {
	return &oracle{engines: newEngineCache(enginesKept), panics: catchPanics()}
}

func (o *oracle) answerLine(line []byte) Answer {
	var request Request
	if err := strictJSON.Unmarshal(line, &request); err != nil {
		return Answer{ID: request.ID, Error: fmt.Sprintf("reading the request: %v", err)}
	}
	pods, err := o.answer(&request)
	if err != nil {
		return Answer{ID: request.ID, Error: err.Error()}
	}
	return Answer{ID: request.ID, Pods: pods}
}

// answer turns a panic of a plugin into an error: input may be absurd, and the next request must
// still be answered. The engine in which it happened is not used again.
func (o *oracle) answer(request *Request) (pods []PodAnswer, err error) {
	var key engineKey
	defer func() {
		if r := recover(); r != nil {
			o.panics.note(r)
		}
		if panicked := o.panics.take(); panicked != nil {
			pods, err = nil, panicked
			o.engines.drop(key)
		}
	}()
	cluster, err := readCluster(request.Objects)
	if err != nil {
		return nil, err
	}
	key, err = keyOf(request)
	if err != nil {
		return nil, err
	}
	engine, err := o.engines.get(key)
	if err != nil {
		return nil, err
	}
	if err := engine.load(cluster); err != nil {
		return nil, err
	}
	pods = make([]PodAnswer, 0, len(request.Pods))
	for _, name := range request.Pods {
		pods = append(pods, engine.ask(cluster, name, request.Preempt))
	}
	return pods, nil
}
