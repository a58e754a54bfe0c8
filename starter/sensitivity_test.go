package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/vote"
	"github.com/speechmanip/speechmanip/workflows"
)

// judged returns yes YES, no NO and unknown unlabelled records, and a failed one of
// each truth.
func judged(yes, no, unknown int) []evaluation.Record {
	var all []evaluation.Record
	for _, stratum := range []struct {
		truth dialogue.Truth
		n     int
	}{{dialogue.Yes, yes}, {dialogue.No, no}, {dialogue.Unknown, unknown}} {
		all = append(all, evaluation.Record{ID: "failed" + string(stratum.truth), Truth: stratum.truth, Failure: &evaluation.Failure{}})
		for i := range stratum.n {
			all = append(all, evaluation.Record{ID: fmt.Sprintf("%s%d", stratum.truth, i), Truth: stratum.truth})
		}
	}
	return all
}

func TestDrawRecords(t *testing.T) {
	for _, test := range []struct {
		yes, no, unknown, n int
		want                map[dialogue.Truth]int
	}{
		{60, 40, 0, 10, map[dialogue.Truth]int{dialogue.Yes: 6, dialogue.No: 4}},
		{66, 34, 0, 10, map[dialogue.Truth]int{dialogue.Yes: 7, dialogue.No: 3}},
		{1, 1, 1, 2, map[dialogue.Truth]int{dialogue.Yes: 1, dialogue.No: 1}},
		{3, 2, 1, 99, map[dialogue.Truth]int{dialogue.Yes: 3, dialogue.No: 2, dialogue.Unknown: 1}},
		{0, 5, 0, 3, map[dialogue.Truth]int{dialogue.No: 3}},
		{0, 0, 0, 3, map[dialogue.Truth]int{}},
	} {
		records := judged(test.yes, test.no, test.unknown)
		place := map[string]int{}
		for i, r := range records {
			place[r.ID] = i
		}
		drawn := drawRecords(records, test.n, 1)
		got := map[dialogue.Truth]int{}
		for i, r := range drawn {
			got[r.Truth]++
			if r.Failure != nil || i > 0 && place[drawn[i-1].ID] >= place[r.ID] {
				t.Errorf("%+v: %s is at %d", test, r.ID, i)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test, diff)
		}
	}
	records := judged(60, 40, 0)
	if diff := cmp.Diff(drawRecords(records, 10, 1), drawRecords(judged(60, 40, 0), 10, 1)); diff != "" {
		t.Errorf("the same seed draws others:\n%s", diff)
	}
	if cmp.Equal(drawRecords(records, 10, 1), drawRecords(records, 10, 2)) {
		t.Error("another seed draws the same")
	}
}

func TestDrawOrders(t *testing.T) {
	orders := drawOrders(4, 23, 7)
	seen := map[string]bool{"1 2 3 4": true}
	for _, order := range orders {
		name := places(order)
		if seen[name] || len(order) != 4 {
			t.Errorf("order %s is the usual one, or drawn twice", name)
		}
		seen[name] = true
	}
	if len(seen) != 24 {
		t.Errorf("%d orders of 24", len(seen))
	}
	if diff := cmp.Diff(orders[:3], drawOrders(4, 3, 7)); diff != "" {
		t.Errorf("fewer orders are others:\n%s", diff)
	}
}

