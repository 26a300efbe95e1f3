package main

import (
	"context"
	"fmt"
	"log"
	"runtime/debug"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// panicLog keeps what the framework panicked with. Its workers run in goroutines of their own,
// where nobody else can recover.
type panicLog struct {
	mu    sync.Mutex
	first error
}

// catchPanics stops a panic of such a worker from ending the process.
func catchPanics() *panicLog {
	caught := &panicLog{}
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){
		func(_ context.Context, value any) { caught.note(value) },
	}
	return caught
}

// note is to be called while the stack of the panic is still there.
func (p *panicLog) note(value any) {
	log.Printf("panic: %v\n%s", value, debug.Stack())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == nil {
		p.first = fmt.Errorf("panic: %v", value)
	}
}

// take returns the first panic since it was last called, or nil.
func (p *panicLog) take() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.first
	p.first = nil
	return first
}
