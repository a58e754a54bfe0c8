package chat_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/prompt"
	simchat "github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// constrainers are the servers whose votes can be told without drawing.
var constrainers = []string{simchat.VLLM, simchat.Llama}

func choose(t *testing.T, d *chat.Detector, item detect.Item, sampling vote.Sampling) detect.Choice {
	t.Helper()
	choice, err := d.Choose(t.Context(), item, sampling)
	if err != nil {
		t.Fatal(err)
	}
	return choice
}

// draws counts the YES votes of so many passes; all must be constrained ones.
func draws(t *testing.T, d *chat.Detector, item detect.Item, sampling vote.Sampling, n int) (yes int) {
	t.Helper()
	for seed := range n {
		got, err := d.Decide(t.Context(), item, detect.Pass{Seed: int64(seed), Sampling: sampling})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case got.Method != vote.Constrained:
			t.Fatalf("seed %d: %+v, want a constrained vote", seed, got)
		case got.Vote == vote.VoteYes:
			yes++
		}
	}
	return yes
}

// chiSquare measures how far counts are from a probability: 10.83 is exceeded
// once in a thousand by chance. Nothing is by chance where yes is certain.
func chiSquare(p vote.Nano, yes, n int) float64 {
	want := float64(p) / float64(vote.One) * float64(n)
	if want == 0 || want == float64(n) {
		if float64(yes) == want {
			return 0
		}
		return math.Inf(1)
	}
	off := float64(yes) - want
	return off*off/want + off*off/(float64(n)-want)
}

// The distribution is the one that passes are drawn from: at five logit gaps, with
// room for what the constraint refuses, against a thousand draws each. The seeds
// are fixed, so the statistic is too.
func TestChooseAgainstDraws(t *testing.T) {
	const n = 1000
	for _, dialect := range constrainers {
		for _, gap := range []float64{-1.5, -0.4, 0, 0.8, 1.6} {
			t.Run(fmt.Sprintf("%s/gap %v", dialect, gap), func(t *testing.T) {
				logits := map[string]float64{"A": 1 + gap/2, "B": 1 - gap/2, " A": 0, " the": 1.2, "You": -2}
				_, url := serve(t, simchat.Options{Dialect: dialect, Script: script{decideQuestion: logits}.say})
				d := newDetector(t, url, nil)
				item := prepare(t, d, textItem("x"))
				sampling := vote.Paper().Sampling
				choice := choose(t, d, item, sampling)
				if choice.Yes == 0 || choice.Yes == vote.One {
					t.Fatalf("%+v: nothing to draw", choice)
				}
				yes := draws(t, d, item, sampling, n)
				if chi := chiSquare(choice.Yes, yes, n); chi > 10.83 {
					t.Errorf("%d of %d draws are YES, the probability is %d: chi-square %.1f", yes, n, choice.Yes, chi)
				}
			})
		}
	}
}

// By hand: temperature first, then top-p; and on llama-server a free draw first.
func TestChoose(t *testing.T) {
	power := func(p float64) float64 { return math.Pow(p, 1/0.6) }
	for _, test := range []struct {
		name     string
		logits   map[string]float64
		sampling vote.Sampling
		vllm     float64
		llama    float64
	}{
		{"certain from .854 on", map[string]float64{"A": math.Log(.8541), "B": math.Log(.1459)}, vote.Paper().Sampling, 1, 1},
		{"not yet", map[string]float64{"A": math.Log(.853), "B": math.Log(.147)}, vote.Paper().Sampling,
			power(.853) / (power(.853) + power(.147)), power(.853) / (power(.853) + power(.147))},
		{"even", map[string]float64{"A": 1, "B": 1, " the": 2}, vote.Paper().Sampling, .5, .5},
		{"temperature 1, all kept", map[string]float64{"A": math.Log(.3), "B": math.Log(.2), " the": math.Log(.5)}, vote.Sampling{Temperature: 1, TopP: 1}, .6, .3 + .5*.6},
		// Free: the and A reach .75, so that B is never drawn freely.
		{"one letter cut off", map[string]float64{"A": math.Log(.3), "B": math.Log(.2), " the": math.Log(.5)}, vote.Sampling{Temperature: 1, TopP: .75}, .6, .375 + .625*.6},
		{"both cut off", map[string]float64{"A": math.Log(.3), "B": math.Log(.2), " the": math.Log(.5)}, vote.Sampling{Temperature: 1, TopP: .4}, 1, 1},
		{"greedy", map[string]float64{"A": 1, "B": 1.1, " the": 3}, vote.Sampling{TopP: 1}, 0, 0},
	} {
		for dialect, want := range map[string]float64{simchat.VLLM: test.vllm, simchat.Llama: test.llama} {
			for _, order := range []prompt.Order{prompt.AB, prompt.BA} {
				t.Run(test.name+"/"+dialect+"/"+string(order), func(t *testing.T) {
					_, url := serve(t, simchat.Options{Dialect: dialect, Script: script{decideQuestion: test.logits}.say})
					d := newDetector(t, url, func(c *chat.Config) { c.Order = order })
					item := prepare(t, d, textItem("x"))
					got := choose(t, d, item, test.sampling)
					if order == prompt.BA {
						want = 1 - want
					}
					if math.Abs(float64(got.Yes)/1e9-want) > 1e-6 {
						t.Errorf("%+v, want %.6f", got, want)
					}
					decision, err := d.Decide(t.Context(), item, detect.Pass{Seed: 1, Sampling: test.sampling})
					if err != nil || got.PYes != decision.PYes || got.Prompt != decision.Prompt || got.Method == "" {
						t.Errorf("%+v; a pass says %+v, %v", got, decision, err)
					}
				})
			}
		}
	}
}

