package chat_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/prompt"
	simchat "github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// script maps a part of the question to what the model would say.
type script map[string]map[string]float64

func (s script) say(p simchat.Prompt) map[string]float64 {
	for part, logits := range s {
		if strings.Contains(p.Question+"\x00"+p.Generated, part) {
			return logits
		}
	}
	return nil
}

// The questions, by words that only one of them has.
const (
	decideQuestion    = "(A) "
	verbalizeQuestion = "YES or NO"
)

// atTactic scripts the tactic question after the answer's beginning.
func atTactic(steps map[string]map[string]float64) func(simchat.Prompt) map[string]float64 {
	return func(p simchat.Prompt) map[string]float64 {
		if !strings.Contains(p.Question, "- Denial") {
			return nil
		}
		return steps[p.Generated]
	}
}

// probability of one token among scripted ones; the rest of the vocabulary has
// next to nothing.
func probability(logits map[string]float64, token string) float64 {
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(l)
	}
	return math.Exp(logits[token]) / sum
}

func checkMass(t *testing.T, name string, got vote.Mass, want float64) {
	t.Helper()
	if !got.Observed || math.Abs(float64(got.P)/1e9-want) > 1e-6 {
		t.Errorf("%s: %+v, want %.6f", name, got, want)
	}
}

func prepare(t *testing.T, d *chat.Detector, item detect.Item) detect.Item {
	t.Helper()
	var err error
	if item.Prepared, err = d.Prepare(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	return item
}

// The probability of YES comes from the unconstrained request: the letters' raw
// masses leave room for what else the model would say.
func TestProbabilityOfYes(t *testing.T) {
	logits := map[string]float64{"A": 2, "B": 1, " A": 0, " the": 3}
	for _, dialect := range dialects {
		for _, order := range []prompt.Order{prompt.AB, prompt.BA} {
			t.Run(dialect+"/"+string(order), func(t *testing.T) {
				_, url := serve(t, simchat.Options{Dialect: dialect, Script: script{decideQuestion: logits}.say})
				d := newDetector(t, url, func(c *chat.Config) { c.Order = order })
				item := prepare(t, d, audioItem("x", noise(0.5, 1)))
				var p struct {
					Yes  vote.Mass `json:"yes"`
					No   vote.Mass `json:"no"`
					PYes vote.Mass `json:"p_yes"`
				}
				if err := json.Unmarshal(item.Prepared, &p); err != nil {
					t.Fatal(err)
				}
				a := probability(logits, "A") + probability(logits, " A")
				b := probability(logits, "B")
				if order == prompt.BA {
					a, b = b, a
				}
				checkMass(t, "letter for YES", p.Yes, a)
				checkMass(t, "letter for NO", p.No, b)
				checkMass(t, "p(YES)", p.PYes, a/(a+b))
			})
		}
	}
}

func TestOptionOrderTurnsTheVote(t *testing.T) {
	for _, dialect := range []string{simchat.VLLM, simchat.Llama} {
		_, url := serve(t, simchat.Options{Dialect: dialect, Script: script{decideQuestion: {"A": 9, "B": 1}}.say})
		for order, want := range map[prompt.Order]vote.Vote{prompt.AB: vote.VoteYes, prompt.BA: vote.VoteNo} {
			d := newDetector(t, url, func(c *chat.Config) { c.Order = order })
			got, err := d.Decide(t.Context(), textItem("x"), detect.Pass{Seed: 3, Sampling: vote.Paper().Sampling})
			if err != nil || got.Vote != want || got.Method != vote.Constrained {
				t.Errorf("%s %s: %+v, %v; want %s", dialect, order, got, err, want)
			}
		}
	}
}

// A server that can't constrain an answer has its free one read, and says so.
func TestFreeAnswerIsParsed(t *testing.T) {
	// "A", then the end of the answer.
	_, url := serve(t, simchat.Options{Dialect: simchat.Generic, Script: func(p simchat.Prompt) map[string]float64 {
		if p.Generated == "A" {
			return map[string]float64{"": 9}
		}
		return script{decideQuestion: {"A": 9, "B": 1}}.say(p)
	}})
	got, err := newDetector(t, url, nil).Decide(t.Context(), textItem("x"), detect.Pass{Seed: 3, Sampling: vote.Paper().Sampling})
	if err != nil || got.Vote != vote.VoteYes || got.Method != vote.Parsed {
		t.Errorf("%+v, %v; want a parsed YES", got, err)
	}
}

// Under the constraint the answer is drawn from the two letters only: the shares
// of 400 draws follow the dialect's rule.
func TestConstrainedShares(t *testing.T) {
	logits := map[string]float64{"A": 1, "B": 0.5, " the": 0}
	sampling := vote.Sampling{Temperature: 1, TopP: 1}
	a, b, rest := probability(logits, "A"), probability(logits, "B"), probability(logits, " the")
	want := map[string]float64{
		simchat.VLLM:  a / (a + b),
		simchat.Llama: a + rest*a/(a+b), // drawn freely first, masked only when refused
	}
	for dialect, share := range want {
		_, url := serve(t, simchat.Options{Dialect: dialect, Script: script{decideQuestion: logits}.say})
		d := newDetector(t, url, nil)
		item := prepare(t, d, textItem("x"))
		yes := 0
		const draws = 400
		for seed := range int64(draws) {
			got, err := d.Decide(t.Context(), item, detect.Pass{Seed: seed, Sampling: sampling})
			if err != nil {
				t.Fatal(err)
			}
			if got.Vote == vote.VoteYes {
				yes++
			}
		}
		if got := float64(yes) / draws; math.Abs(got-share) > 4*math.Sqrt(share*(1-share)/draws) {
			t.Errorf("%s: %.3f of the draws say YES, want about %.3f", dialect, got, share)
		}
	}
}

// Temperature comes before top-p: .6 and .4 become .55 and .45, and top-p .58
// keeps both. In the other order NO could never be drawn.
func TestTemperatureFirst(t *testing.T) {
	for _, dialect := range []string{simchat.VLLM, simchat.Llama} {
		_, url := serve(t, simchat.Options{Dialect: dialect, Script: script{decideQuestion: {"A": math.Log(0.6), "B": math.Log(0.4)}}.say})
		d := newDetector(t, url, nil)
		item := prepare(t, d, textItem("x"))
		votes := map[vote.Vote]int{}
		for seed := range int64(40) {
			got, err := d.Decide(t.Context(), item, detect.Pass{Seed: seed, Sampling: vote.Sampling{Temperature: 2, TopP: 0.58}})
			if err != nil {
				t.Fatal(err)
			}
			votes[got.Vote]++
		}
		if votes[vote.VoteYes] == 0 || votes[vote.VoteNo] == 0 {
			t.Errorf("%s: %v, want both", dialect, votes)
		}
	}
}

// A server that stops to honour its constraint is caught by its answer; then the
// words for yes and no decide, and where neither is seen, nothing does.
func TestFallback(t *testing.T) {
	fill := func(own map[string]float64) map[string]float64 {
		for i, token := range []string{" the", " a", " you", " I", " it", " is", " was", " that", " not", " what", " me", " my", " your", " so", " if", " do", " can", " will", " we", " they", " all"} {
			own[token] = 2 - float64(i)/100
		}
		return own
	}
	tests := map[string]struct {
		words map[string]float64
		rules vote.Rules
		want  vote.Vote
	}{
		"yes in several spellings": {map[string]float64{"YES": 1, "Yes": 1, " yes": 1, "NO": 1.5, " the": 0}, vote.Paper(), vote.VoteYes},
		"no":                       {map[string]float64{"YES": 1, "No": 1.5, " the": 0}, vote.Paper(), vote.VoteNo},
		"equal is no":              {map[string]float64{"yes": 1, "no": 1, " the": 0}, vote.Paper(), vote.VoteNo},
		"a lead below the margin":  {map[string]float64{"yes": 1.05, "no": 1, " the": 0}, vote.Released(), vote.VoteNo},
		"neither observed":         {fill(map[string]float64{"YES": -20, "NO": -20}), vote.Paper(), vote.VoteInvalid},
	}
	for _, dialect := range []string{simchat.VLLM, simchat.Llama} {
		for name, test := range tests {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				_, healthy := serve(t, simchat.Options{Dialect: dialect})
				probed := newDetector(t, healthy, func(c *chat.Config) { c.TopLogprobs = 20 })
				caps, err := probed.Probe(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				_, url := serve(t, simchat.Options{Dialect: dialect, ConstraintIgnored: true, Script: script{
					decideQuestion: {"Hmm": 9}, verbalizeQuestion: test.words,
				}.say})
				d := newDetector(t, url, func(c *chat.Config) { c.Capabilities, c.Rules = &caps, test.rules })
				got, err := d.Decide(t.Context(), textItem("x"), detect.Pass{Sampling: test.rules.Sampling})
				if err != nil {
					t.Fatal(err)
				}
				method := vote.Fallback
				if test.want == vote.VoteInvalid {
					method = vote.Failed
				}
				if got.Vote != test.want || got.Method != method {
					t.Errorf("%s by %s, want %s by %s", got.Vote, got.Method, test.want, method)
				}
			})
		}
	}
}

