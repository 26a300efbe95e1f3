package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a component that was started, as a process of its own.
type process struct {
	name    string
	log     string
	command *exec.Cmd
	ended   chan struct{} // Closed when it has ended; failure may be read then.
	failure error
}

// startProcess runs this program as one of its components, with its output in a log of its name.
// The kernel kills the process when the thread that calls this ends, so that thread must live as
// long as the program: see runUp.
func startProcess(in folder, name string, flags []string) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	started := &process{name: name, log: in.file(name + ".log"), ended: make(chan struct{})}
	log, err := os.OpenFile(started.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	started.command = exec.Command(program, append([]string{name}, flags...)...)
	started.command.Dir = in.path
	started.command.Stdout = log
	started.command.Stderr = log
	started.command.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL,
		// Ctrl-C is for us alone; we stop the others in order.
		Setpgid: true,
	}
	if err := started.command.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		started.failure = started.command.Wait()
		close(started.ended)
	}()
	return started, nil
}

// stop asks the process to end, and makes it after some time.
func (p *process) stop(patience time.Duration) {
	// An error says that it has ended already.
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return
	case <-time.After(patience):
	}
	_ = p.command.Process.Kill()
	<-p.ended
}

// obituary says how a process ended that should not have.
func (p *process) obituary() error {
	how := "exit status 0"
	if p.failure != nil {
		how = p.failure.Error()
	}
	return fmt.Errorf("%s ended (%s); the end of %s:\n%s", p.name, how, p.log, lastLines(p.log))
}

// lastLines returns what is worth showing of a log that may be long.
func lastLines(path string) string {
	const bytes, lines = 16384, 15
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	text = text[max(0, len(text)-bytes):]
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