// Its label is that of one greedy pass, and it takes one call.
func TestChooseIsGreedy(t *testing.T) {
	for _, dialect := range constrainers {
		server, url := serve(t, simchat.Options{Dialect: dialect, Seed: 11})
		d := newDetector(t, url, nil)
		labels := map[vote.Verdict]int{}
		for i := range 30 {
			item := textItem("x")
			item.Turns[0].Text = strings.Repeat("You owe me this. ", i+1)
			item = prepare(t, d, item)
			before := server.Completions()
			choice := choose(t, d, item, vote.Paper().Sampling)
			if made := server.Completions() - before; made != 1 {
				t.Errorf("%s: %d calls, want 1", dialect, made)
			}
			greedy, err := d.Decide(t.Context(), item, detect.Pass{Sampling: vote.Sampling{TopP: 1}})
			if err != nil {
				t.Fatal(err)
			}
			out, majority := vote.DecideAnalytic(choice.Yes, vote.Paper())
			if string(out.Verdict) != string(greedy.Vote) {
				t.Errorf("%s: %s with %d of five, one greedy pass says %s", dialect, out.Verdict, majority, greedy.Vote)
			}
			labels[out.Verdict]++
		}
		if labels[vote.Yes] == 0 || labels[vote.No] == 0 {
			t.Errorf("%s: only %v", dialect, labels)
		}
	}
}

// Where the most probable tokens leave it open, all are asked for; then nothing is.
func TestChooseAsksForTheWholeVocabulary(t *testing.T) {
	logits := map[string]float64{"A": -1, "B": -2, " the": 2, " a": 1.9, " you": 1.8}
	for _, sampling := range []vote.Sampling{{Temperature: 1, TopP: 1}, {Temperature: 2, TopP: 0.99}, {Temperature: 0, TopP: 1}} {
		server, url := serve(t, simchat.Options{Dialect: simchat.Llama, Script: script{decideQuestion: logits}.say})
		all := choose(t, newDetector(t, url, nil), textItem("x"), sampling)
		few := newDetector(t, url, func(c *chat.Config) { c.TopLogprobs = 2 })
		item := prepare(t, few, textItem("x"))
		before := server.Completions()
		if got := choose(t, few, item, sampling); got.Yes != all.Yes {
			t.Errorf("%+v: %d with two candidates, %d with all", sampling, got.Yes, all.Yes)
		}
		if made := server.Completions() - before; made != 2 {
			t.Errorf("%+v: %d calls, want 2", sampling, made)
		}
	}
}

func TestChooseNothing(t *testing.T) {
	_, url := serve(t, simchat.Options{Dialect: simchat.VLLM})
	d := newDetector(t, url, nil)
	choice := choose(t, d, detect.Item{ID: "x", Modality: detect.Text}, vote.Paper().Sampling)
	if out, _ := vote.DecideAnalytic(choice.Yes, vote.Paper()); out.Verdict != vote.Unresolved || choice.PYes.Observed || !strings.Contains(choice.Method, "no words") {
		t.Errorf("%+v gives %+v, want what decides nothing", choice, out)
	}
}