// Both Playing roles begin with the same token in every form; one more token
// tells them apart.
func TestSharedFirstToken(t *testing.T) {
	first := map[string]float64{"Playing": 2, " Playing": 1.5, "playing": 1, " playing": 0.5, "Den": 1, " Den": 0, "den": -1, " the": 1}
	steps := map[string]map[string]float64{
		"":         first,
		"Playing":  {" Serv": 1, " Victim": 0},
		" Playing": {" Serv": 0, " Victim": 1},
		"playing":  {" serv": 2, " victim": 0, " the": 1},
		" playing": {" serv": 0, " victim": 3},
	}
	next := map[string][2]string{"Playing": {" Serv", " Victim"}, " Playing": {" Serv", " Victim"}, "playing": {" serv", " victim"}, " playing": {" serv", " victim"}}
	for _, dialect := range []string{simchat.VLLM, simchat.Llama} {
		for _, rules := range []vote.Rules{vote.Paper(), vote.Released()} {
			t.Run(dialect+"/"+rules.Name, func(t *testing.T) {
				server, url := serve(t, simchat.Options{Dialect: dialect, Script: atTactic(steps)})
				d := newDetector(t, url, func(c *chat.Config) { c.Rules = rules })
				item := prepare(t, d, audioItem("x", noise(0.5, 1)))
				before := server.Completions()
				scores, err := d.ScoreTactics(t.Context(), item)
				if err != nil {
					t.Fatal(err)
				}
				begins := []string{"Playing"}
				denial := probability(first, "Den")
				if rules.TacticForms == vote.FormFour {
					begins = []string{"Playing", " Playing", "playing", " playing"}
					denial += probability(first, " Den") + probability(first, "den")
				}
				var servant, victim float64
				for _, begin := range begins {
					p := probability(first, begin)
					servant += p * probability(steps[begin], next[begin][0])
					victim += p * probability(steps[begin], next[begin][1])
				}
				checkMass(t, "Servant", scores.Mass(tactic.Servant), servant)
				checkMass(t, "Victim", scores.Mass(tactic.Victim), victim)
				checkMass(t, "Denial", scores.Mass(tactic.Denial), denial)
				if calls := server.Completions() - before; calls != 1+len(begins) {
					t.Errorf("%d calls, want %d", calls, 1+len(begins))
				}
			})
		}
	}
}

