package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// chooser can tell its distribution.
type chooser struct {
	*detector
	yes vote.Nano
	why error // of CheckChoose
	not error // of Choose
}

func (c *chooser) CheckChoose(context.Context, vote.Sampling) error { return c.why }

func (c *chooser) Choose(_ context.Context, item detect.Item, sampling vote.Sampling) (detect.Choice, error) {
	c.note(item)
	if sampling != unchanged {
		return detect.Choice{}, fmt.Errorf("asked under %+v", sampling)
	}
	return detect.Choice{Yes: c.yes}, c.not
}

// speaker can be asked in words.
type speaker struct{ *detector }

func (s *speaker) Verbalize(_ context.Context, item detect.Item) (detect.Decision, error) {
	s.note(item)
	return detect.Decision{Vote: vote.VoteNo, Method: vote.Fallback, PYes: vote.Mass{P: 1, Observed: true}}, nil
}

// vary stores a measurement of the fixture's one item, judged by its text, and
// notes the detectors that are wanted for it.
func (f *fixture) vary(t *testing.T, d detect.Detector, variations ...evaluation.Variation) (ask func(variation int) (VariantResult, error), wanted *[]string) {
	t.Helper()
	wanted = &[]string{}
	f.detection.Detectors = func(ctx context.Context, w Wanted) (detect.Detector, error) {
		shown, err := w.Load(ctx)
		var ids []string
		for _, e := range shown {
			ids = append(ids, e.ID+" "+e.Turns[0].Text)
		}
		*wanted = append(*wanted, strings.TrimSpace(w.Order+" "+strings.Join(ids, ", ")))
		return d, err
	}
	ref := put(t, f.store, evaluation.SensitivityKey("x"), evaluation.Sensitivity{
		Evaluation: "e", Manifest: f.task.Manifest, Engines: f.task.Engines, Modality: detect.Text,
		Items: []evaluation.SensitivityItem{{Item: f.task.Item}}, Variations: variations,
	})
	return func(variation int) (VariantResult, error) {
		return run[VariantResult](t, f.detection.AskVariant, VariantTask{Sensitivity: ref, Variation: variation})
	}, wanted
}

