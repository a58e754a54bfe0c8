package trend

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

var due = time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)

// judged is a record whose passes all say the verdict, with that probability of YES.
func judged(id string, truth dialogue.Truth, v vote.Verdict, p float64) evaluation.Record {
	r := evaluation.Record{ID: id, Truth: truth, TextHash: "text of " + id, Clip: objectstore.Ref{Key: "clips/" + id, SHA256: "clip of " + id}}
	r.Verdict.Verdict = v
	for i := range 5 {
		pass := evaluation.PassRecord{Pass: vote.Pass{Index: i, Vote: vote.Vote(v)}}
		if p >= 0 {
			pass.PYes = vote.Mass{P: vote.Nano(p * 1e9), Observed: true}
		}
		r.Passes = append(r.Passes, pass)
	}
	return r
}

// unchanged are reports that many tests begin with: each takes a while.
var unchanged sync.Map

// evaluated is an evaluation of n dialogues of each truth of which found say the truth.
func evaluated(t *testing.T, id string, n, found int, change func(*report.Input)) report.Report {
	t.Helper()
	key := fmt.Sprint(id, n, found)
	if known, ok := unchanged.Load(key); ok && change == nil {
		return known.(report.Report)
	}
	in := report.Input{
		Manifest: evaluation.Manifest{Items: 2 * n, Spec: evaluation.Spec{
			ID: id, Dataset: evaluation.Dataset{Name: "set"}, Rules: vote.Paper(),
			Detection: evaluation.Detection{Detector: "chat", ModelName: "m", Modality: detect.Audio},
		}},
		Engines: evaluation.Engines{Detector: detect.Identity{Detector: "chat", Model: "m", Fingerprint: "f"}},
		Facts:   []detect.Fact{{Name: "fingerprint", Value: "f"}, {Name: "context", Value: "4096 tokens"}},
	}
	in.Manifest.Spec.Rules.ExemplarIDs = nil
	for i := range n {
		for truth, other := range map[vote.Verdict]vote.Verdict{vote.Yes: vote.No, vote.No: vote.Yes} {
			says := truth
			if i >= found {
				says = other
			}
			r := judged(fmt.Sprintf("%s-%03d", truth, i), dialogue.Truth(truth), says, 0.9)
			r.Evaluation = id
			in.Records = append(in.Records, r)
		}
	}
	if change != nil {
		change(&in)
	}
	built, err := report.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	if change == nil {
		unchanged.Store(key, built)
	}
	return built
}

func look(t *testing.T, number, found int, change func(*report.Input)) Look {
	t.Helper()
	return Look{
		Schedule: evaluation.Schedule{ID: "nightly", Baseline: "base", Limits: []evaluation.LossLimit{{Metric: score.MetricRecall, Allowed: 0.05}}, Shift: 0.02},
		Firing:   evaluation.Firing{Schedule: "nightly", Evaluation: "nightly-1", Due: due},
		Number:   number,
		Baseline: evaluated(t, "base", 40, 36, nil),
		Now:      evaluated(t, "nightly-1", 40, found, change),
	}
}

// However long a schedule lives, all that is spent stays below the total.
func TestSpend(t *testing.T) {
	sum := 0.0
	for k := 1; k <= 100_000; k++ {
		sum += Spend(0.05, k)
	}
	if math.Abs(sum-0.05*100_000/100_001) > 1e-12 || sum >= 0.05 {
		t.Errorf("spent %v", sum)
	}
	if got := Spend(0.05, 1); got != 0.025 {
		t.Errorf("on the first look %v", got)
	}
}

// The same loss is shown at the first looks, and not at one that many went before.
func TestRegressionCorrectsForLooks(t *testing.T) {
	for number, want := range map[int]evaluation.Regression{1: evaluation.RegressionShown, 3: evaluation.RegressionShown, 100: evaluation.RegressionNone} {
		got := look(t, number, 24, nil).Outcome()
		if got.Regression != want {
			t.Errorf("look %d: %s, %+v", number, got.Regression, got.Against[0].Checks)
		}
		check := got.Against[0].Checks[0]
		if level := 1 - Spend(0.05, number)/2; math.Abs(check.Confidence-level) > 1e-15 {
			t.Errorf("look %d: confidence %v, want %v", number, check.Confidence, level)
		}
	}
	if got := look(t, 1, 36, nil).Outcome(); got.Regression != evaluation.RegressionNone || got.Against[0].Paired != 80 || got.Against[0].Flips != 0 {
		t.Errorf("unchanged: %+v", got)
	}
}

