package report

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// People is what annotators say of the headline items: a reference to read the
// detector's figures against, and no ceiling.
type People struct {
	Modality annotation.Modality `json:"modality"` // that the people were given
	Against  detect.Modality     `json:"against"`  // that the detector's verdicts beside them are of
	MinShare int                 `json:"min_share"`

	Scored     int `json:"scored"`      // headline items that the detector decided
	Annotated  int `json:"annotated"`   // of those, with a vote
	SingleVote int `json:"single_vote"` // of those annotated, with one vote: one person's opinion
	Unresolved int `json:"unresolved"`  // of those annotated, where the consensus is UNRESOLVED
	Compared   int `json:"compared"`    // decided by both: what the next three are of

	People   score.Classification `json:"people"` // their consensus against the truth
	Detector score.Classification `json:"detector"`
	Agree    score.Rate           `json:"agree"` // the detector with the consensus

	// LeaveOneOut is of the dialogues with a compared item and two votes or more: how
	// often a person agrees with the consensus of the others. DetectorAgree is how
	// often the detector agrees with the whole consensus of these items.
	LeaveOneOut   Reference  `json:"leave_one_out"`
	DetectorAgree score.Rate `json:"detector_agree"`

	Labels LabelTable `json:"labels"` // of all annotated items, scored or not
}

// Reference counts votes against the consensus of an item's other votes.
type Reference struct {
	Agree      int          `json:"agree"`
	Votes      int          `json:"votes"`
	Share      score.Figure `json:"share"`
	Unresolved int          `json:"unresolved"` // votes not compared: the others are tied
}

// LabelTable sets consensuses against the dataset's labels, as the paper's Table 6.
type LabelTable struct {
	Table      [2][2]int    `json:"table"` // label YES, NO downwards; consensus YES, NO across
	Share      score.Rate   `json:"share"` // that agree, of the decided
	Kappa      score.Figure `json:"kappa"` // Cohen's
	Unresolved int          `json:"unresolved"`
	// AsPaper counts ties as NO, as the paper's table does.
	AsPaper *LabelTable `json:"as_paper,omitempty"`
}

// AddPeople adds what the annotators say, in each modality that they were given:
// text beside the detector's verdicts by text where it gave such, audio beside its
// others.
func (r *Report) AddPeople(set annotation.Set, rule annotation.Rule) {
	for _, m := range set.Modalities() {
		judgement, against, headline := first, r.Settings.Spec.Detection.Modalities()[0], &r.Headline
		if m == annotation.Text && r.Modalities != nil {
			judgement, against, headline = written, detect.Text, &r.Modalities.Text.Headline
		}
		p := comparePeople(set, m, rule, r.Dialogues, judgement)
		p.Against = against
		r.People = append(r.People, p)
		if (m == annotation.Text) == (against == detect.Text) {
			headline.addPeople(p)
		}
	}
}

// peopleBeside are those beside the detector's verdicts of one modality.
func (r Report) peopleBeside(against detect.Modality) []People {
	var out []People
	for _, p := range r.People {
		if p.Against == against {
			out = append(out, p)
		}
	}
	return out
}

// addPeople shows people beside the detector only where it is on the same items.
func (h *Headline) addPeople(p People) {
	figures := headlineFigures(p.People.Metrics)
	for i := range h.Rows {
		if p.Compared != p.Scored {
			figures[i] = score.Figure{Reason: fmt.Sprintf("the people's consensus decides %d of these %d items", p.Compared, p.Scored)}
		}
		h.Rows[i].People = figures[i]
	}
}

func comparePeople(set annotation.Set, m annotation.Modality, rule annotation.Rule, dialogues []Dialogue, judgement view) People {
	consensuses := set.Consensus(m, rule)
	byItem := annotation.ByItem(consensuses)
	out := People{Modality: m, MinShare: rule.MinShare}
	var people, detector []score.Item
	var agree, agreeMany []score.Trial
	many := map[string]bool{}
	for _, it := range scored(dialogues, judgement) {
		verdict := it.judgement.Verdict.Verdict
		if verdict == vote.Unresolved {
			continue
		}
		out.Scored++
		c := byItem[it.ID]
		switch n := c.Annotators(); {
		case n == 0:
			continue
		case n == 1:
			out.SingleVote++
		}
		out.Annotated++
		if c.Label == vote.Unresolved {
			out.Unresolved++
			continue
		}
		people = append(people, score.Item{ID: it.ID, Truth: it.Truth, Verdict: c.Label})
		detector = append(detector, score.Item{ID: it.ID, Truth: it.Truth, Verdict: verdict})
		trial := score.Trial{ID: it.ID, Hit: verdict == c.Label}
		agree = append(agree, trial)
		if c.Annotators() > 1 {
			many[it.ID] = true
			agreeMany = append(agreeMany, trial)
		}
	}
	out.Compared = len(people)
	out.People, out.Detector = score.ClassifyItems(people), score.ClassifyItems(detector)
	out.Agree, out.DetectorAgree = score.Share(agree), score.Share(agreeMany)
	out.LeaveOneOut = leaveOneOut(set, m, rule, many)
	out.Labels = againstLabels(consensuses, truths(set, dialogues))
	paper := againstLabels(annotation.TiesAsNo(consensuses), truths(set, dialogues))
	out.Labels.AsPaper = &paper
	return out
}

// leaveOneOut is of some items of the modality.
func leaveOneOut(set annotation.Set, m annotation.Modality, rule annotation.Rule, items map[string]bool) Reference {
	var some annotation.Set
	for _, a := range set.Annotations {
		if items[a.Item] {
			some.Annotations = append(some.Annotations, a)
		}
	}
	all, _ := some.LeaveOneOut(m, rule)
	out := Reference{Agree: all.Agree, Votes: all.Votes, Unresolved: all.Unresolved, Share: score.Figure{Reason: "no vote can be compared with a consensus of others"}}
	if all.Votes > 0 {
		out.Share = score.Figure{Value: float64(all.Agree) / float64(all.Votes), Defined: true}
	}
	return out
}

// truths are the labels that the annotations come with, else those of the dialogues.
func truths(set annotation.Set, dialogues []Dialogue) map[string]dialogue.Truth {
	all := map[string]dialogue.Truth{}
	for _, d := range dialogues {
		all[d.ID] = d.Truth
	}
	for item, truth := range set.Truth {
		all[item] = truth
	}
	return all
}

func againstLabels(consensuses []annotation.Consensus, truth map[string]dialogue.Truth) LabelTable {
	t := annotation.AgainstTruth(consensuses, truth)
	kappa := agreement.CohenOfTable(t.Table)
	return LabelTable{
		Table: t.Table, Share: score.Wilson(t.Agree, t.Items), Unresolved: len(t.Unresolved),
		Kappa: score.Figure{Value: kappa.Value, Defined: kappa.Defined(), Reason: kappa.Undefined},
	}
}
