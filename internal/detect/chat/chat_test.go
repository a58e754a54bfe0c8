package chat_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/detect/detecttest"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/recognize"
	simchat "github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// dialects are the servers that everything has to work with.
var dialects = []string{simchat.VLLM, simchat.Llama, simchat.Generic}

// serve starts a simulated server.
func serve(t *testing.T, o simchat.Options) (*simchat.Server, string) {
	t.Helper()
	s := simchat.New(o)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, h.URL
}

// newDetector returns a detector for the server at url; change may adjust its
// settings.
func newDetector(t *testing.T, url string, change func(*chat.Config)) *chat.Detector {
	t.Helper()
	c := chat.Config{BaseURLs: []string{url}, Model: "simulated", Strategy: "zero-shot", Rules: vote.Paper()}
	if change != nil {
		change(&c)
	}
	d, err := chat.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// noise is a clip of so many seconds; another seed sounds different.
func noise(seconds float64, seed uint32) audio.PCM {
	p := audio.PCM{Rate: 16_000, Samples: make([]float32, int(seconds*16_000))}
	for i := range p.Samples {
		seed = seed*1664525 + 1013904223
		p.Samples[i] = float32(int32(seed)) / (1 << 33)
	}
	return p
}

func audioItem(id string, p audio.PCM) detect.Item {
	return detect.Item{ID: id, Modality: detect.Audio, Audio: func(context.Context) (audio.PCM, error) { return p, nil }}
}

func textItem(id string) detect.Item {
	return detect.Item{ID: id, Modality: detect.Text, Turns: []dialogue.Turn{
		{Speaker: "Person1", Text: "You owe me this."}, {Speaker: "Person2", Text: "I do not."},
	}}
}

func asrItem(id string) detect.Item {
	return detect.Item{ID: id, Modality: detect.ASR, Transcript: func(context.Context) (recognize.Transcript, error) {
		return recognize.Transcript{Words: []recognize.Word{{Text: "you"}, {Text: "owe"}, {Text: "me"}}}, nil
	}}
}

func exemplars() []chat.Exemplar {
	var out []chat.Exemplar
	for i, v := range []vote.Vote{vote.VoteNo, vote.VoteNo, vote.VoteYes, vote.VoteYes} {
		e := chat.Exemplar{Exemplar: vote.Exemplar{ID: string(rune('a' + i)), Vote: v}, Clip: noise(0.3, uint32(i)), Turns: textItem("").Turns}
		if v == vote.VoteYes {
			e.Tactic, e.Quote = tactic.Accusation, "You owe me this."
		}
		out = append(out, e)
	}
	return out
}

func TestConformance(t *testing.T) {
	items := map[string]detect.Item{"audio": audioItem("one", noise(0.5, 7)), "text": textItem("two"), "asr": asrItem("three")}
	for _, dialect := range dialects {
		for modality, item := range items {
			t.Run(dialect+"/"+modality, func(t *testing.T) {
				_, url := serve(t, simchat.Options{Dialect: dialect})
				detecttest.Run(t, func(t *testing.T) detect.Detector { return newDetector(t, url, nil) }, item)
			})
		}
	}
}

func TestConformanceOfStrategies(t *testing.T) {
	for _, strategy := range []string{"few-shot", "chain-of-thought", "intent-aware", "definition-augmented"} {
		t.Run(strategy, func(t *testing.T) {
			_, url := serve(t, simchat.Options{Dialect: simchat.Llama})
			detecttest.Run(t, func(t *testing.T) detect.Detector {
				return newDetector(t, url, func(c *chat.Config) {
					c.Strategy, c.ReasonTokens = strategy, 12
					if strategy == "few-shot" {
						c.Exemplars = exemplars()
					}
					if strategy == "intent-aware" {
						c.Rules, c.Order = vote.Released(), "ba"
					}
				})
			}, audioItem("one", noise(0.5, 7)))
		})
	}
}
