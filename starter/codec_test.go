package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/secret"
)

const (
	uiOrigin   = "http://127.0.0.1:8233"
	codecToken = "a-token-of-some-length"
)

func payloadKeys(t *testing.T) codec.Keys {
	t.Helper()
	keys, err := codec.Parse(base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes, one!!")))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func codecServer(t *testing.T, token secret.Text) (*codec.Codec, *httptest.Server) {
	t.Helper()
	payloads, err := codec.New(payloadKeys(t))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(codecHandler(payloads, uiOrigin, token))
	t.Cleanup(server.Close)
	return payloads, server
}

// TestCodecServerDecodes asks as Temporal's own client of the protocol does.
func TestCodecServerDecodes(t *testing.T) {
	payloads, server := codecServer(t, codecToken)
	plain := []*commonpb.Payload{
		{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`"marked"`)},
		{Metadata: map[string][]byte{"encoding": []byte("binary/null")}},
		{Metadata: map[string][]byte{"encoding": []byte("binary/plain")}, Data: []byte("\x00\xff")},
	}
	sealed, err := payloads.Encode(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{codecToken, "another-token-of-some", ""} {
		remote := converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{
			Endpoint: server.URL,
			ModifyRequest: func(r *http.Request) error {
				r.Header.Set("Authorization", "Bearer "+token)
				return nil
			},
		})
		opened, err := remote.Decode(sealed)
		if token != codecToken {
			if err == nil || !strings.Contains(err.Error(), "Unauthorized") {
				t.Errorf("token %q: %v", token, err)
			}
			continue
		}
		if err != nil || len(opened) != len(plain) {
			t.Fatalf("%d payloads, %v", len(opened), err)
		}
		for i := range plain {
			if !opened[i].Equal(plain[i]) {
				t.Errorf("payload %d comes back as %v", i, opened[i])
			}
		}
		again, err := remote.Encode(plain)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := payloads.Decode(again); err != nil || !back[0].Equal(plain[0]) {
			t.Errorf("encoded there, it opens here as %v, %v", back, err)
		}
	}
}

