package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// certificate writes one for 127.0.0.1 with its key, and returns the pool that trusts it.
func certificate(t *testing.T, o *serveOptions) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o.cert, o.key = filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem")
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, data := range map[string][]byte{o.cert: chain, o.key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(chain)
	return pool
}

func TestServeOverTLS(t *testing.T) {
	o := serveOptions{listen: "127.0.0.1:0"}
	trusted := certificate(t, &o)
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	listener, scheme, err := o.open()
	if err != nil || scheme != "https" {
		t.Fatal(scheme, err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_ = c.(*tls.Conn).Handshake() // the client says what came of it
			_ = c.Close()
		}
	}()
	for version, taken := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{RootCAs: trusted, MinVersion: version, MaxVersion: version})
		if (err == nil) != taken {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			_ = c.Close()
		}
	}
}

func TestPageOptions(t *testing.T) {
	for _, test := range []struct {
		o  serveOptions
		ok bool
	}{
		{serveOptions{listen: "127.0.0.1:8090"}, true},
		{serveOptions{listen: "[::1]:8090"}, true},
		{serveOptions{listen: "localhost:8090"}, false}, // what a name stands for can change
		{serveOptions{listen: ":8443"}, false},
		{serveOptions{listen: ":8443", cert: "c", key: "k"}, true},
		{serveOptions{listen: ":8443", key: "k"}, false},
		{serveOptions{listen: ":8090", proxy: true}, true},
	} {
		if err := test.o.check(); (err == nil) != test.ok {
			t.Errorf("%+v: %v", test.o, err)
		}
	}
}
