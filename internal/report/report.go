// Package report builds the report of an evaluation from what is stored of it,
// and writes it as text, JSON and CSV.
package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Schema names the shape of the report's JSON.
const Schema = "speechmanip.report/1"

// Input is everything that is stored of an evaluation.
type Input struct {
	Manifest evaluation.Manifest
	Engines  evaluation.Engines
	Seen     detect.Seen
	Records  []evaluation.Record // any order
}

// Report is what an evaluation found. The embedded result is of the headline
// items: those with truth that the detector has not seen; when it has seen all
// of them there are none, and Contaminated says so.
type Report struct {
	Schema     string `json:"schema"`
	Evaluation string `json:"evaluation"`
	Note       string `json:"note,omitempty"`

	Items   int `json:"items"`   // dialogues in the manifest
	Pending int `json:"pending"` // of those, without a record yet

	score.Result

	Unlabelled []VerdictCount        `json:"unlabelled_verdicts"` // on items without truth
	Failures   []Failure             `json:"failures"`
	Exemplars  []evaluation.Excluded `json:"exemplars"` // left out of all figures
	Seen       Seen                  `json:"seen"`
	Passes     Passes                `json:"passes"`
	Tactics    Tactics               `json:"tactics"`
	Quality    Quality               `json:"quality"`
	Usage      evaluation.Usage      `json:"usage"` // of all records, exemplars too
	Settings   Settings              `json:"settings"`

	Dialogues []Dialogue `json:"dialogues"` // by id
}

// VerdictCount counts one verdict.
type VerdictCount struct {
	Verdict vote.Verdict `json:"verdict"`
	Count   int          `json:"count"`
}

// Failure is a dialogue without a verdict.
type Failure struct {
	ID string `json:"id"`
	evaluation.Failure
}

// Seen is the result on items that the detector was trained or tuned on.
type Seen struct {
	N            int           `json:"n"`
	IDs          []string      `json:"ids"`
	Contaminated bool          `json:"contaminated"` // some of the evaluated items were seen
	Result       *score.Result `json:"result,omitempty"`
}

// Passes counts how the decision passes came to their votes.
type Passes struct {
	Constrained int `json:"constrained"`
	Fallback    int `json:"fallback"`
	Invalid     int `json:"invalid"`
	Missing     int `json:"missing"`
}

// Tactics says how tactics were found; the tables are in the result.
type Tactics struct {
	Draw          vote.DrawRule     `json:"draw"`
	Methods       []string          `json:"methods"`
	LowConfidence []string          `json:"low_confidence"` // tactics that the detector is known to miss
	All           score.TacticTable `json:"all"`            // of every YES, whatever its truth
}

// Settings is everything that made the result.
type Settings struct {
	Spec    evaluation.Spec    `json:"spec"`
	Engines evaluation.Engines `json:"engines"`
}

// Dialogue is one dialogue's line of the report.
type Dialogue struct {
	evaluation.Record
	Seen    bool     `json:"seen"`
	Flagged []string `json:"flagged,omitempty"` // why its clip is flagged
}

// Build builds the report. It fails when a record is another evaluation's or
// stands twice.
func Build(in Input) (Report, error) {
	records := slices.Clone(in.Records)
	slices.SortFunc(records, func(a, b evaluation.Record) int { return cmp.Compare(a.ID, b.ID) })
	for i, r := range records {
		if r.Evaluation != in.Manifest.Spec.ID {
			return Report{}, fmt.Errorf("build report: a record of evaluation %q, not %q", r.Evaluation, in.Manifest.Spec.ID)
		}
		if i > 0 && r.ID == records[i-1].ID {
			return Report{}, fmt.Errorf("build report: two records of dialogue %q", r.ID)
		}
	}
	if len(records) > in.Manifest.Items {
		return Report{}, fmt.Errorf("build report: %d records for %d dialogues", len(records), in.Manifest.Items)
	}
	out := Report{
		Schema:     Schema,
		Evaluation: in.Manifest.Spec.ID,
		Note:       in.Manifest.Spec.Note,
		Items:      in.Manifest.Items,
		Pending:    in.Manifest.Items - len(records),
		Failures:   []Failure{},
		Exemplars:  append([]evaluation.Excluded{}, in.Manifest.Exemplars...),
		Dialogues:  []Dialogue{},
		Settings:   Settings{Spec: in.Manifest.Spec, Engines: in.Engines},
		Tactics:    Tactics{Draw: in.Manifest.Spec.Rules.TacticDraw, Methods: []string{}, LowConfidence: []string{}},
		Seen:       Seen{IDs: []string{}},
	}
	seen := newSeenSet(in.Seen)
	exemplars := findExemplars(records, in.Manifest)
	for _, r := range records {
		out.Usage.Add(r.Usage)
		if reason := exemplars.reason(r); reason != "" {
			out.exclude(r.ID, reason)
			continue
		}
		out.Dialogues = append(out.Dialogues, Dialogue{Record: r, Seen: seen.has(r)})
	}
	out.collect()
	out.Quality = measureQuality(out.Dialogues, in.Manifest.Spec.Quality)
	out.scoreItems()
	return out, nil
}

