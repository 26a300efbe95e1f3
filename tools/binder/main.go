// knx-binder binds pods to nodes without deciding anything: one binding and one event for each, as fast as a
// simple client can. What a scheduler reaches is measured against it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "bench"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the API server")
	pods := flag.Int("pods", 0, "pods pod-000000 and on")
	nodes := flag.Int("nodes", 1, "nodes node-00000 and on")
	workers := flag.Int("at-a-time", 100, "calls on their way")
	flag.Parse()
	if err := bindAll(*kubeconfig, *pods, *nodes, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "knx-binder:", err)
		os.Exit(1)
	}
}

func bindAll(kubeconfig string, pods, nodes, workers int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	work := make(chan int)
	failed := make(chan error, workers)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range work {
				if err := bind(client, i, fmt.Sprintf("node-%05d", i%nodes)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	for i := range pods {
		select {
		case work <- i:
		case err := <-failed:
			return err
		}
	}
	close(work)
	group.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func bind(client kubernetes.Interface, i int, node string) error {
	name := fmt.Sprintf("pod-%06d", i)
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	target := corev1.ObjectReference{Kind: "Node", Name: node}
	err := client.CoreV1().Pods(namespace).Bind(
		context.Background(), &corev1.Binding{ObjectMeta: meta, Target: target}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	now := time.Now()
	_, err = client.EventsV1().Events(namespace).Create(context.Background(), &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s.%x", name, now.UnixNano())},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: "default-scheduler",
		ReportingInstance:   "knx-binder",
		Action:              "Binding",
		Reason:              "Scheduled",
		Regarding:           corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: name},
		Note:                fmt.Sprintf("Successfully assigned %s/%s to %s", namespace, name, node),
		Type:                corev1.EventTypeNormal,
	}, metav1.CreateOptions{})
	return err
}
