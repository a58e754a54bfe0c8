//go:build integration && linux

package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/vote"
)

// counts is what went through to a real server.
type counts struct{ completions, others, refused int }

// countCalls puts a counting proxy in front of the server at address.
func countCalls(t *testing.T, address string) (read func() counts, proxied string) {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var c counts
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasSuffix(r.Request.URL.Path, "/chat/completions") {
				c.completions++
			} else {
				c.others++
			}
			if r.StatusCode != http.StatusOK {
				c.refused++
			}
			return nil
		},
	})
	t.Cleanup(server.Close)
	return func() counts {
		mu.Lock()
		defer mu.Unlock()
		return c
	}, server.URL
}

// TestLlama evaluates part of the sample with the real llama-server that
// LLAMA_SERVER_URL names. A model with random weights will do: what is checked
// is the way there and back, never what the model says.
func TestLlama(t *testing.T) {
	address := os.Getenv("LLAMA_SERVER_URL")
	if address == "" {
		t.Skip("LLAMA_SERVER_URL names no server")
	}
	seen, proxy := countCalls(t, address)
	r := newRig(t)
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+proxy)
	w := r.worker(t, "--accelerator", "cpu", "--pool", "llama")
	args := []string{"--detector", "chat", "--accelerator", "cpu", "--pool", "llama", "--limit", "3"}
	for _, modality := range []string{"audio", "text", "asr"} {
		t.Run(modality, func(t *testing.T) {
			before, began := seen(), time.Now()
			built := r.evaluate(t, append(args, "--modality", modality, "--id", modality)...)
			took, after := time.Since(began).Round(time.Second), seen()
			if built.N != 3 || len(built.Failures) != 0 {
				t.Errorf("n %d, failures %v", built.N, built.Failures)
			}
			if d := built.Settings.Engines.Detector; d.Detector != "chat" || d.Dialect != "llama-server" || d.Model == "" {
				t.Errorf("detector %+v", d)
			}
			verdicts, methods := map[vote.Verdict]int{}, map[vote.Method]int{}
			for _, d := range built.Dialogues {
				verdicts[d.Verdict.Verdict]++
				for _, p := range d.Passes {
					methods[p.Method]++
				}
				if len(d.Passes) != 5 {
					t.Errorf("%s has %d passes", d.ID, len(d.Passes))
				}
			}
			t.Logf("%s: %d dialogues in %s; %d completions, %d other requests, %d refused; verdicts %v; passes %v",
				built.Settings.Engines.Detector.Model, built.N, took, after.completions-before.completions,
				after.others-before.others, after.refused-before.refused, verdicts, methods)
		})
	}
	t.Run("again", func(t *testing.T) {
		before := seen()
		again := r.evaluate(t, append(args, "--id", "again")...)
		if n := seen().completions - before.completions; n != 0 || again.Usage.PassesMade != 0 {
			t.Errorf("asked %d times again, %+v", n, again.Usage)
		}
	})
	if l := readLedger(t, w.log); len(l.duplicates) != 0 {
		t.Errorf("called again after they were stored: %v", l.duplicates)
	}
}
