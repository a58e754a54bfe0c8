// Package detecttest is the conformance suite of detectors.
package detecttest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// maxPrepared bounds what Prepare may return, in bytes: it is stored and carried
// for every item.
const maxPrepared = 64 << 10

// Run tests a detector on an item that it can judge. NewDetector returns
// detectors with one identity; the item's Prepared is ignored.
func Run(t *testing.T, newDetector func(*testing.T) detect.Detector, item detect.Item) {
	s := suite{newDetector, item}
	t.Run("identity", s.identity)
	t.Run("prepared is small and stable", s.prepared)
	t.Run("a seed fixes a pass", s.seeds)
	t.Run("greedy ignores the seed", s.greedy)
	t.Run("passes follow the probability", s.share)
	t.Run("passes follow the distribution", s.chooser)
	t.Run("tactics", s.tactics)
	t.Run("quote", s.quote)
	t.Run("concurrent use", s.concurrent)
	t.Run("nothing to judge", s.nothing)
	t.Run("cancelled", s.cancelled)
}

type suite struct {
	newDetector func(*testing.T) detect.Detector
	item        detect.Item
}

var paper = vote.Sampling{Temperature: 0.6, TopP: 0.95}

// ready returns a detector and the item prepared by it.
func (s suite) ready(t *testing.T) (detect.Detector, detect.Item) {
	t.Helper()
	d, item := s.newDetector(t), s.item
	item.Prepared = nil
	prepared, err := d.Prepare(t.Context(), item)
	if err != nil {
		t.Fatalf("Prepare: %v", err)
	}
	item.Prepared = prepared
	return d, item
}

func decide(t *testing.T, d detect.Detector, item detect.Item, pass detect.Pass) detect.Decision {
	t.Helper()
	got, err := d.Decide(t.Context(), item, pass)
	if err != nil {
		t.Fatalf("Decide: %v", err)
	}
	checkDecision(t, got)
	return got
}

func checkDecision(t *testing.T, got detect.Decision) {
	t.Helper()
	switch got.Vote {
	case vote.VoteYes, vote.VoteNo:
		if got.Method != vote.Constrained && got.Method != vote.Parsed && got.Method != vote.Fallback {
			t.Errorf("vote %s by method %q", got.Vote, got.Method)
		}
	case vote.VoteInvalid:
		if got.Method != vote.Failed {
			t.Errorf("INVALID by method %q, want %q", got.Method, vote.Failed)
		}
	default:
		t.Errorf("vote %q", got.Vote)
	}
	checkMass(t, "p(YES)", got.PYes)
}

func checkMass(t *testing.T, name string, m vote.Mass) {
	t.Helper()
	if m.P < 0 || m.P > vote.One {
		t.Errorf("%s = %d, outside 0 to %d", name, m.P, vote.One)
	}
}

func (s suite) identity(t *testing.T) {
	first, err := s.newDetector(t).Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.newDetector(t).Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first != second {
		t.Errorf("two detectors, two identities:\n%+v\n%+v", first, second)
	}
	if first.Detector == "" || first.Model == "" || first.Fingerprint == "" || first.Method == "" {
		t.Errorf("incomplete: %+v", first)
	}
}

func (s suite) prepared(t *testing.T) {
	_, first := s.ready(t)
	_, second := s.ready(t)
	if len(first.Prepared) > maxPrepared {
		t.Errorf("%d bytes, at most %d are allowed", len(first.Prepared), maxPrepared)
	}
	if diff := cmp.Diff(string(first.Prepared), string(second.Prepared)); diff != "" {
		t.Errorf("prepared twice, two results:\n%s", diff)
	}
}

func (s suite) seeds(t *testing.T) {
	d, item := s.ready(t)
	for seed := range int64(8) {
		first := decide(t, d, item, detect.Pass{Seed: seed, Sampling: paper})
		again := decide(t, d, item, detect.Pass{Seed: seed, Sampling: paper})
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("seed %d, two decisions:\n%s", seed, diff)
		}
	}
}

func (s suite) greedy(t *testing.T) {
	d, item := s.ready(t)
	first := decide(t, d, item, detect.Pass{})
	for seed := range int64(8) {
		if got := decide(t, d, item, detect.Pass{Seed: seed}); got.Vote != first.Vote {
			t.Errorf("temperature 0, seed %d: %s, want %s as with seed 0", seed, got.Vote, first.Vote)
		}
	}
}

// share checks that different seeds differ where the probability leaves room:
// at temperature 2 the odds shrink to their square root.
func (s suite) share(t *testing.T) {
	d, item := s.ready(t)
	p := decide(t, d, item, detect.Pass{}).PYes.P
	if p < vote.One/10 || p > vote.One*9/10 {
		t.Skip("nothing to draw")
	}
	votes := map[vote.Vote]int{}
	for seed := range int64(100) {
		votes[decide(t, d, item, detect.Pass{Seed: seed, Sampling: vote.Sampling{Temperature: 2, TopP: 1}}).Vote]++
	}
	if votes[vote.VoteYes] == 0 || votes[vote.VoteNo] == 0 {
		t.Errorf("100 seeds at p(YES) = %d and temperature 2 gave only %v", p, votes)
	}
}

