// knx-kwok is a kubelet for every node of a cluster that has no machines: nodes are ready and
// send heartbeats, pods that were bound run, and those that were deleted go away. It is kwok's
// controller with stages of our choice; docs/cluster.md describes it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
)

const (
	podAddresses = "10.244.0.1/16"
	nodeAddress  = "10.0.0.1"
	// As a kubelet has it: the lease is renewed every quarter of this.
	leaseSeconds = 40
	writers      = 16
)

func connect(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = "knx-kwok"
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	// Each of a thousand kubelets would have a limit of its own.
	config.RateLimiter = flowcontrol.NewFakeAlwaysRateLimiter()
	return kubernetes.NewForConfig(config)
}

// startKubelets returns once they have begun; they work until the context ends.
func startKubelets(ctx context.Context, client *kubernetes.Clientset) error {
	stages, err := loadStages()
	if err != nil {
		return err
	}
	identity, err := controllers.Identity()
	if err != nil {
		return err
	}
	controller, err := controllers.NewController(controllers.Config{
		Clock:                     clock.RealClock{},
		TypedClient:               client,
		RESTClient:                restClient(client),
		ManageAllNodes:            true,
		CIDR:                      podAddresses,
		NodeIP:                    nodeAddress,
		LocalStages:               stages,
		PodPlayStageParallelism:   writers,
		NodePlayStageParallelism:  writers,
		NodeLeaseDurationSeconds:  leaseSeconds,
		NodeLeaseParallelism:      writers,
		PodsOnNodeSyncParallelism: writers,
		ID:                        identity,
	})
	if err != nil {
		return err
	}
	return controller.Start(ctx)
}

func restClient(client *kubernetes.Clientset) rest.Interface {
	return client.CoreV1().RESTClient()
}

func run() error {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	flag.Parse()
	if *kubeconfig == "" || flag.NArg() != 0 {
		flag.Usage()
		return errors.New("wants --kubeconfig and nothing else")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// What goes well is not worth a line for every pod.
	ctx = log.NewContext(ctx, log.NewLogger(os.Stderr, log.LevelWarn))
	client, err := connect(*kubeconfig)
	if err != nil {
		return err
	}
	if err := startKubelets(ctx, client); err != nil {
		return err
	}
	fmt.Println("ready")
	<-ctx.Done()
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "knx-kwok:", err)
		os.Exit(1)
	}
}
