package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// pairing is one dialogue in one casting in every evaluation, in their order.
type pairing []report.Dialogue

func (p pairing) truth() dialogue.Truth { return p[0].Truth }

// castingNumber is 0 where every evaluation has one casting.
func (p pairing) castingNumber() int {
	number := 0
	for _, d := range p {
		number = max(number, d.CastingNumber)
	}
	return number
}

// dialoguesOf counts the dialogues whose castings are paired; 0 where each has one.
func dialoguesOf(paired []pairing) int {
	ids := map[string]bool{}
	for _, p := range paired {
		ids[p[0].ID] = true
	}
	if len(ids) == len(paired) {
		return 0
	}
	return len(ids)
}

// pairUp finds the dialogues that can be compared, and says of every other one why
// it can't be. Both are sorted by id, then by casting. The only casting of one
// evaluation is the first of another.
func pairUp(reports []report.Report) ([]pairing, []evaluation.Excluded) {
	found := make([]map[evaluation.Rendition]report.Dialogue, len(reports))
	shown := make([]map[string]bool, len(reports)) // left out of the evaluation itself
	all := map[evaluation.Rendition]bool{}
	for i, r := range reports {
		found[i], shown[i] = map[evaluation.Rendition]report.Dialogue{}, map[string]bool{}
		for _, d := range r.Dialogues {
			found[i][d.Rendition()], all[d.Rendition()] = d, true
		}
		for _, e := range r.Exemplars {
			shown[i][e.ID+evaluation.CastingLabel(e.CastingNumber)] = true
		}
	}
	var paired []pairing
	leftOut := []evaluation.Excluded{}
	for _, which := range slices.SortedFunc(maps.Keys(all), evaluation.Rendition.Compare) {
		p := make(pairing, len(reports))
		reason := ""
		for i, r := range reports {
			d, ok := found[i][which]
			switch {
			case reason != "":
			case !ok && (shown[i][which.ID] || shown[i][which.ID+evaluation.CastingLabel(which.Casting)]):
				reason = fmt.Sprintf("left out of %s", r.Evaluation)
			case !ok && r.Pending > 0:
				reason = fmt.Sprintf("not in %s, which is not finished", r.Evaluation)
			case !ok:
				reason = fmt.Sprintf("not in %s", r.Evaluation)
			}
			p[i] = d
		}
		if reason = cmp.Or(reason, unlike(p, reports)); reason != "" {
			leftOut = append(leftOut, evaluation.Excluded{ID: which.ID, CastingNumber: p.castingNumber(), Reason: reason})
			continue
		}
		paired = append(paired, p)
	}
	return paired, leftOut
}

// unlike says why what has one id is not the same dialogue for all, or not a fair
// one; "" when it is.
func unlike(p pairing, reports []report.Report) string {
	for i, d := range p {
		name := reports[i].Evaluation
		switch {
		case d.TextHash != p[0].TextHash:
			return fmt.Sprintf("another text in %s", name)
		case d.Truth != p[0].Truth:
			return fmt.Sprintf("truth %s in %s, %s in %s", truthWord(p[0].Truth), reports[0].Evaluation, truthWord(d.Truth), name)
		}
	}
	for i, d := range p {
		if d.Seen {
			return fmt.Sprintf("seen by the detector of %s", reports[i].Evaluation)
		}
	}
	return ""
}

func truthWord(t dialogue.Truth) string { return cmp.Or(string(t), "unknown") }

// pairs are the verdicts of two evaluations. A failed dialogue is open as an
// UNRESOLVED one is.
func pairs(paired []pairing, first, second int) []score.Pair {
	var out []score.Pair
	for _, p := range paired {
		out = append(out, score.Pair{ID: p[0].ID, Truth: p.truth(), First: verdict(p[first]), Second: verdict(p[second])})
	}
	return out
}

func verdict(d report.Dialogue) vote.Verdict {
	if d.Failure != nil {
		return vote.Unresolved
	}
	return d.Verdict.Verdict
}

// Reason counts the dialogues that were left out for one reason.
type Reason struct {
	Reason string
	Count  int
}

// reasons counts the most frequent reason first.
func reasons(leftOut []evaluation.Excluded) []Reason {
	counts := map[string]int{}
	for _, e := range leftOut {
		counts[e.Reason]++
	}
	var out []Reason
	for reason, n := range counts {
		out = append(out, Reason{reason, n})
	}
	slices.SortFunc(out, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

func summary(leftOut []evaluation.Excluded) string {
	if len(leftOut) == 0 {
		return "none of them has a record yet"
	}
	var parts []string
	for _, r := range reasons(leftOut) {
		parts = append(parts, fmt.Sprintf("%d %s", r.Count, r.Reason))
	}
	return strings.Join(parts, "; ")
}
