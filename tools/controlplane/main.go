// knx-control-plane is a whole Kubernetes control plane in one program: etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler as they are, one for each subcommand, and `up`, which
// runs them together for tests. docs/control-plane.md describes it.
package main

import (
	"fmt"
	"os"
	_ "time/tzdata" // CronJobs name time zones, whatever the machine knows of them.

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const (
	etcd                  = "etcd"
	kubeAPIServer         = "kube-apiserver"
	kubeControllerManager = "kube-controller-manager"
	kubeScheduler         = "kube-scheduler"
)

// components are in the order in which they need each other.
var components = []string{etcd, kubeAPIServer, kubeControllerManager, kubeScheduler}

const usage = `usage: knx-control-plane COMPONENT [FLAG]...   run one component with its own flags
       knx-control-plane up [FLAG]... DIR      run all of them on loopback, for tests
       knx-control-plane json FILE...          print YAML files as JSON, one line each

components: etcd, kube-apiserver, kube-controller-manager, kube-scheduler
Each of them knows --help, and so does up.
`

// runCommand runs a command of Kubernetes. Only the one that is asked for may be made: making it
// registers its feature gates for the whole process.
func runCommand(create func() *cobra.Command) int {
	return cli.Run(create())
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	// Each component reads os.Args itself and takes the first for its own name.
	os.Args = os.Args[1:]
	switch os.Args[0] {
	case etcd:
		etcdmain.Main(os.Args)
	case kubeAPIServer:
		os.Exit(runCommand(apiserver.NewAPIServerCommand))
	case kubeControllerManager:
		os.Exit(runCommand(controllermanager.NewControllerManagerCommand))
	case kubeScheduler:
		os.Exit(runCommand(func() *cobra.Command { return scheduler.NewSchedulerCommand() }))
	case "up":
		os.Exit(runUp(os.Args[1:]))
	case "json":
		os.Exit(printJSON(os.Args[1:]))
	case "help", "-h", "--help":
		fmt.Print(usage)
	default:
		fmt.Fprintf(os.Stderr, "knx-control-plane: unknown component %q\n%s", os.Args[0], usage)
		os.Exit(2)
	}
}
