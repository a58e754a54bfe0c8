package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/secret"
)

const key = secret.Text("marked-key")

// The signature against one that OpenSSL made:
// printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac marked-key
func TestSign(t *testing.T) {
	const want = "sha256=681be1503154995decd719128667b767d77e2992180b7f902c80e62fe9ee9021"
	if got := Sign(key, "1700000000", []byte(`{"a":1}`)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSend(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(context.Background())
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	d := Delivery{ID: "nightly/3", Time: time.Unix(1700000000, 5), Body: []byte(`{"a":1}`)}
	if err := Send(t.Context(), server.Client(), Hook{URL: secret.Text(server.URL + "/hook?token=marked-token"), Key: key}, d); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		HeaderDelivery: "nightly/3", HeaderTimestamp: "1700000000", HeaderSignature: Sign(key, "1700000000", d.Body), "Content-Type": "application/json",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Header.Get(name), want)
		}
	}
	if got.Method != http.MethodPost || got.URL.RequestURI() != "/hook?token=marked-token" || string(body) != `{"a":1}` {
		t.Errorf("%s %s %s", got.Method, got.URL, body)
	}
}

// What may pass is tried again, what can't is not, and no error says where or with
// which key.
func TestFailures(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Repeat("x", 100<<10))
	}))
	url := server.URL + "/marked-token"
	send := func(url string, body string) error {
		return Send(t.Context(), &http.Client{}, Hook{URL: secret.Text(url), Key: key}, Delivery{Body: []byte(body)})
	}
	check := func(name string, err error, want fault.Kind) {
		t.Helper()
		if err == nil || fault.KindOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
		if text := fmt.Sprintf("%v %+v", err, errors.Unwrap(err)); strings.Contains(text, "marked-") || strings.Contains(text, server.URL) {
			t.Errorf("%s: a secret is in %q", name, text)
		}
	}
	for code, want := range map[int]fault.Kind{
		301: fault.Permanent, 307: fault.Permanent, 400: fault.Permanent, 404: fault.Permanent, 410: fault.Permanent,
		408: fault.Transient, 425: fault.Transient, 429: fault.Transient, 500: fault.Transient, 503: fault.Transient,
	} {
		status = code
		check(fmt.Sprint(code), send(url, "{}"), want)
	}
	status = http.StatusOK
	check("too large", send(url, strings.Repeat("x", MaxBody+1)), fault.Permanent)
	check("no address", send("marked-token", "{}"), fault.Permanent)
	check("not over HTTP", send("file:///marked-token", "{}"), fault.Permanent)
	server.Close()
	check("nobody there", send(url, "{}"), fault.Transient)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Send(ended, &http.Client{}, Hook{URL: secret.Text(url), Key: key}, Delivery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := (Hook{URL: "https://host"}).Validate(); err == nil {
		t.Error("a hook without a key is usable")
	}
}
