package chat_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/fault"
	simchat "github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// several starts servers and returns a detector that asks them all.
func several(t *testing.T, options ...simchat.Options) (*chat.Detector, []*simchat.Server) {
	t.Helper()
	var servers []*simchat.Server
	var urls []string
	for _, o := range options {
		server, url := serve(t, o)
		servers, urls = append(servers, server), append(urls, url)
	}
	return newDetector(t, "", func(c *chat.Config) { c.BaseURLs, c.Model = urls, "" }), servers
}

// All questions about an item go to one server; items are spread over them.
func TestSeveralServers(t *testing.T) {
	alike := simchat.Options{Dialect: simchat.Llama}
	d, servers := several(t, alike, alike, alike)
	if _, err := d.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	counts := func() (out []int) {
		for _, s := range servers {
			out = append(out, s.Completions())
		}
		return out
	}
	asked := make([]int, len(servers))
	for i := range 30 {
		item := textItem("x")
		item.Turns[0].Text = fmt.Sprintf("You owe me %d.", i)
		before := counts()
		item = prepare(t, d, item)
		if _, err := d.Decide(t.Context(), item, detect.Pass{Seed: 1, Sampling: vote.Paper().Sampling}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.ScoreTactics(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		used := 0
		for k, n := range counts() {
			if n > before[k] {
				used++
				asked[k]++
			}
		}
		if used != 1 {
			t.Errorf("item %d: %d servers were asked, want 1", i, used)
		}
	}
	for k, n := range asked {
		if n < 3 {
			t.Errorf("server %d was asked about %d of 30 items: %v", k+1, n, asked)
		}
	}
}

// A server that isn't there any more is passed over; so is one that starts anew.
func TestServerGone(t *testing.T) {
	for _, gone := range []func(http.ResponseWriter, *http.Request){
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`))
		},
	} {
		caps := probe(t, simchat.Options{Dialect: simchat.Llama}, nil)
		healthy, url := serve(t, simchat.Options{Dialect: simchat.Llama})
		dead := httptest.NewServer(http.HandlerFunc(gone))
		t.Cleanup(dead.Close)
		d := newDetector(t, "", func(c *chat.Config) { c.BaseURLs, c.Capabilities = []string{dead.URL, url}, &caps })
		for i := range 8 { // some of which belong to either
			item := textItem("x")
			item.Turns[0].Text = fmt.Sprintf("You owe me %d.", i)
			prepare(t, d, item)
		}
		if healthy.Completions() != 8 {
			t.Errorf("%d calls, want 8", healthy.Completions())
		}
		d = newDetector(t, "", func(c *chat.Config) { c.BaseURLs, c.Capabilities = []string{dead.URL, dead.URL}, &caps })
		if _, err := d.Prepare(t.Context(), textItem("x")); err == nil || !strings.Contains(err.Error(), "at server 1") {
			t.Errorf("both gone: %v, want the first one's fault", err)
		}
	}
}

// Servers that answer differently are refused, by number: an address may be
// private.
func TestServersDiffer(t *testing.T) {
	for _, test := range []struct {
		name          string
		first, second simchat.Options
		want          string
	}{
		{"dialect", simchat.Options{Dialect: simchat.VLLM}, simchat.Options{Dialect: simchat.Llama}, `server 1 has "vllm", server 2 has "llama-server"`},
		{"model", simchat.Options{Dialect: simchat.VLLM, Model: "one"}, simchat.Options{Dialect: simchat.VLLM, Model: "two"}, `server 1 has "one", server 2 has "two"`},
		{"decision", simchat.Options{Dialect: simchat.VLLM}, simchat.Options{Dialect: simchat.VLLM, ConstraintIgnored: true}, "parsed from a free answer"},
		{"tactics", simchat.Options{Dialect: simchat.VLLM}, simchat.Options{Dialect: simchat.VLLM, MaxLogprobs: 5}, "top 5"},
		{"audio", simchat.Options{Dialect: simchat.Llama}, simchat.Options{Dialect: simchat.Llama, NoAudio: true}, "no audio"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, _ := several(t, test.first, test.second)
			_, err := d.Identity(t.Context())
			_, facts := d.Facts(t.Context())
			for _, err := range []error{err, facts} {
				var f *fault.Error
				if !errors.As(err, &f) || f.Kind != fault.Permanent || f.Code != "servers_differ" || !strings.Contains(f.Error(), test.want) || strings.Contains(f.Error(), "127.0.0.1") {
					t.Errorf("%v, want a permanent servers_differ with %s and no address", err, test.want)
				}
			}
		})
	}
}

func TestFacts(t *testing.T) {
	d, _ := several(t, simchat.Options{Dialect: simchat.Llama, Slots: 2}, simchat.Options{Dialect: simchat.Llama, Context: 4096})
	facts, err := d.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range facts {
		if f.Name != "fingerprint" {
			lines = append(lines, f.Name+": "+f.Value)
		}
	}
	want := []string{
		"dialect: llama-server",
		"server: llama-server b1-simulated",
		"model: simulated",
		"servers: 2",
		"context: 4096 tokens",
		"slots: 6",
		"constrained choice: grammar",
		"decision method: constrained by grammar",
		"top logprobs: 1000",
		"tactic method: first-token logprobs, top 1000, shared first tokens resolved by the next token",
		"analytic votes: raw logprobs; drawn freely, and again among the letters where the grammar refuses",
		"prefill: trailing assistant message",
		"audio: 750 tokens for each started 30 s, and 2",
		"audio check: silence and a tone differ in logprobs",
		"prefix cache: yes",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	generic, _ := several(t, simchat.Options{Dialect: simchat.Generic, NoLogprobs: true, NoAudio: true})
	facts, err = generic.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"slots": "unknown", "constrained choice": "none", "prefix cache": "no", "audio": "no audio", "servers": "1",
		"analytic votes": "not possible: in which order the server samples is unknown",
	} {
		found := ""
		for _, f := range facts {
			if f.Name == name {
				found = f.Value
			}
			if strings.ContainsAny(f.Value, "\n\x1b") {
				t.Errorf("%s: %q is more than a plain line", f.Name, f.Value)
			}
		}
		if found != want {
			t.Errorf("%s: %q, want %q", name, found, want)
		}
	}
}

func TestSharesPrefix(t *testing.T) {
	const metrics = "# TYPE vllm:cache_config_info gauge\n" +
		`vllm:cache_config_info{block_size="16",enable_prefix_caching="%s",engine="0"} 1.0` + "\n"
	for name, test := range map[string]struct {
		dialect string
		metrics string
		change  func(*chat.Config)
		want    bool
	}{
		"vllm says so":            {simchat.VLLM, fmt.Sprintf(metrics, "True"), nil, true},
		"vllm without":            {simchat.VLLM, fmt.Sprintf(metrics, "False"), nil, false},
		"vllm doesn't say":        {simchat.VLLM, "", nil, true},
		"llama-server":            {simchat.Llama, "", nil, true},
		"llama-server, told anew": {simchat.Llama, "", func(c *chat.Config) { c.NoPromptCache = true }, false},
		"generic":                 {simchat.Generic, "", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := simchat.New(simchat.Options{Dialect: test.dialect})
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/metrics" && test.metrics != "" {
					_, _ = w.Write([]byte(test.metrics))
					return
				}
				server.ServeHTTP(w, r)
			}))
			t.Cleanup(h.Close)
			if got, err := newDetector(t, h.URL, test.change).SharesPrefix(t.Context()); got != test.want || err != nil {
				t.Errorf("%v, %v; want %v", got, err, test.want)
			}
		})
	}
}
