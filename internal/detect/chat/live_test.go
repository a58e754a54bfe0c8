package chat_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/detect/detecttest"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// live returns the address of the llama-server that LLAMA_SERVER_URL names.
func live(t *testing.T) string {
	t.Helper()
	url := os.Getenv("LLAMA_SERVER_URL")
	if url == "" {
		t.Skip("LLAMA_SERVER_URL names no server")
	}
	return url
}

// uncached asks the server's only model. Without the prompt cache the same
// question has the same answer.
func uncached(c *chat.Config) { c.Model, c.NoPromptCache = "", true }

// The conformance suite against a live llama-server.
func TestLive(t *testing.T) {
	url := live(t)
	caps, err := newDetector(t, url, uncached).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", caps)
	if caps.Dialect != chat.Llama || caps.Choice == "" || !caps.Logprobs || caps.Prefill == "" || caps.Audio.PerBlock != 750 {
		t.Errorf("%+v: not what a llama-server can do", caps)
	}
	for name, item := range map[string]detect.Item{"audio": audioItem("one", noise(2, 7)), "text": textItem("two"), "asr": asrItem("three")} {
		t.Run(name, func(t *testing.T) {
			detecttest.Run(t, func(t *testing.T) detect.Detector { return newDetector(t, url, uncached) }, item)
		})
	}
}

// Every letter that is drawn is one of the two, whatever the model would say.
func TestLiveConstraint(t *testing.T) {
	d := newDetector(t, live(t), uncached)
	item := prepare(t, d, textItem("x"))
	votes := map[vote.Vote]int{}
	for seed := range int64(30) {
		decision, err := d.Decide(t.Context(), item, detect.Pass{Seed: seed, Sampling: vote.Sampling{Temperature: 2, TopP: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if decision.Method != vote.Constrained {
			t.Errorf("seed %d: %+v", seed, decision)
		}
		votes[decision.Vote]++
	}
	t.Logf("%v", votes)
}

// Clips cost what the truncation guard expects at the edges of a block, and a
// prompt with its exemplars arrives whole.
func TestLiveClips(t *testing.T) {
	url := live(t)
	tokens := func(d *chat.Detector, clip audio.PCM) int {
		var p struct {
			PromptTokens int `json:"prompt_tokens"`
		}
		if err := json.Unmarshal(prepare(t, d, audioItem("x", clip)).Prepared, &p); err != nil || p.PromptTokens == 0 {
			t.Fatalf("%d tokens, %v", p.PromptTokens, err)
		}
		return p.PromptTokens
	}
	d := newDetector(t, url, uncached)
	short := tokens(d, noise(0.1, 1))
	for seconds, more := range map[float64]int{29.9: 0, 30: 750, 61: 1500} {
		if got := tokens(d, noise(seconds, 1)) - short; got != more {
			t.Errorf("%v s take %d tokens more than 0.1 s, want %d", seconds, got, more)
		}
	}
	shown := newDetector(t, url, func(c *chat.Config) {
		uncached(c)
		c.Strategy, c.Exemplars = "few-shot", exemplars()
	})
	if got := tokens(shown, noise(0.1, 1)); got < short+4*752 {
		t.Errorf("four exemplars and a clip take %d tokens, the clip alone %d", got, short)
	}
}

// What doesn't fit is refused by name before it is sent.
func TestLiveTooLong(t *testing.T) {
	url := live(t)
	d := newDetector(t, url, func(c *chat.Config) {
		uncached(c)
		c.MaxAudioSeconds = 1e6
	})
	caps, err := d.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seconds := float64(caps.Context)/750*30 + 30
	if seconds > 3600 {
		t.Skipf("a window of %d tokens: the clip would be too long for a test", caps.Context)
	}
	_, err = d.Prepare(t.Context(), audioItem("x", noise(seconds, 1)))
	if fault.KindOf(err) != fault.Permanent {
		t.Errorf("%.0f s: %v, want a permanent fault", seconds, err)
	}
}