// Where an answer can't be begun for the model, the roles stay apart from each
// other by a bound only.
func TestSharedFirstTokenUnresolved(t *testing.T) {
	first := map[string]float64{"Playing": 2, "Den": 1, " the": 1}
	_, url := serve(t, simchat.Options{Dialect: simchat.Generic, Script: atTactic(map[string]map[string]float64{"": first})})
	scores, err := newDetector(t, url, nil).ScoreTactics(t.Context(), textItem("x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []tactic.Tactic{tactic.Servant, tactic.Victim} {
		m := scores.Mass(role)
		if m.Observed || math.Abs(float64(m.P)/1e9-probability(first, "Playing")) > 1e-6 {
			t.Errorf("%s: %+v, want unobserved and at most p(Playing)", role, m)
		}
	}
	if !strings.Contains(scores.Method, "unresolved") {
		t.Errorf("method %q doesn't say so", scores.Method)
	}
}

// An option outside the listed tokens is unobserved, with the last listed
// probability as its bound: never 0.
func TestOutsideTopK(t *testing.T) {
	logits := map[string]float64{"Acc": 5}
	for _, token := range []string{" the", " a", " you", " I", " it", " is", " was", " that", " not", " what", " me", " my", " your", " so", " if", " do", " can", " will", " we", " they", " all"} {
		logits[token] = 2
	}
	for _, option := range []string{"Brand", "Den", "E", "Fe", "Int", "Pers", "Playing", "R", "Sh", "none"} {
		logits[option] = -3
	}
	want := map[string]bool{simchat.VLLM: false, simchat.Generic: false, simchat.Llama: true} // llama-server has no cut
	for dialect, observed := range want {
		_, url := serve(t, simchat.Options{Dialect: dialect, Script: atTactic(map[string]map[string]float64{"": logits})})
		scores, err := newDetector(t, url, nil).ScoreTactics(t.Context(), textItem("x"))
		if err != nil {
			t.Fatal(err)
		}
		checkMass(t, dialect+" Accusation", scores.Mass(tactic.Accusation), probability(logits, "Acc"))
		got := scores.Mass(tactic.Denial)
		if got.Observed != observed {
			t.Errorf("%s: Denial %+v, want observed %v", dialect, got, observed)
		}
		if !observed && math.Abs(float64(got.P)/1e9-probability(logits, " the")) > 1e-6 {
			t.Errorf("%s: bound %d, want that of the last listed token", dialect, got.P)
		}
	}
}

// llama-server leaves logprobs out when it draws half a character; they are asked
// for again, and are the same.
func TestHalfCharacter(t *testing.T) {
	logits := map[string]float64{"A": 1, "B": 0, simchat.Fragment: 1.5}
	recovered := 0
	for i := range 20 {
		server, url := serve(t, simchat.Options{Dialect: simchat.Llama, Script: script{decideQuestion: logits}.say})
		d := newDetector(t, url, nil)
		prepare(t, d, textItem("warm"))
		before := server.Completions()
		item := textItem("x")
		item.Turns[0].Text = strings.Repeat("You owe me. ", i+1)
		var p struct {
			Yes vote.Mass `json:"yes"`
		}
		if err := json.Unmarshal(prepare(t, d, item).Prepared, &p); err != nil {
			t.Fatal(err)
		}
		// A fourth call may have failed as the others.
		if made := server.Completions() - before; made == 2 || made == 3 {
			recovered++
			checkMass(t, "letter for YES", p.Yes, probability(logits, "A"))
		}
	}
	if recovered == 0 {
		t.Error("no request was repeated to success")
	}
}

// Without logprobs a name is chosen, and the method says that it has no
// probability.
func TestNoLogprobs(t *testing.T) {
	for _, dialect := range dialects {
		t.Run(dialect, func(t *testing.T) {
			_, url := serve(t, simchat.Options{Dialect: dialect, NoLogprobs: true, Script: atTactic(map[string]map[string]float64{
				"": {"Den": 5, "Acc": 1}, "Den": {"ial": 5}, "Denial": {"": 5},
			})})
			d := newDetector(t, url, nil)
			item := prepare(t, d, audioItem("x", noise(0.5, 1)))
			scores, err := d.ScoreTactics(t.Context(), item)
			if err != nil {
				t.Fatal(err)
			}
			outcome := vote.DecideTactic(vote.ScoredPasses(scores.Masses, vote.Paper()), vote.Paper())
			if outcome.Tactic != tactic.Denial || !strings.Contains(scores.Method, "no probabilities") {
				t.Errorf("%s by %q, want Denial", outcome.Tactic, scores.Method)
			}
			got, err := d.Decide(t.Context(), item, detect.Pass{Sampling: vote.Paper().Sampling})
			if err != nil || got.PYes.Observed {
				t.Errorf("%+v, %v: want an unobserved p(YES)", got, err)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	_, url := serve(t, simchat.Options{Dialect: simchat.VLLM, Script: func(p simchat.Prompt) map[string]float64 {
		switch {
		case strings.Contains(p.Question, "one verbatim quote") && strings.Contains(p.Question, "by the tactic Denial"):
			return map[string]map[string]float64{"": {"none": 5}, "none": {"": 5}}[p.Generated]
		case strings.Contains(p.Question, "word for word"):
			return map[string]map[string]float64{"": {"You": 5}, "You": {" will": 5}, "You will": {"": 5}}[p.Generated]
		}
		return nil
	}})
	d := newDetector(t, url, nil)
	for attempt, want := range []string{"", "You will"} {
		got, err := d.Quote(t.Context(), textItem("x"), detect.QuoteRequest{Attempt: attempt, Tactic: tactic.Denial})
		if err != nil || got.Quote != want {
			t.Errorf("attempt %d: %q, %v; want %q", attempt, got.Quote, err, want)
		}
	}
}

// What is too short to be judged is never sent: one sample would bring
// llama-server down.
func TestShortClips(t *testing.T) {
	server, url := serve(t, simchat.Options{Dialect: simchat.Llama})
	d := newDetector(t, url, nil)
	prepare(t, d, textItem("x"))
	before := server.Completions()
	for _, samples := range []int{0, 1, 1599} {
		item := prepare(t, d, audioItem("short", audio.PCM{Rate: 16_000, Samples: make([]float32, samples)}))
		got, err := d.Decide(t.Context(), item, detect.Pass{Sampling: vote.Paper().Sampling})
		if err != nil || got.Vote != vote.VoteInvalid {
			t.Errorf("%d samples: %+v, %v; want INVALID", samples, got, err)
		}
	}
	if calls := server.Completions() - before; calls != 0 {
		t.Errorf("%d calls, want none", calls)
	}
	shortest := audioItem("shortest", audio.PCM{Rate: 16_000, Samples: noise(0.1, 3).Samples})
	if _, err := d.Decide(context.Background(), prepare(t, d, shortest), detect.Pass{}); err != nil {
		t.Errorf("0.1 s: %v", err)
	}
}

// Five passes are five calls after what they share.
func TestCalls(t *testing.T) {
	server, url := serve(t, simchat.Options{Dialect: simchat.VLLM})
	d := newDetector(t, url, nil)
	prepare(t, d, textItem("warm"))
	before := server.Completions()
	item := prepare(t, d, audioItem("x", noise(0.5, 1)))
	for i := range 5 {
		if _, err := d.Decide(t.Context(), item, detect.Pass{Index: i, Seed: int64(i), Sampling: vote.Paper().Sampling}); err != nil {
			t.Fatal(err)
		}
	}
	if calls := server.Completions() - before; calls != 6 {
		t.Errorf("%d calls, want 1 to prepare and 5 passes", calls)
	}
}