func (s suite) tactics(t *testing.T) {
	d, item := s.ready(t)
	scores, err := d.ScoreTactics(t.Context(), item)
	if err != nil {
		t.Fatal(err)
	}
	checkTactics(t, scores)
	again, err := d.ScoreTactics(t.Context(), item)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scores, again); diff != "" {
		t.Errorf("scored twice, two results:\n%s", diff)
	}
}

func checkTactics(t *testing.T, scores detect.TacticScores) {
	t.Helper()
	options := tactic.Options()
	if len(scores.Masses) != len(options) {
		t.Fatalf("%d masses, want %d", len(scores.Masses), len(options))
	}
	if scores.Method == "" {
		t.Error("no method")
	}
	var sum vote.Nano
	for i, m := range scores.Masses {
		checkMass(t, string(options[i]), m)
		if m.Observed {
			sum += m.P
		}
	}
	if sum > vote.One+vote.Nano(len(options)) { // each is rounded
		t.Errorf("the masses add up to %d, more than %d", sum, vote.One)
	}
	for _, name := range scores.LowConfidence {
		if _, err := tactic.Parse(name); err != nil {
			t.Errorf("low confidence: %v", err)
		}
	}
}

func (s suite) quote(t *testing.T) {
	d, item := s.ready(t)
	for attempt := range 2 {
		req := detect.QuoteRequest{Attempt: attempt, Tactic: tactic.Intimidation}
		first, err := d.Quote(t.Context(), item, req)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := d.Quote(t.Context(), item, req); err != nil || again != first {
			t.Errorf("quoted twice: %+v and %+v, %v", first, again, err)
		}
		if first.Start < 0 || first.End < first.Start {
			t.Errorf("quote from %v s to %v s", first.Start, first.End)
		}
	}
}

func (s suite) concurrent(t *testing.T) {
	d, item := s.ready(t)
	want := decide(t, d, item, detect.Pass{Seed: 1, Sampling: paper})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			fresh := item
			fresh.Prepared = nil
			prepared, err := d.Prepare(t.Context(), fresh)
			if err != nil || string(prepared) != string(item.Prepared) {
				t.Errorf("Prepare: %q, %v", prepared, err)
			}
			got, err := d.Decide(t.Context(), item, detect.Pass{Seed: 1, Sampling: paper})
			if err != nil || got != want {
				t.Errorf("Decide: %+v, %v; want %+v", got, err, want)
			}
			if _, err := d.ScoreTactics(t.Context(), item); err != nil {
				t.Errorf("ScoreTactics: %v", err)
			}
		})
	}
	group.Wait()
}

// nothing gives the detector an item without turns, words or samples. It may
// answer, or be INVALID; an error must not come of it.
func (s suite) nothing(t *testing.T) {
	d := s.newDetector(t)
	empty := detect.Item{ID: s.item.ID, Modality: s.item.Modality}
	if s.item.Audio != nil {
		empty.Audio = func(context.Context) (audio.PCM, error) { return audio.PCM{Rate: 16_000}, nil }
	}
	if s.item.Transcript != nil {
		empty.Transcript = func(context.Context) (recognize.Transcript, error) {
			return recognize.Transcript{Words: []recognize.Word{}}, nil
		}
	}
	prepared, err := d.Prepare(t.Context(), empty)
	if err != nil {
		t.Fatalf("Prepare: %v", err)
	}
	empty.Prepared = prepared
	decide(t, d, empty, detect.Pass{Seed: 1, Sampling: paper})
	scores, err := d.ScoreTactics(t.Context(), empty)
	if err != nil {
		t.Fatalf("ScoreTactics: %v", err)
	}
	checkTactics(t, scores)
	if quote, err := d.Quote(t.Context(), empty, detect.QuoteRequest{}); err != nil || quote.Quote != "" {
		t.Errorf("quote of nothing: %+v, %v", quote, err)
	}
}

func (s suite) cancelled(t *testing.T) {
	d, item := s.ready(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fresh := item
	fresh.Prepared = nil
	_, prepare := d.Prepare(ctx, fresh)
	_, decision := d.Decide(ctx, item, detect.Pass{Seed: 1, Sampling: paper})
	_, tactics := d.ScoreTactics(ctx, item)
	_, quote := d.Quote(ctx, item, detect.QuoteRequest{})
	for name, err := range map[string]error{"Prepare": prepare, "Decide": decision, "ScoreTactics": tactics, "Quote": quote} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
}