func TestVariations(t *testing.T) {
	store := mem.New()
	shown := []evaluation.Exemplar{{Exemplar: vote.Exemplar{ID: "a"}}, {Exemplar: vote.Exemplar{ID: "b"}}}
	ref, err := objectstore.PutJSON(t.Context(), store, "exemplars.json", shown, objectstore.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	few := evaluation.Spec{Detection: evaluation.Detection{Strategy: "few-shot", OptionOrder: "ba"}}
	got, err := sensitivityRequest{orders: 1, verbalizers: true}.variations(t.Context(), store, few, ref)
	if err != nil {
		t.Fatal(err)
	}
	turned := got[2].Exemplars
	want := []evaluation.Variation{
		{Name: "own setting", Order: "ba", Exemplars: ref},
		{Name: "option order ab", Order: "ab", Exemplars: ref},
		{Name: "exemplars 2 1", Order: "ba", Exemplars: turned},
		{Name: "YES or NO in words", Order: "ba", Exemplars: ref, Words: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stored, err := objectstore.GetJSON[[]evaluation.Exemplar](t.Context(), store, turned)
	if err != nil || len(stored) != 2 || stored[0].ID != "b" || stored[1].ID != "a" {
		t.Errorf("turned: %+v, %v", stored, err)
	}
	if _, err := (sensitivityRequest{orders: 2}).variations(t.Context(), store, few, ref); err == nil || !strings.Contains(err.Error(), "2 exemplars have 1 other orders") {
		t.Errorf("two of one other order: %v", err)
	}
	zero := evaluation.Spec{Detection: evaluation.Detection{Strategy: "zero-shot", OptionOrder: "both"}}
	if _, err := (sensitivityRequest{orders: 1}).variations(t.Context(), store, zero, objectstore.Ref{}); err == nil || !strings.Contains(err.Error(), "zero-shot shows no exemplars") {
		t.Errorf("no exemplars: %v", err)
	}
	got, err = sensitivityRequest{}.variations(t.Context(), store, zero, objectstore.Ref{})
	if err != nil || len(got) != 2 || got[0].Order != "ab" || got[1].Order != "ba" {
		t.Errorf("%+v, %v", got, err)
	}
}

func answer(v vote.Vote, yes vote.Nano) workflows.SensitivityAnswer {
	return workflows.SensitivityAnswer{Variant: evaluation.Variant{Vote: v, PYes: vote.Mass{P: yes, Observed: true}, Method: "analytic"}}
}

const sensitivityText = `sensitivity of e: zero-shot, modality audio; 4 dialogues (seed 3), 3 variations, 12 questions, 7 of them asked now

variation           YES share                    flips                        p(YES) shift  no answer  method
own setting         0.667 [0.208, 0.939] 2 of 3  -                            -             1          analytic
option order ba     0.333 [0.061, 0.792] 1 of 3  0.500 [0.095, 0.905] 1 of 2  -0.100        1          analytic
YES or NO in words  undefined                    undefined                    -             4          words

label range          0.333 to 0.667 YES
flipped by any       0.333 [0.061, 0.792] 1 of 3
own and the verdicts 0.667 [0.208, 0.939] 2 of 3 agree
in brackets: 95% Wilson intervals

option order ba: 1 failed, the first: too\u202e long

dialogues that flip
  b\x1b (truth unknown, verdict UNRESOLVED, own setting YES): option order ba
`

func TestSensitivityReport(t *testing.T) {
	verdict := func(id string, truth dialogue.Truth, v vote.Verdict) evaluation.Record {
		return evaluation.Record{ID: id, Truth: truth, Judgement: evaluation.Judgement{Verdict: vote.Outcome{Verdict: v}}}
	}
	m := measurement{records: []evaluation.Record{
		verdict("a", dialogue.Yes, vote.Yes), verdict("b\x1b", dialogue.Unknown, vote.Unresolved), verdict("c", dialogue.No, vote.No), verdict("d", dialogue.No, vote.No),
	}}
	m.spec.Detection.Strategy = "zero-shot"
	m.Evaluation, m.Modality, m.Items = "e", detect.Audio, make([]evaluation.SensitivityItem, 4)
	m.Variations = []evaluation.Variation{{Name: "own setting"}, {Name: "option order ba"}, {Name: "YES or NO in words"}}
	silence := workflows.SensitivityAnswer{Variant: evaluation.Variant{Vote: vote.VoteInvalid, Method: "words"}}
	result := workflows.SensitivityResult{Made: 7, Answers: [][]workflows.SensitivityAnswer{
		{answer(vote.VoteYes, 900_000_000), answer(vote.VoteYes, 600_000_000), answer(vote.VoteNo, 100_000_000), answer(vote.VoteInvalid, 500_000_000)},
		{answer(vote.VoteYes, 800_000_000), answer(vote.VoteNo, 400_000_000), {Failure: "too\u202e long"}, answer(vote.VoteNo, 500_000_000)},
		{silence, silence, silence, silence},
	}}
	report := m.report(sensitivityRequest{seed: 3}, result)
	var text strings.Builder
	if err := report.print(&text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sensitivityText, text.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	want := []flippedItem{{ID: "b\x1b", Verdict: vote.Unresolved, Own: vote.VoteYes, By: []string{"option order ba"}}}
	if diff := cmp.Diff(want, report.Flipped); diff != "" {
		t.Errorf("flipped (-want +got):\n%s", diff)
	}
}
