package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// What lies in the folder of a control plane. Components run inside it, so these names are what
// they are told.
const (
	etcdData            = "etcd"
	serverCertificate   = "server.crt"
	serverKey           = "server.key"
	accountKey          = "service-account.key"
	tokenList           = "tokens.csv"
	adminToken          = "admin.token"
	schedulerToken      = "kube-scheduler.token"
	adminKubeconfig     = "kubeconfig"
	schedulerKubeconfig = "kube-scheduler.kubeconfig"
)

// folder is where a control plane keeps everything it writes. It is locked as long as it is open.
type folder struct {
	path string
	lock *os.File
}

// openFolder makes the folder, or takes up one that an earlier control plane left. Any other that
// has something in it is refused, since much would be written there.
func openFolder(path string) (folder, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return folder{}, err
	}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return folder{}, err
	}
	lock, err := os.Open(absolute)
	if err != nil {
		return folder{}, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return folder{}, fmt.Errorf("%s: another control plane runs there", path)
	}
	entries, err := lock.ReadDir(-1)
	if err != nil {
		return folder{}, err
	}
	known := func(entry os.DirEntry) bool { return entry.Name() == adminToken }
	if len(entries) > 0 && !slices.ContainsFunc(entries, known) {
		return folder{}, fmt.Errorf("%s is neither empty nor the folder of a control plane", path)
	}
	return folder{absolute, lock}, nil
}

func (f folder) file(name string) string {
	return filepath.Join(f.path, name)
}

// keep returns what a file has, and if there is none, writes what create returns.
func (f folder) keep(name string, create func() ([]byte, error)) ([]byte, error) {
	text, err := os.ReadFile(f.file(name))
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if text, err = create(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, os.WriteFile(f.file(name), text, 0o600)
}

// keepServerCertificate makes a certificate for loopback only. The file has the authority that
// signed it too, so it is also what clients trust.
func (f folder) keepServerCertificate() ([]byte, error) {
	var key []byte
	certificate, err := f.keep(serverCertificate, func() ([]byte, error) {
		made, madeKey, err := cert.GenerateSelfSignedCertKey(host, nil, []string{"localhost"})
		key = madeKey
		return made, err
	})
	if err != nil {
		return nil, err
	}
	_, err = f.keep(serverKey, func() ([]byte, error) {
		if key == nil {
			return nil, fmt.Errorf("missing, though %s is there", serverCertificate)
		}
		return key, nil
	})
	return certificate, err
}

func (f folder) keepToken(name string) (string, error) {
	token, err := f.keep(name, func() ([]byte, error) { return []byte(rand.Text()), nil })
	return strings.TrimSpace(string(token)), err
}

// access is what a client needs to reach the API server as the administrator.
type access struct {
	server      string
	certificate []byte
	token       string
}

// furnish writes the certificates, tokens and kubeconfigs, keeping those that are there already,
// except for the address of the server.
func (f folder) furnish(server string) (access, error) {
	// First of all, because openFolder knows a folder of ours by it.
	admin, err := f.keepToken(adminToken)
	if err != nil {
		return access{}, err
	}
	certificate, err := f.keepServerCertificate()
	if err != nil {
		return access{}, err
	}
	if _, err := f.keep(accountKey, keyutil.MakeEllipticPrivateKeyPEM); err != nil {
		return access{}, err
	}
	var list strings.Builder
	users := []struct{ token, user, groups, kubeconfig string }{
		{adminToken, "admin", "system:masters", adminKubeconfig},
		{schedulerToken, "system:kube-scheduler", "", schedulerKubeconfig},
	}
	for _, user := range users {
		token, err := f.keepToken(user.token)
		if err != nil {
			return access{}, err
		}
		fmt.Fprintf(&list, "%s,%s,%s,%q\n", token, user.user, user.user, user.groups)
		config := kubeconfig(user.user, access{server, certificate, token})
		if err := clientcmd.WriteToFile(config, f.file(user.kubeconfig)); err != nil {
			return access{}, err
		}
	}
	err = os.WriteFile(f.file(tokenList), []byte(list.String()), 0o600)
	return access{server, certificate, admin}, err
}

func kubeconfig(user string, with access) clientcmdapi.Config {
	const name = "knx"
	config := *clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server: with.server, CertificateAuthorityData: with.certificate,
	}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: with.token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	config.CurrentContext = name
	return config
}
