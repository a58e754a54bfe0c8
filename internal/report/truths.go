package report

import (
	"fmt"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Truths scores the verdicts of one modality against several truths, side by side.
type Truths struct {
	Modality detect.Modality `json:"modality"`
	Sets     []TruthSet      `json:"sets"` // the dataset's labels first
	// Common counts the unseen items that every set decides; Same, those of them with
	// one truth in all sets.
	Common        int            `json:"common"`
	Same          int            `json:"same"`
	Disagreements []Disagreement `json:"disagreements"` // by id
}

// TruthSet is one truth of the unseen items.
type TruthSet struct {
	Name       string               `json:"name"`
	Source     string               `json:"source,omitempty"` // the file
	Unresolved int                  `json:"unresolved"`       // votes without a consensus: no truth
	Missing    int                  `json:"missing"`          // not in the source, or unlabelled there
	Own        score.Classification `json:"own"`              // of the items that this set decides
	OnCommon   score.Classification `json:"on_common"`        // of those that every set decides
}

// Disagreement is an item whose truths are not all the same.
type Disagreement struct {
	ID            string           `json:"id"`
	CastingNumber int              `json:"casting_number,omitempty"`
	Truths        []dialogue.Truth `json:"truths"` // in the order of the sets; "" is none
	Votes         []string         `json:"votes"`  // YES:NO of a consensus, "" of labels
	Verdict       vote.Verdict     `json:"verdict"`
}

// TruthSource is a truth of items by their ids.
type TruthSource struct {
	Name, Source string
	labels       map[string]dialogue.Truth
	votes        map[string]annotation.Consensus
}

// Labels is the truth of a dataset's own labels.
func Labels(name, source string, dialogues []dialogue.Dialogue) TruthSource {
	out := TruthSource{Name: name, Source: source, labels: map[string]dialogue.Truth{}}
	for _, d := range dialogues {
		out.labels[d.ID] = d.Truth
	}
	return out
}

// ConsensusTruth is the truth that annotators say together.
func ConsensusTruth(name, source string, consensuses []annotation.Consensus) TruthSource {
	out := TruthSource{Name: name, Source: source, labels: map[string]dialogue.Truth{}, votes: annotation.ByItem(consensuses)}
	for _, c := range consensuses {
		if c.Label != vote.Unresolved {
			out.labels[c.Item] = dialogue.Truth(c.Label)
		}
	}
	return out
}

// votesOn writes how people voted; "" where nobody did.
func (s TruthSource) votesOn(id string) string {
	c := s.votes[id]
	if c.Annotators() == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%d", c.Yes, c.No)
}

// AddTruths adds the verdicts' scores against other truths, beside those against
// the labels of the evaluation's own dataset.
func (r *Report) AddTruths(sources ...TruthSource) {
	own := TruthSource{Name: "dataset", Source: r.Settings.Spec.Dataset.Name, labels: map[string]dialogue.Truth{}}
	for _, d := range r.Dialogues {
		own.labels[d.ID] = d.Truth
	}
	sources = append([]TruthSource{own}, sources...)
	r.Truths = append(r.Truths, scoreTruths(r.Dialogues, first, r.Settings.Spec.Detection.Modalities()[0], sources))
	if r.Modalities != nil {
		r.Truths = append(r.Truths, scoreTruths(r.Dialogues, written, detect.Text, sources))
	}
}

func scoreTruths(dialogues []Dialogue, judgement view, modality detect.Modality, sources []TruthSource) Truths {
	out := Truths{Modality: modality, Sets: make([]TruthSet, len(sources)), Disagreements: []Disagreement{}}
	own, common := make([][]score.Item, len(sources)), make([][]score.Item, len(sources))
	for i, it := range items(dialogues, judgement) {
		if it.Seen {
			continue
		}
		d := Disagreement{ID: it.ID, CastingNumber: dialogues[i].CastingNumber, Verdict: it.Verdict}
		known := map[dialogue.Truth]int{}
		for k, s := range sources {
			truth := s.labels[it.ID]
			d.Truths, d.Votes = append(d.Truths, truth), append(d.Votes, s.votesOn(it.ID))
			switch {
			case truth != dialogue.Unknown:
				known[truth]++
				it.Truth = truth
				own[k] = append(own[k], it)
			case d.Votes[k] != "":
				out.Sets[k].Unresolved++
			default:
				out.Sets[k].Missing++
			}
		}
		if len(known) > 1 {
			out.Disagreements = append(out.Disagreements, d)
		}
		if known[dialogue.Yes]+known[dialogue.No] < len(sources) {
			continue
		}
		out.Common++
		if len(known) == 1 {
			out.Same++
		}
		for k := range sources {
			it.Truth = d.Truths[k]
			common[k] = append(common[k], it)
		}
	}
	for k, s := range sources {
		set := &out.Sets[k]
		set.Name, set.Source = s.Name, s.Source
		set.Own, set.OnCommon = score.ClassifyItems(own[k]), score.ClassifyItems(common[k])
	}
	return out
}

// Restate adds the figures that depend on the prevalence, at another one.
func (r *Report) Restate(p score.Prevalence) {
	add := func(m *Measures, judgement view) {
		unseen, _ := score.Split(items(r.Dialogues, judgement))
		m.AtPrevalence = append(m.AtPrevalence, score.EstimateAt(unseen, p, r.Bootstrap))
	}
	add(&r.Measures, first)
	if r.Modalities != nil {
		add(&r.Modalities.Text.Measures, written)
	}
}
