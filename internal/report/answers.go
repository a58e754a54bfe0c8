package report

import (
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Answers says how the detector came to its verdicts in one modality. Passes and
// methods are of all dialogues, everything else is of the unseen ones.
type Answers struct {
	Passes   Passes    `json:"passes"`
	Tactics  Tactics   `json:"tactics"`
	Orders   *Orders   `json:"option_order,omitempty"` // where both orders were asked
	Analytic *Analytic `json:"analytic,omitempty"`     // where votes were not drawn
	Quotes   Quotes    `json:"quotes"`
}

// Passes counts how the decision passes came to their votes, those in both option
// orders where both were asked.
type Passes struct {
	Constrained int `json:"constrained"`
	Parsed      int `json:"parsed"` // read from free answers, where the server can't constrain one
	Fallback    int `json:"fallback"`
	Invalid     int `json:"invalid"`
	Missing     int `json:"missing"`    // not made although they could have changed a verdict
	NotNeeded   int `json:"not_needed"` // not made, as the verdict was settled: calls saved
	NotDrawn    int `json:"not_drawn"`  // in their place stands one distribution
}

// Tactics says how tactics were found; the tables of one truth are in the result.
type Tactics struct {
	Draw          vote.DrawRule     `json:"draw"`
	Methods       []string          `json:"methods"`
	LowConfidence []string          `json:"low_confidence"` // tactics that the detector is known to miss
	All           score.TacticTable `json:"all"`            // of every YES, whatever its truth
}

// Quotes counts the evidence for YES verdicts.
type Quotes struct {
	Asked int `json:"asked"`
	Given int `json:"given"` // with words
	// Occurring is the share of the given ones whose words stand in the text that
	// was shown; nil where none was.
	Occurring *score.Rate `json:"occurring,omitempty"`
}

// order is the decision with the option letters in one order.
type order struct {
	passes   []evaluation.PassRecord
	analytic *evaluation.AnalyticRecord
	outcome  vote.Outcome
}

// ordersOf returns the usual order, then the swapped one where it was asked.
func ordersOf(j evaluation.Judgement) []order {
	straight := order{j.Passes, j.Analytic, j.Verdict}
	if j.Swapped == nil {
		return []order{straight}
	}
	straight.outcome = j.Swapped.Straight
	return []order{straight, {j.Swapped.Passes, j.Swapped.Analytic, j.Swapped.Verdict}}
}

// view picks the judgement in one modality; nil when a dialogue has none.
type view func(Dialogue) *evaluation.Judgement

func first(d Dialogue) *evaluation.Judgement {
	if d.Failure != nil {
		return nil
	}
	return &d.Judgement
}

func written(d Dialogue) *evaluation.Judgement {
	if d.Failure != nil {
		return nil
	}
	return d.Text
}

// answers counts what the detector answered in one modality.
func answers(dialogues []Dialogue, judgement view, rules vote.Rules) Answers {
	out := Answers{Tactics: Tactics{Draw: rules.TacticDraw, Methods: []string{}, LowConfidence: []string{}}}
	var unseen []judgedItem
	for _, d := range dialogues {
		j := judgement(d)
		if j == nil {
			continue
		}
		out.Passes.add(*j, rules)
		if j.Scores != nil {
			out.Tactics.Methods = union(out.Tactics.Methods, j.Scores.Method)
			out.Tactics.LowConfidence = union(out.Tactics.LowConfidence, j.Scores.LowConfidence...)
		}
		if !d.Seen {
			unseen = append(unseen, judgedItem{d, *j})
		}
	}
	items, _ := score.Split(items(dialogues, judgement))
	out.Tactics.All = tacticsOf(items)
	out.Orders = compareOrders(unseen)
	out.Analytic = summarize(unseen, rules)
	out.Quotes = countQuotes(unseen)
	return out
}

func (p *Passes) add(j evaluation.Judgement, rules vote.Rules) {
	p.Constrained += j.Verdict.Constrained
	p.Parsed += j.Verdict.Parsed
	p.Fallback += j.Verdict.Fallback
	p.Invalid += j.Verdict.Invalid
	for _, o := range ordersOf(j) {
		if o.analytic != nil {
			p.NotDrawn += rules.Passes
			continue
		}
		passes := make([]vote.Pass, len(o.passes))
		for i, made := range o.passes {
			passes[i] = made.Pass
		}
		missing := vote.Decide(passes, rules).Missing
		if rules.Votes == vote.VotesEarlyStop && vote.Settled(passes, rules) {
			p.NotNeeded += missing
		} else {
			p.Missing += missing
		}
	}
}

func countQuotes(judged []judgedItem) Quotes {
	var q Quotes
	var checked []score.Trial // whether the words occur
	for _, it := range judged {
		e := it.judgement.Evidence
		if e == nil {
			continue
		}
		q.Asked++
		if e.Text != "" {
			q.Given++
		}
		if e.Occurs != nil {
			checked = append(checked, score.Trial{ID: it.ID, Hit: *e.Occurs})
		}
	}
	if len(checked) > 0 {
		rate := score.Share(checked)
		q.Occurring = &rate
	}
	return q
}