// A loss since the look before is one too, and what can't be checked says why.
func TestAgainst(t *testing.T) {
	l := look(t, 2, 36, nil)
	better := evaluated(t, "nightly-0", 40, 40, nil)
	l.Before = &better
	l.Schedule.Limits[0].Allowed = 0
	got := l.Outcome()
	if len(got.Against) != 2 || got.Against[1].Evaluation != "nightly-0" || got.Against[1].Baseline || got.Against[1].Flips != 8 {
		t.Fatalf("%+v", got.Against)
	}
	if got.Against[0].Checks[0].Lost.Value != 0 || got.Against[1].Checks[0].Lost.Value != 0.1 {
		t.Errorf("lost %+v", got.Against)
	}
	l.Schedule.Limits = append(l.Schedule.Limits, evaluation.LossLimit{Metric: score.MetricSpecificity})
	l.Before, l.Baseline = nil, evaluated(t, "base", 40, 36, func(in *report.Input) {
		for i := range in.Records {
			in.Records[i].Truth = dialogue.Yes
		}
	})
	if got := l.Outcome(); got.Regression != evaluation.RegressionUnchecked || len(got.Against[0].Unchecked) != 1 {
		t.Errorf("%+v", got)
	}
	l.Baseline = evaluated(t, "other", 40, 36, func(in *report.Input) {
		for i := range in.Records {
			in.Records[i].TextHash = "another text"
		}
	})
	if got := l.Outcome(); got.Regression != evaluation.RegressionUnchecked || len(got.Against[0].Unchecked) != 1 || got.Drift.Data.Other != 80 {
		t.Errorf("%+v", got)
	}
}

func canary(answers ...evaluation.Answer) []evaluation.CanaryItem {
	var out []evaluation.CanaryItem
	for i, a := range answers {
		out = append(out, evaluation.CanaryItem{Item: evaluation.Item{ID: fmt.Sprint(i)}, Answer: a})
	}
	return out
}

func certain(p float64) evaluation.Answer {
	return evaluation.Answer{P: vote.Mass{P: vote.Nano(p * 1e9), Observed: true}}
}

// The canary alone says that the model changed, the hashes alone that the data did.
func TestDriftTellsModelFromData(t *testing.T) {
	otherText := func(in *report.Input) { in.Records[3].TextHash = "another text" }
	lostClip := func(in *report.Input) { in.Records[3].Clip.SHA256 = "another clip" }
	gone := func(in *report.Input) { in.Records = in.Records[1:]; in.Manifest.Items-- }
	newServer := func(in *report.Input) {
		in.Engines.Detector.Fingerprint, in.Facts[0].Value, in.Facts[1].Value = "g", "g", "8192 tokens"
	}
	for _, test := range []struct {
		name   string
		p      float64
		change func(*report.Input)
		cause  evaluation.Cause
		data   evaluation.DataChange
	}{
		{"nothing", 0.9, nil, evaluation.CauseNone, evaluation.DataChange{}},
		{"noise", 0.905, nil, evaluation.CauseNone, evaluation.DataChange{}},
		{"the model", 0.8, nil, evaluation.CauseModel, evaluation.DataChange{}},
		{"another text", 0.9, otherText, evaluation.CauseData, evaluation.DataChange{Other: 1}},
		{"another clip", 0.9, lostClip, evaluation.CauseData, evaluation.DataChange{Other: 1}},
		{"a dialogue is gone", 0.9, gone, evaluation.CauseData, evaluation.DataChange{Missing: 1}},
		{"both", 0.8, otherText, evaluation.CauseBoth, evaluation.DataChange{Other: 1}},
		{"no answer", -1, otherText, evaluation.CauseUnknown, evaluation.DataChange{Other: 1}},
		{"a server that answers alike", 0.9, newServer, evaluation.CauseNone, evaluation.DataChange{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := look(t, 1, 36, test.change)
			l.Schedule.Canary = canary(certain(0.9), certain(0.9))
			if test.p >= 0 {
				l.Canary = []evaluation.Record{judged("0", "", vote.Yes, test.p), judged("1", "", vote.Yes, test.p)}
			}
			got := l.Outcome().Drift
			if got.Cause != test.cause || got.Data != test.data {
				t.Errorf("%s, %+v, canary %+v", got.Cause, got.Data, got.Canary)
			}
			wantServer := 0
			if test.name == "a server that answers alike" {
				wantServer = 2
			}
			if len(got.Server) != wantServer {
				t.Errorf("server %+v", got.Server)
			}
			if got.Sentence() == "" {
				t.Error("nothing is said of it")
			}
		})
	}
}