// exclude names an exemplar that was evaluated although none should be.
func (r *Report) exclude(id, reason string) {
	if !slices.ContainsFunc(r.Exemplars, func(e evaluation.Excluded) bool { return e.ID == id }) {
		r.Exemplars = append(r.Exemplars, evaluation.Excluded{ID: id, Reason: reason})
	}
}

// collect gathers what is counted over all dialogues.
func (r *Report) collect() {
	for _, d := range r.Dialogues {
		if d.Seen {
			r.Seen.IDs = append(r.Seen.IDs, d.ID)
		}
		if d.Failure != nil {
			r.Failures = append(r.Failures, Failure{ID: d.ID, Failure: *d.Failure})
			continue
		}
		r.Passes.Constrained += d.Verdict.Constrained
		r.Passes.Fallback += d.Verdict.Fallback
		r.Passes.Invalid += d.Verdict.Invalid
		r.Passes.Missing += d.Verdict.Missing
		if d.Scores != nil {
			r.Tactics.Methods = union(r.Tactics.Methods, d.Scores.Method)
			r.Tactics.LowConfidence = union(r.Tactics.LowConfidence, d.Scores.LowConfidence...)
		}
	}
	r.Seen.N = len(r.Seen.IDs)
	r.Seen.Contaminated = r.Seen.N > 0
}

// union adds the values that are not in list yet.
func union(list []string, values ...string) []string {
	for _, v := range values {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// scoreItems scores unseen and seen items apart, and the unseen ones with and
// without the flagged clips.
func (r *Report) scoreItems() {
	items := make([]score.Item, len(r.Dialogues))
	var unflagged []score.Item
	var tactics []tactic.Tactic
	for i, d := range r.Dialogues {
		items[i] = item(d)
		if len(d.Flagged) == 0 && !d.Seen {
			unflagged = append(unflagged, items[i])
		}
		if d.Failure == nil && d.Verdict.Verdict == vote.Yes {
			tactics = append(tactics, items[i].Tactic)
		}
	}
	unseen, seen := score.Split(items)
	r.Result = score.Score(unseen)
	r.Unlabelled = countUnlabelled(unseen)
	r.Tactics.All = score.Table(tactics)
	if len(seen) > 0 {
		result := score.Score(seen)
		r.Seen.Result = &result
	}
	if len(r.Quality.Flagged) > 0 {
		result := score.Score(unflagged)
		r.Quality.WithoutFlagged = &result
	}
}

func item(d Dialogue) score.Item {
	it := score.Item{
		ID:      d.ID,
		Truth:   d.Truth,
		Tactics: d.Record.Tactics,
		Verdict: d.Verdict.Verdict,
		Seen:    d.Seen,
		Failed:  d.Failure != nil,
	}
	if d.Tactic != nil {
		it.Tactic = d.Tactic.Tactic
	}
	return it
}

func countUnlabelled(items []score.Item) []VerdictCount {
	counts := []VerdictCount{}
	for _, verdict := range []vote.Verdict{vote.Yes, vote.No, vote.Unresolved} {
		n := 0
		for _, it := range items {
			if it.Truth == dialogue.Unknown && !it.Failed && it.Verdict == verdict {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, VerdictCount{verdict, n})
		}
	}
	return counts
}
