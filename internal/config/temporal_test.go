package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
)

// TestTLSAndAPIKeyReachTheServer dials a server that speaks just enough of gRPC to
// see what a client shows of itself.
func TestTLSAndAPIKeyReachTheServer(t *testing.T) {
	type seen struct{ authorization, clientCert string }
	var last atomic.Pointer[seen]
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &seen{authorization: r.Header.Get("Authorization")}
		if len(r.TLS.PeerCertificates) > 0 {
			s.clientCert = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		last.Store(s)
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = w.Write(make([]byte, 5)) // an empty message; the client may be gone
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are wanted
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	defer server.Close()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	writePEM(t, ca, "CERTIFICATE", server.Certificate().Raw)
	cert, key := clientCertificate(t, dir)
	address := strings.TrimPrefix(server.URL, "https://")

	for _, test := range []struct {
		name  string
		pairs []string
		want  *seen // nil: it must not connect
	}{
		{"mutual TLS from files", []string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH", ca, "TEMPORAL_TLS_CLIENT_CERT_PATH", cert, "TEMPORAL_TLS_CLIENT_KEY_PATH", key}, &seen{clientCert: "worker"}},
		{"an API key over TLS", []string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH", ca, "TEMPORAL_API_KEY", "some-key"}, &seen{authorization: "Bearer some-key"}},
		{"the server's name", []string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH", ca, "TEMPORAL_TLS_SERVER_NAME", "example.com"}, &seen{}},
		{"unverified", []string{"TEMPORAL_TLS", "true", "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION", "true"}, &seen{}},
		{"an authority that isn't known", []string{"TEMPORAL_TLS", "true"}, nil},
		{"an API key alone turns TLS on, which verifies", []string{"TEMPORAL_API_KEY", "some-key"}, nil},
		{"another's name", []string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH", ca, "TEMPORAL_TLS_SERVER_NAME", "temporal.invalid"}, nil},
		{"no TLS", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			last.Store(nil)
			cfg, err := load(t, append(test.pairs, "TEMPORAL_ADDRESS", address)...)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Temporal.ConnectionOptions.GetSystemInfoTimeout = 2 * time.Second
			c, err := client.DialContext(t.Context(), cfg.Temporal)
			got := last.Load()
			if test.want == nil {
				if err == nil || got != nil {
					t.Errorf("connects: %+v, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
			if got == nil || got.authorization != test.want.authorization || got.clientCert != test.want.clientCert {
				t.Errorf("the server sees %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestTLSFilesThatAreWrong(t *testing.T) {
	for name, pairs := range map[string][]string{
		"a certificate without its key": {"TEMPORAL_TLS_CLIENT_CERT_PATH", "cert.pem"},
		"no file":                       {"TEMPORAL_TLS_SERVER_CA_CERT_PATH", filepath.Join(t.TempDir(), "none.pem")},
		"no certificate":                {"TEMPORAL_TLS_SERVER_CA_CERT_DATA", "nonsense"},
	} {
		if _, err := load(t, pairs...); err == nil || !strings.Contains(err.Error(), "temporal configuration") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// clientCertificate makes one for "worker", and returns the files.
func clientCertificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	template.Subject.CommonName = "worker"
	raw, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePEM(t, cert, "CERTIFICATE", raw)
	writePEM(t, key, "PRIVATE KEY", encoded)
	return cert, key
}

func writePEM(t *testing.T, path, kind string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
		t.Fatal(err)
	}
}
