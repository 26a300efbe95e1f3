package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

const host = "127.0.0.1"

// errStopped ends a start that nobody waits for any more.
var errStopped = errors.New("stopped before it was ready")

// options are the flags of `up`.
type options struct {
	dir     string
	port    uint16
	without []string
	timeout time.Duration
	flags   map[string]*[]string // for each component, what is given to it after our own
}

func parseOptions(arguments []string) (options, error) {
	parsed := options{flags: map[string]*[]string{}}
	set := pflag.NewFlagSet("up", pflag.ContinueOnError)
	set.SortFlags = false
	set.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: knx-control-plane up [FLAG]... DIR\n%s", set.FlagUsages())
	}
	set.Uint16Var(&parsed.port, "secure-port", 0,
		"port of the API server on "+host+"; 0 takes a free one")
	set.StringSliceVar(&parsed.without, "without", nil,
		"do not start this one: "+kubeControllerManager+" or "+kubeScheduler)
	set.DurationVar(&parsed.timeout, "timeout", 3*time.Minute, "how long it may take until it is ready")
	for _, name := range components {
		parsed.flags[name] = set.StringArray(name+"-flag", nil,
			"one more flag for "+name+"; paths in it must be absolute")
	}
	if err := set.Parse(arguments); err != nil {
		return options{}, err
	}
	if set.NArg() != 1 {
		set.Usage()
		return options{}, fmt.Errorf("wants one folder, got %d", set.NArg())
	}
	parsed.dir = set.Arg(0)
	for _, name := range parsed.without {
		if name != kubeControllerManager && name != kubeScheduler {
			return options{}, fmt.Errorf("--without=%s: only %s and %s can be left out", name,
				kubeControllerManager, kubeScheduler)
		}
	}
	return parsed, nil
}

// reservePort binds a free port on loopback without listening on it, so that nobody else is given
// it before the API server, which must be told to share it, takes it.
func reservePort() (port int, release func(), err error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, err
	}
	release = func() { _ = unix.Close(socket) }
	if err = unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err == nil {
		err = unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		var bound unix.Sockaddr
		if bound, err = unix.Getsockname(socket); err == nil {
			return bound.(*unix.SockaddrInet4).Port, release, nil
		}
	}
	release()
	return 0, nil, fmt.Errorf("no free port: %w", err)
}

// flagsOf returns what a component is started with; docs/control-plane.md says why.
func flagsOf(name string, port int) []string {
	// Sockets beside the data: no port, and nobody reaches them who may not enter the folder.
	// etcd insists on something that looks like a port in their names.
	const clients, peers = "unix://clients:0", "unix://peers:0"
	switch name {
	case etcd:
		return []string{
			"--name=knx", "--data-dir=" + etcdData,
			"--listen-client-urls=" + clients, "--advertise-client-urls=" + clients,
			"--listen-peer-urls=" + peers, "--initial-advertise-peer-urls=" + peers,
			"--initial-cluster=knx=" + peers,
			"--unsafe-no-fsync", "--quota-backend-bytes=8589934592",
		}
	case kubeAPIServer:
		return []string{
			"--etcd-servers=" + clients,
			"--bind-address=" + host, "--advertise-address=" + host,
			"--secure-port=" + strconv.Itoa(port),
			"--endpoint-reconciler-type=none",
			"--tls-cert-file=" + serverCertificate, "--tls-private-key-file=" + serverKey,
			"--token-auth-file=" + tokenList, "--authorization-mode=RBAC",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + accountKey,
			"--service-account-signing-key-file=" + accountKey,
			"--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged",
			"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		}
	case kubeControllerManager:
		return []string{
			"--kubeconfig=" + adminKubeconfig, "--leader-elect=false", "--secure-port=0",
			"--service-account-private-key-file=" + accountKey, "--root-ca-file=" + serverCertificate,
			"--controllers=*,-node-lifecycle-controller",
		}
	default:
		return []string{
			"--kubeconfig=" + schedulerKubeconfig, "--leader-elect=false", "--secure-port=0",
		}
	}
}

// plane is a control plane that runs, or is being started.
type plane struct {
	folder    folder
	options   options
	processes []*process
	failed    chan *process
}

func (p *plane) start(port int, names ...string) error {
	for _, name := range names {
		if slices.Contains(p.options.without, name) {
			continue
		}
		flags := append(flagsOf(name, port), *p.options.flags[name]...)
		started, err := startProcess(p.folder, name, flags)
		if err != nil {
			return err
		}
		p.processes = append(p.processes, started)
		go func() {
			<-started.ended
			p.failed <- started
		}()
	}
	return nil
}

// stop ends all processes, those that depend on others first.
func (p *plane) stop() {
	for _, each := range slices.Backward(p.processes) {
		each.stop(10 * time.Second)
	}
}

// waitReady asks the API server until it says that it is ready.
func (p *plane) waitReady(stop context.Context, with access) error {
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(with.certificate)
	client := http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}},
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(stop, http.MethodGet, with.server+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+with.token)
	deadline := time.After(p.options.timeout)
	for {
		answer, err := client.Do(request)
		if err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New("/readyz: " + answer.Status)
		}
		select {
		case <-stop.Done():
			return errStopped
		case dead := <-p.failed:
			return dead.obituary()
		case <-deadline:
			return fmt.Errorf("not ready after %v: %w", p.options.timeout, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// run starts everything, says so, and returns when it is told to stop or something fails.
func (p *plane) run(stop context.Context) error {
	began := time.Now()
	port := int(p.options.port)
	if port == 0 {
		reserved, release, err := reservePort()
		if err != nil {
			return err
		}
		defer release()
		port = reserved
		sharing := append([]string{"--permit-port-sharing"}, *p.options.flags[kubeAPIServer]...)
		p.options.flags[kubeAPIServer] = &sharing
	}
	server := "https://" + net.JoinHostPort(host, strconv.Itoa(port))
	with, err := p.folder.furnish(server)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := p.start(port, etcd, kubeAPIServer); err != nil {
		return err
	}
	if err := p.waitReady(stop, with); err != nil {
		return err
	}
	if err := p.start(port, kubeControllerManager, kubeScheduler); err != nil {
		return err
	}
	fmt.Printf("ready after %.1f s: %s, kubeconfig %s\n", time.Since(began).Seconds(), server,
		p.folder.file(adminKubeconfig))
	select {
	case <-stop.Done():
		return nil
	case dead := <-p.failed:
		return dead.obituary()
	}
}

// runUp is `up`: it runs a control plane until its input ends or a signal comes.
func runUp(arguments []string) int {
	// Components are killed when the thread that started them ends; locked, it never does before us.
	runtime.LockOSThread()
	parsed, err := parseOptions(arguments)
	if errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "knx-control-plane: up: %v\n", err)
		return 2
	}
	opened, err := openFolder(parsed.dir)
	if err == nil {
		stop, cancel := signal.NotifyContext(context.Background(),
			syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		defer cancel()
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
		up := plane{folder: opened, options: parsed, failed: make(chan *process, len(components))}
		err = up.run(stop)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "knx-control-plane: up: %v\n", err)
		return 1
	}
	return 0
}