func TestAskVariant(t *testing.T) {
	own := evaluation.Variation{Name: "own", Order: "ab"}
	words := evaluation.Variation{Name: "words", Order: "ab", Words: true}
	for name, test := range map[string]struct {
		detector  func(*detector) detect.Detector
		variation evaluation.Variation
		want      evaluation.Variant
		calls     int // 0 is one
	}{
		"greedy": {
			func(d *detector) detect.Detector { return d }, own,
			evaluation.Variant{Vote: vote.VoteYes, PYes: vote.Mass{P: 900_000_000, Observed: true}, Method: "greedy"}, 0,
		},
		"analytic": {
			func(d *detector) detect.Detector { return &chooser{detector: d, yes: 400_000_000} }, own,
			evaluation.Variant{Vote: vote.VoteNo, PYes: vote.Mass{P: 400_000_000, Observed: true}, Method: "analytic"}, 0,
		},
		"exactly even": {
			func(d *detector) detect.Detector { return &chooser{detector: d, yes: vote.One / 2} }, own,
			evaluation.Variant{Vote: vote.VoteInvalid, PYes: vote.Mass{P: vote.One / 2, Observed: true}, Method: "analytic"}, 0,
		},
		"greedy where the distribution can't be told": {
			func(d *detector) detect.Detector {
				return &chooser{detector: d, why: fault.Permanentf("choose", "analytic_impossible", "no")}
			}, own,
			evaluation.Variant{Vote: vote.VoteYes, PYes: vote.Mass{P: 900_000_000, Observed: true}, Method: "greedy"}, 0,
		},
		"greedy where it can't be told of this item": {
			func(d *detector) detect.Detector {
				return &chooser{detector: d, not: fault.Permanentf("choose", "analytic_impossible", "no")}
			}, own,
			evaluation.Variant{Vote: vote.VoteYes, PYes: vote.Mass{P: 900_000_000, Observed: true}, Method: "greedy"}, 2,
		},
		"in words": {
			func(d *detector) detect.Detector { return &speaker{d} }, words,
			evaluation.Variant{Vote: vote.VoteNo, PYes: vote.Mass{P: 1, Observed: true}, Method: "words"}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			ask, _ := f.vary(t, test.detector(f.detector), test.variation)
			for _, made := range []bool{true, false} {
				got, err := ask(0)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(VariantResult{Variant: test.want, Made: made}, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			if f.detector.calls != max(test.calls, 1) || f.detector.items[0].Audio != nil || len(f.detector.items[0].Turns) != len(quarrel.Turns) {
				t.Errorf("%d calls with %+v", f.detector.calls, f.detector.items)
			}
		})
	}
}

// Every variation is a question of its own, asked of a detector of its own.
func TestVariationsDiffer(t *testing.T) {
	f := newFixture(t, func(s *evaluation.Spec) { s.Detection.OptionOrder = "ab" })
	exemplar := func(id string, v vote.Vote) evaluation.Exemplar {
		return evaluation.Exemplar{Item: f.task.Item, Exemplar: vote.Exemplar{ID: id, Vote: v}}
	}
	first, second := exemplar("1", vote.VoteNo), exemplar("2", vote.VoteYes)
	usual := put(t, f.store, evaluation.ShownKey("a"), []evaluation.Exemplar{first, second})
	turned := put(t, f.store, evaluation.ShownKey("b"), []evaluation.Exemplar{second, first})
	f.task.Engines = f.saveEngines(t, evaluation.Engines{Detector: standIn, Exemplars: usual})
	ask, wanted := f.vary(t, &speaker{f.detector},
		evaluation.Variation{Order: "ab", Exemplars: usual},
		evaluation.Variation{Order: "ba", Exemplars: usual},
		evaluation.Variation{Order: "ab", Exemplars: usual, Words: true},
	)
	for i := range 3 {
		if got, err := ask(i); err != nil || !got.Made {
			t.Errorf("variation %d: %+v, %v", i, got, err)
		}
	}
	const own = "ab 1 You never listen., 2 You never listen."
	if diff := cmp.Diff([]string{own, own, own, "ba" + own[2:], own, own}, *wanted); diff != "" {
		t.Errorf("detectors (-want +got):\n%s", diff)
	}
	ask, wanted = f.vary(t, f.detector, evaluation.Variation{Order: "ab", Exemplars: turned})
	if _, err := ask(0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{own, "ab 2 You never listen., 1 You never listen."}, *wanted); diff != "" {
		t.Errorf("detectors (-want +got):\n%s", diff)
	}
}

// A fault that passes is no reason to answer by another method: that answer would
// be stored.
func TestAskVariantWaitsForTheDistribution(t *testing.T) {
	away := &fault.Error{Kind: fault.Transient, Op: "probe", Code: "connection", Err: errors.New("connection reset")}
	for name, c := range map[string]*chooser{"checked": {why: away}, "asked": {not: away}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			c.detector = f.detector
			ask, _ := f.vary(t, c, evaluation.Variation{Order: "ab"})
			_, err := ask(0)
			failedWith(t, err, "connection", true)
			for entry, err := range f.store.List(t.Context(), "passes/") {
				t.Errorf("%q is stored (%v)", entry.Key, err)
			}
		})
	}
}

func TestAskVariantFails(t *testing.T) {
	f := newFixture(t, nil)
	ask, _ := f.vary(t, f.detector, evaluation.Variation{Order: "ab"}, evaluation.Variation{Order: "ab", Words: true})
	_, err := ask(1)
	failedWith(t, err, "no_words", false)
	_, err = ask(2)
	failedWith(t, err, "bad_input", false)

	other := standIn
	other.Fingerprint = "another build"
	f.task.Engines = f.saveEngines(t, evaluation.Engines{Detector: other})
	ask, _ = f.vary(t, f.detector, evaluation.Variation{Order: "ab"})
	_, err = ask(0)
	failedWith(t, err, "detector_changed", false)
	if f.detector.calls != 0 {
		t.Errorf("%d calls", f.detector.calls)
	}
	for entry, err := range f.store.List(t.Context(), "passes/") {
		t.Errorf("%q is stored (%v)", entry.Key, err)
	}
}