func TestChooseImpossible(t *testing.T) {
	vllm := probe(t, simchat.Options{Dialect: simchat.VLLM}, nil)
	for _, test := range []struct {
		name   string
		server simchat.Options
		change func(*chat.Config)
		why    string
		late   bool // the server doesn't show it before
	}{
		{"chain of thought", simchat.Options{Dialect: simchat.VLLM}, func(c *chat.Config) { c.Strategy = "chain-of-thought" }, "thoughts", false},
		{"generic", simchat.Options{Dialect: simchat.Generic}, nil, "order", false},
		{"no constraint", simchat.Options{Dialect: simchat.Llama, ConstraintIgnored: true}, nil, "constrain", false},
		{"no logprobs", simchat.Options{Dialect: simchat.Llama, NoLogprobs: true}, nil, "no logprobs", false},
		{"logprobs before the mask", simchat.Options{Dialect: simchat.Generic}, func(c *chat.Config) { c.Capabilities = &vllm }, "after the mask", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, url := serve(t, test.server)
			checkImpossible(t, newDetector(t, url, test.change), test.why, test.late)
		})
	}
	t.Run("unknown order of samplers", func(t *testing.T) {
		server := simchat.New(simchat.Options{Dialect: simchat.Llama})
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/props" {
				_, _ = w.Write([]byte(`{"build_info":"b0-old","total_slots":1,"default_generation_settings":{"n_ctx":4096,"params":{"temperature":0.8}}}`))
				return
			}
			server.ServeHTTP(w, r)
		}))
		t.Cleanup(h.Close)
		checkImpossible(t, newDetector(t, h.URL, nil), "in the order", false)
	})
	t.Run("sampling", func(t *testing.T) {
		_, url := serve(t, simchat.Options{Dialect: simchat.Llama})
		if _, err := newDetector(t, url, nil).Choose(t.Context(), textItem("x"), vote.Sampling{Temperature: 3, TopP: 1}); fault.KindOf(err) != fault.Permanent {
			t.Errorf("temperature 3: %v, want a permanent fault", err)
		}
	})
}

func checkImpossible(t *testing.T, d *chat.Detector, why string, late bool) {
	t.Helper()
	sampling := vote.Paper().Sampling
	_, err := d.Choose(t.Context(), textItem("x"), sampling)
	early := d.CheckChoose(t.Context(), sampling)
	if late {
		if early != nil {
			t.Errorf("before: %v", early)
		}
		early = err
	}
	for _, err := range []error{err, early} {
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Permanent || f.Code != "analytic_impossible" || !strings.Contains(f.Error(), why) || !strings.Contains(f.Hint, "sampled") {
			t.Errorf("%v, want a permanent analytic_impossible that says %q and what else to use", err, why)
		}
	}
}

// The prompt of a decision is named by its text and its clips, nothing else.
func TestPromptHash(t *testing.T) {
	_, url := serve(t, simchat.Options{Dialect: simchat.Llama})
	d := newDetector(t, url, nil)
	turned := newDetector(t, url, func(c *chat.Config) { c.Order = prompt.BA })
	shown := newDetector(t, url, func(c *chat.Config) { c.Strategy, c.Exemplars = "few-shot", exemplars() })
	seen := map[string]string{}
	for name, asked := range map[string]struct {
		d    *chat.Detector
		item detect.Item
	}{
		"text": {d, textItem("x")}, "asr": {d, asrItem("x")}, "clip": {d, audioItem("x", noise(0.5, 1))},
		"another clip": {d, audioItem("x", noise(0.5, 2))}, "letters exchanged": {turned, textItem("x")}, "exemplars": {shown, textItem("x")},
	} {
		var first string
		for seed := range int64(3) {
			got, err := asked.d.Decide(t.Context(), asked.item, detect.Pass{Seed: seed, Sampling: vote.Paper().Sampling})
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = got.Prompt
			}
			if len(got.Prompt) != 64 || got.Prompt != first {
				t.Errorf("%s, seed %d: prompt %q, want the hash %q", name, seed, got.Prompt, first)
			}
		}
		if other, ok := seen[first]; ok {
			t.Errorf("%s and %s have one prompt", name, other)
		}
		seen[first] = name
	}
}