func TestCodecServerRefuses(t *testing.T) {
	_, server := codecServer(t, codecToken)
	const bearer = "Bearer " + codecToken
	large := `{"payloads":[{"data":"` + strings.Repeat("A", maxCodecBody) + `"}]}`
	for name, test := range map[string]struct {
		method, path, origin, authorization, body string
		want                                      int
	}{
		"the Web UI":                {"POST", "/decode", uiOrigin, bearer, `{}`, 200},
		"a program":                 {"POST", "/decode", "", bearer, `{}`, 200},
		"a lower-case scheme":       {"POST", "/encode", "", "bearer " + codecToken, `{}`, 200},
		"no token":                  {"POST", "/decode", uiOrigin, "", `{}`, 401},
		"another token":             {"POST", "/decode", uiOrigin, bearer + "x", `{}`, 401},
		"a part of the token":       {"POST", "/decode", uiOrigin, bearer[:len(bearer)-1], `{}`, 401},
		"the token as a password":   {"POST", "/decode", uiOrigin, "Basic " + codecToken, `{}`, 401},
		"another origin":            {"POST", "/decode", "https://evil.example", bearer, `{}`, 403},
		"an origin that begins so":  {"POST", "/decode", uiOrigin + ".evil.example", bearer, `{}`, 403},
		"no origin to speak of":     {"POST", "/decode", "null", bearer, `{}`, 403},
		"another origin's question": {"OPTIONS", "/decode", "https://evil.example", "", "", 403},
		"the question":              {"OPTIONS", "/decode", uiOrigin, "", "", 204},
		"reading":                   {"GET", "/decode", uiOrigin, bearer, "", 405},
		"another path":              {"POST", "/", uiOrigin, bearer, `{}`, 404},
		"a path that ends so":       {"POST", "/x/decode", uiOrigin, bearer, `{}`, 404},
		"too large":                 {"POST", "/decode", uiOrigin, bearer, large, 413},
		"no JSON":                   {"POST", "/decode", uiOrigin, bearer, `nonsense`, 400},
		"nothing":                   {"POST", "/decode", uiOrigin, bearer, ``, 400},
		"an unknown key":            {"POST", "/decode", uiOrigin, bearer, `{"payloads":[{"metadata":{"encoding":"YmluYXJ5L2VuY3J5cHRlZA=="}}]}`, 400},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		for header, value := range map[string]string{"Origin": test.origin, "Authorization": test.authorization} {
			if value != "" {
				request.Header.Set(header, value)
			}
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != test.want {
			t.Errorf("%s: %d %s, %v; want %d", name, response.StatusCode, text, err, test.want)
		}
		allowed := response.Header.Get("Access-Control-Allow-Origin")
		if want := map[bool]string{true: uiOrigin}[test.origin == uiOrigin]; allowed != want {
			t.Errorf("%s: the browser is told that %q may ask, want %q", name, allowed, want)
		}
		if test.method == "OPTIONS" && test.want == 204 {
			for _, header := range []string{"Authorization", "Content-Type", "X-Namespace"} {
				if !strings.Contains(response.Header.Get("Access-Control-Allow-Headers"), header) {
					t.Errorf("the browser may not send %s", header)
				}
			}
		}
		if bytes.Contains(text, []byte(codecToken)) {
			t.Errorf("%s: the answer shows the token: %s", name, text)
		}
	}
}

func TestCodecServerWithoutToken(t *testing.T) {
	_, server := codecServer(t, "")
	response, err := http.Post(server.URL+"/decode", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("status %d", response.StatusCode)
	}
}

func TestCheckCodecServer(t *testing.T) {
	keys := payloadKeys(t)
	for name, test := range map[string]struct {
		listen   string
		payloads config.Payloads
		want     []string // none: it may start
	}{
		"this machine":           {"127.0.0.1:8081", config.Payloads{Keys: keys}, nil},
		"this machine by IPv6":   {"[::1]:8081", config.Payloads{Keys: keys}, nil},
		"elsewhere with a token": {"0.0.0.0:8081", config.Payloads{Keys: keys, Token: codecToken}, nil},
		"every address":          {":8081", config.Payloads{Keys: keys}, []string{"--listen :8081 can be reached", config.EnvCodecToken}},
		"an address":             {"192.0.2.1:8081", config.Payloads{Keys: keys}, []string{"can be reached from elsewhere"}},
		"a name":                 {"localhost:8081", config.Payloads{Keys: keys}, []string{"can be reached from elsewhere"}},
		"a short token":          {"127.0.0.1:8081", config.Payloads{Keys: keys, Token: "short"}, []string{"has 5 characters"}},
		"everything":             {"nonsense", config.Payloads{Token: "short"}, []string{codec.EnvKeys, "--listen \"nonsense\"", "has 5 characters"}},
	} {
		err := checkCodecServer(test.listen, test.payloads)
		if (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v leaves out %q", name, err, want)
			}
		}
	}
}

func TestParseOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:8233": "http://127.0.0.1:8233", "https://Temporal.example.org/": "https://temporal.example.org",
		"*": "", "null": "", "temporal.example.org": "", "https://user@host": "", "https://host/path": "", "https://host?q": "", "ftp://host": "", "": "",
	} {
		if got, err := parseOrigin(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// A request in flight ends when the server is told to stop.
func TestCodecServerStopsInOrder(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	begun := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- serveHTTP(ctx, listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(begun)
			<-ctx.Done()
			time.Sleep(50 * time.Millisecond) // a while after the stop
			_, _ = io.WriteString(w, "whole") // the test looks at it
		}))
	}()
	go func() {
		<-begun
		stop()
	}()
	response, err := http.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || string(text) != "whole" {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
