// Package report builds the report of an evaluation from what is stored of it,
// and writes it as text, JSON, CSV and a page.
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
	Facts    []detect.Fact         // what the detector found out about its server
	Shown    []evaluation.Exemplar // the exemplars as they were shown, with their clips where clips are heard
	// ShownTexts are the dialogue.TextHash values of Shown.
	ShownTexts []string
	Records    []evaluation.Record // any order
	Ended      evaluation.Ended    // the zero value while the evaluation goes on
}

// Report is what an evaluation found. The embedded result is of the headline
// items: those with truth that the detector has not seen; when it has seen all
// of them there are none, and Contaminated says so. Of an evaluation of both
// modalities the embedded parts are of the clips, and Modalities has the text's.
type Report struct {
	Schema     string `json:"schema"`
	Evaluation string `json:"evaluation"`
	Note       string `json:"note,omitempty"`

	Items   int `json:"items"`   // in the manifest: one a dialogue and casting
	Pending int `json:"pending"` // of those, without a record yet

	score.Result

	Unlabelled []VerdictCount        `json:"unlabelled_verdicts"` // on items without truth
	Failures   []Failure             `json:"failures"`
	Shown      []vote.Exemplar       `json:"shown"`     // exemplars in every prompt, in this order
	Exemplars  []evaluation.Excluded `json:"exemplars"` // left out of all figures
	LeftOut    []ReasonCount         `json:"left_out"`  // of Exemplars, by reason
	Seen       Seen                  `json:"seen"`
	Answers
	Measures
	Bootstrap     score.Bootstrap `json:"bootstrap"` // behind every interval that is not Wilson's
	Tests         []Test          `json:"tests"`     // all confirmatory ones
	Contamination Contamination   `json:"contamination"`
	Caveats       []string        `json:"caveats"`          // what every reader must know
	People        []People        `json:"people,omitempty"` // where annotations were given
	Truths        []Truths        `json:"truths,omitempty"` // by modality, where other truths were given

	// Scheduled is what a schedule's firing found against earlier ones.
	Scheduled *evaluation.Outcome `json:"scheduled,omitempty"`

	Modalities *Modalities      `json:"modalities,omitempty"`    // of both
	Voices     *Voices          `json:"voice_effects,omitempty"` // where castings are known
	Quality    Quality          `json:"quality"`
	Usage      evaluation.Usage `json:"usage"`          // of all records, and of rendering the exemplars
	Cost       Cost             `json:"cost"`           // of Usage
	Took       *Took            `json:"took,omitempty"` // once it has ended
	Server     []detect.Fact    `json:"server"`
	Settings   Settings         `json:"settings"`

	Dialogues []Dialogue `json:"dialogues"` // by id, then casting
}

// VerdictCount counts one verdict.
type VerdictCount struct {
	Verdict vote.Verdict `json:"verdict"`
	Count   int          `json:"count"`
}

// ReasonCount counts the dialogues that were left out for one reason.
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Failure is a dialogue without a verdict.
type Failure struct {
	ID            string `json:"id"`
	CastingNumber int    `json:"casting_number,omitempty"`
	evaluation.Failure
}

