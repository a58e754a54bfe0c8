package score

import (
	"cmp"
	"slices"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// TacticRow is one tactic's count, and its percentage of the table's N.
type TacticRow struct {
	Tactic  tactic.Tactic `json:"tactic"`
	Count   int           `json:"count"`
	Percent float64       `json:"percent"`
}

// TacticTable counts tactics: most frequent first, equals in inventory order,
// none that did not occur.
type TacticTable struct {
	N            int         `json:"n"` // what the percentages are of
	Rows         []TacticRow `json:"rows"`
	Undetermined int         `json:"undetermined"` // of N, without a tactic of the inventory
}

// CountTactics counts the tactics predicted for the clips of one truth that were
// called YES; N is their number.
func CountTactics(items []Item, truth dialogue.Truth) TacticTable {
	var predicted []tactic.Tactic
	for _, it := range items {
		if it.Truth == truth && !it.failed() && it.Verdict == vote.Yes {
			predicted = append(predicted, it.Tactic)
		}
	}
	return Table(predicted)
}

// TacticMentions counts every technique that dialogues are annotated with; N is
// the number of mentions.
func TacticMentions(dialogues []dialogue.Dialogue) TacticTable {
	var mentions []tactic.Tactic
	for _, d := range dialogues {
		mentions = append(mentions, d.Tactics...)
	}
	return Table(mentions)
}

// Table counts tactics.
func Table(tactics []tactic.Tactic) TacticTable {
	out := TacticTable{N: len(tactics), Rows: []TacticRow{}}
	counts := make([]int, len(tactic.Options()))
	for _, t := range tactics {
		if i := tactic.Index(t); i >= 0 {
			counts[i]++
		} else {
			out.Undetermined++
		}
	}
	for i, t := range tactic.Options() {
		if counts[i] > 0 {
			out.Rows = append(out.Rows, TacticRow{t, counts[i], 100 * float64(counts[i]) / float64(out.N)})
		}
	}
	slices.SortStableFunc(out.Rows, func(a, b TacticRow) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// TacticAccuracy says how often the predicted tactic is one of those named for
// the clip, among manipulative clips with named techniques.
type TacticAccuracy struct {
	Named       int       `json:"named"`       // such clips, failed ones included
	Conditional TacticHit `json:"conditional"` // of those called YES
	EndToEnd    TacticHit `json:"end_to_end"`  // of those with a verdict: NO and UNRESOLVED are misses
	Worst       Figure    `json:"worst"`       // end to end of Named, failed ones counted as misses
	Best        Figure    `json:"best"`        // end to end of Named, UNRESOLVED and failed ones counted as hits
}

// TacticHit is a hit rate, and what always predicting one tactic would reach on
// the same clips.
type TacticHit struct {
	Rate
	Constant     tactic.Tactic `json:"constant"` // the tactic named for most of them; "" without clips
	ConstantRate Rate          `json:"constant_rate"`
}

// MeasureTactics returns the tactic accuracy of items.
func MeasureTactics(items []Item) TacticAccuracy {
	var calledYes, judged []Item
	named, unresolved := 0, 0
	for _, it := range items {
		if it.Truth != dialogue.Yes || len(it.Tactics) == 0 {
			continue
		}
		named++
		if it.failed() {
			continue
		}
		judged = append(judged, it)
		switch it.Verdict {
		case vote.Yes:
			calledYes = append(calledYes, it)
		case vote.Unresolved:
			unresolved++
		}
	}
	out := TacticAccuracy{Named: named, Conditional: measureHits(calledYes), EndToEnd: measureHits(judged)}
	failed := named - len(judged)
	const reason = "no manipulative clip names a technique"
	out.Worst = ratio(out.EndToEnd.Hits, named, reason)
	out.Best = ratio(out.EndToEnd.Hits+unresolved+failed, named, reason)
	return out
}

func measureHits(items []Item) TacticHit {
	var trials []Trial
	counts := make([]int, len(tactic.All()))
	for _, it := range items {
		trials = append(trials, Trial{it.ID, it.Verdict == vote.Yes && slices.Contains(it.Tactics, it.Tactic)})
		for i, t := range tactic.All() {
			if slices.Contains(it.Tactics, t) {
				counts[i]++
			}
		}
	}
	out := TacticHit{Rate: Share(trials)}
	most := slices.Max(counts)
	if most > 0 {
		out.Constant = tactic.All()[slices.Index(counts, most)]
	}
	for i, it := range items {
		trials[i].Hit = most > 0 && slices.Contains(it.Tactics, out.Constant)
	}
	out.ConstantRate = Share(trials)
	return out
}