// Where votes alone are known, the test is exact: against the hypergeometric chances
// of one clip and of three, worked out by hand.
func TestSameDistribution(t *testing.T) {
	c := func(n, k int) float64 { return float64(combin.Binomial(n, k)) }
	for name, test := range map[string]struct {
		clips []draws
		want  float64
	}{
		"the same":                  {[]draws{{3, 5, 3, 5}}, 1},
		"all against none":          {[]draws{{5, 5, 0, 5}}, 2 / c(10, 5)},
		"one that can't differ":     {[]draws{{5, 5, 0, 5}, {0, 5, 0, 5}}, 2 / c(10, 5)},
		"three, all against none":   {[]draws{{5, 5, 0, 5}, {0, 5, 5, 5}, {5, 5, 0, 5}}, math.Pow(2/c(10, 5), 3)},
		"four of five against none": {[]draws{{4, 5, 0, 5}}, 2 * c(5, 0) * c(5, 4) / c(10, 4)},
		"other numbers of votes":    {[]draws{{3, 3, 0, 4}}, 1 / c(7, 3)},
	} {
		if got := sameDistribution(test.clips); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Votes that were drawn until the label was settled prove nothing by their number.
func TestCanaryByVotes(t *testing.T) {
	s := evaluation.Schedule{Shift: 0.02, Canary: canary(evaluation.Answer{Yes: 5, Drawn: 5}, evaluation.Answer{Yes: 5, Drawn: 5}, evaluation.Answer{Drawn: 5}, evaluation.Answer{})}
	now := []evaluation.Record{judged("0", "", vote.No, -1), judged("1", "", vote.No, -1), judged("2", "", vote.Yes, -1), judged("3", "", vote.Yes, -1)}
	got := CompareCanary(s, now, vote.VotesSampled, 1)
	if !got.Changed || got.Counted != 3 || got.Missing != 1 || got.Observed != 0 || got.Shift.Defined {
		t.Errorf("%+v", got)
	}
	if got := CompareCanary(s, now, vote.VotesEarlyStop, 1); got.Changed || got.Counted != 0 || got.Missing != 4 {
		t.Errorf("early stop: %+v", got)
	}
	now[0].Failure = &evaluation.Failure{Code: "gone"}
	if got := CompareCanary(s, now[:2], vote.VotesSampled, 1); got.Counted != 1 || got.Changed || got.Missing != 3 {
		t.Errorf("a failed one: %+v", got)
	}
}

func TestAnswerOf(t *testing.T) {
	mixed := judged("0", "", vote.Yes, 0.5)
	mixed.Passes[1].PYes = vote.Mass{}
	mixed.Passes[2].Vote = vote.VoteInvalid
	analytic := evaluation.Record{}
	analytic.Analytic = &evaluation.AnalyticRecord{Choice: detect.Choice{Yes: 1, PYes: vote.Mass{P: 7, Observed: true}}}
	for name, test := range map[string]struct {
		record evaluation.Record
		want   evaluation.Answer
	}{
		"probabilities":    {judged("0", "", vote.Yes, 0.5), evaluation.Answer{P: vote.Mass{P: 5e8, Observed: true}, Yes: 5, Drawn: 5}},
		"some and invalid": {mixed, evaluation.Answer{Yes: 4, Drawn: 4}},
		"analytic":         {analytic, evaluation.Answer{P: vote.Mass{P: 7, Observed: true}}},
		"none":             {evaluation.Record{}, evaluation.Answer{}},
	} {
		if diff := cmp.Diff(test.want, evaluation.AnswerOf(test.record, vote.VotesSampled)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