// Seen is the result on items that the detector was trained or tuned on.
type Seen struct {
	N            int           `json:"n"`
	IDs          []string      `json:"ids"`
	Contaminated bool          `json:"contaminated"` // some of the evaluated items were seen
	Result       *score.Result `json:"result,omitempty"`
	// Tactics are those of every YES, whatever its truth, in the embedded modality.
	Tactics *score.TacticTable `json:"tactics,omitempty"`
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
	slices.SortFunc(records, func(a, b evaluation.Record) int { return a.Rendition().Compare(b.Rendition()) })
	for i, r := range records {
		if r.Evaluation != in.Manifest.Spec.ID {
			return Report{}, fmt.Errorf("build report: a record of evaluation %q, not %q", r.Evaluation, in.Manifest.Spec.ID)
		}
		if i > 0 && r.Rendition() == records[i-1].Rendition() {
			return Report{}, fmt.Errorf("build report: two records of dialogue %q%s", r.ID, evaluation.CastingLabel(r.CastingNumber))
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
		Shown:      []vote.Exemplar{},
		Exemplars:  append([]evaluation.Excluded{}, in.Manifest.Exemplars...),
		Dialogues:  []Dialogue{},
		Server:     append([]detect.Fact{}, in.Facts...),
		Settings:   Settings{Spec: in.Manifest.Spec, Engines: in.Engines},
		Seen:       Seen{IDs: []string{}},
		Bootstrap:  score.DefaultBootstrap(),
		Caveats:    caveats(),
	}
	for _, e := range in.Shown {
		out.Shown = append(out.Shown, in.Manifest.Spec.Rules.Shown(e.Exemplar))
	}
	out.Usage.Add(in.Engines.Rendering)
	seen := newSeenSet(in.Seen)
	exemplars := findExemplars(records, in)
	for _, r := range records {
		out.Usage.Add(r.Usage)
		if reason := exemplars.reason(r); reason != "" {
			out.exclude(r.ID, reason)
			continue
		}
		out.Dialogues = append(out.Dialogues, Dialogue{Record: r, Seen: seen.has(r)})
	}
	out.LeftOut = countReasons(out.Exemplars)
	out.Took = took(in.Manifest.Created, in.Ended)
	out.Cost = price(out.Usage, in.Manifest.Spec)
	for _, estimate := range in.Manifest.Estimates {
		out.Cost.Estimated = out.Cost.Estimated.Add(estimate)
	}
	out.collect()
	out.Quality = measureQuality(out.Dialogues, in.Manifest.Spec.Quality)
	rules := in.Manifest.Spec.Rules
	out.Answers = answers(out.Dialogues, first, rules)
	out.Voices = compareVoices(out.Dialogues, in.Manifest.Spec.Castings())
	out.scoreItems()
	if in.Manifest.Spec.Detection.Modality == evaluation.Both {
		out.Modalities = compareModalities(out.Dialogues, in.Manifest.Spec)
	}
	out.Measures = measure(out.Dialogues, first, out.Result, in.Manifest.Spec)
	out.Tests = confirm(out)
	out.Contamination = Contamination{Told: len(in.Seen.IDs)+len(in.Seen.TextHashes) > 0, Seen: out.Seen.N, Public: publicLabels}
	return out, nil
}

// exclude names an exemplar that was evaluated although none should be.
func (r *Report) exclude(id, reason string) {
	if !slices.ContainsFunc(r.Exemplars, func(e evaluation.Excluded) bool { return e.ID == id }) {
		r.Exemplars = append(r.Exemplars, evaluation.Excluded{ID: id, Reason: reason})
	}
}

// countReasons counts the most frequent reason first, equals by name.
func countReasons(excluded []evaluation.Excluded) []ReasonCount {
	counts := map[string]int{}
	for _, e := range excluded {
		counts[e.Reason]++
	}
	out := []ReasonCount{}
	for reason, n := range counts {
		out = append(out, ReasonCount{reason, n})
	}
	slices.SortFunc(out, func(a, b ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// collect lists what is seen and what failed.
func (r *Report) collect() {
	for _, d := range r.Dialogues {
		if d.Seen {
			r.Seen.IDs = union(r.Seen.IDs, d.ID)
			r.Seen.N++
		}
		if d.Failure != nil {
			r.Failures = append(r.Failures, Failure{ID: d.ID, CastingNumber: d.CastingNumber, Failure: *d.Failure})
		}
	}
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
	all := items(r.Dialogues, first)
	unseen, seen := score.Split(all)
	r.Result = score.Score(unseen)
	r.Unlabelled = countUnlabelled(unseen)
	if len(seen) > 0 {
		result, tactics := score.Score(seen), tacticsOf(seen)
		r.Seen.Result, r.Seen.Tactics = &result, &tactics
	}
	if len(r.Quality.Flagged) > 0 {
		var unflagged []score.Item
		for i, d := range r.Dialogues {
			if len(d.Flagged) == 0 && !d.Seen {
				unflagged = append(unflagged, all[i])
			}
		}
		result := score.Score(unflagged)
		r.Quality.WithoutFlagged = &result
	}
}

// items are the dialogues with what was decided about them in one modality.
func items(dialogues []Dialogue, judgement view) []score.Item {
	out := make([]score.Item, len(dialogues))
	for i, d := range dialogues {
		out[i] = score.Item{ID: d.ID, Truth: d.Truth, Tactics: d.Record.Tactics, Seen: d.Seen, Seconds: d.ClipSeconds}
		j := judgement(d)
		if j == nil {
			out[i].Failed = true
			continue
		}
		out[i].Verdict = j.Verdict.Verdict
		if j.Tactic != nil {
			out[i].Tactic = j.Tactic.Tactic
		}
	}
	return out
}

// tacticsOf counts the tactics of every YES, whatever its truth.
func tacticsOf(items []score.Item) score.TacticTable {
	var tactics []tactic.Tactic
	for _, it := range items {
		if !it.Failed && it.Verdict == vote.Yes {
			tactics = append(tactics, it.Tactic)
		}
	}
	return score.Table(tactics)
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
