// knx-oracle answers what kube-scheduler would decide about pods of a given cluster, with
// kube-scheduler's own framework and plugins. Requests come as lines of JSON on the standard input,
// answers leave as lines of JSON on the standard output; docs/oracle.md describes both.
package main

import (
	"flag"
	"io"
	"log"
	"os"
	"runtime/debug"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// prepare sets up what is global to the process.
func prepare() error {
	// Of kube-scheduler's logging only the errors are left, on the standard error.
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Set("logtostderr", "false"); err != nil {
		return err
	}
	klog.SetOutput(io.Discard)
	// A request leaves little behind, so collecting less often costs some megabytes and saves a
	// sixth of the time.
	debug.SetGCPercent(400)
	// The framework counts into these whether anybody reads them or not; unregistered they cost
	// nothing.
	metrics.InitMetrics()
	return nil
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("knx-oracle: ")
	flag.Parse()
	if flag.NArg() != 0 {
		log.Fatal("takes no arguments: reads requests from its input, see docs/oracle.md")
	}
	if err := prepare(); err != nil {
		log.Fatal(err)
	}
	if err := Serve(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
