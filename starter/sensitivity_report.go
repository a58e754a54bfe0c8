package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
	"github.com/speechmanip/speechmanip/workflows"
)

// sensitivityReport says how far labels depend on how they were asked for, and is
// the JSON of sensitivity.
type sensitivityReport struct {
	Evaluation string           `json:"evaluation"`
	Strategy   string           `json:"strategy"`
	Modality   string           `json:"modality"`
	Seed       uint64           `json:"seed"`
	Items      int              `json:"items"`
	Questions  int              `json:"questions"`
	Made       int              `json:"made"` // of them now; the others were stored
	Variations []variationLabel `json:"variations"`
	// LabelRange is the smallest and the largest share of YES among the variations.
	LabelRange [2]score.Figure `json:"label_range"`
	AnyFlip    score.Rate      `json:"flipped_by_any"` // of the items that the own setting answers
	// Agreement is how often the own setting, where nothing is drawn, gives the
	// evaluation's verdict.
	Agreement score.Rate    `json:"agreement_with_verdicts"`
	Flipped   []flippedItem `json:"flipped"`
}

// variationLabel is what one variation says. Flips counts the items that it and
// the own setting both answer, and answer differently; the own setting has none.
type variationLabel struct {
	evaluation.Variation
	Methods  []string    `json:"methods"`
	YesShare score.Rate  `json:"yes_share"` // of the answers
	Flips    *score.Rate `json:"flips,omitempty"`
	Shift    *float64    `json:"mean_shift,omitempty"` // of p(YES) from the own setting, where both know it
	Invalid  int         `json:"invalid"`              // neither answer
	Failed   int         `json:"failed"`
	Failure  string      `json:"failure,omitempty"` // the first
}

type flippedItem struct {
	ID      string         `json:"id"`
	Truth   dialogue.Truth `json:"truth,omitempty"`
	Verdict vote.Verdict   `json:"verdict"` // the evaluation's
	Own     vote.Vote      `json:"own"`
	By      []string       `json:"flipped_by"`
}

func (m measurement) report(r sensitivityRequest, result workflows.SensitivityResult) sensitivityReport {
	out := sensitivityReport{
		Evaluation: m.Evaluation, Strategy: m.spec.Detection.Strategy, Modality: string(m.Modality), Seed: r.seed,
		Items: len(m.Items), Questions: len(m.Items) * len(m.Variations), Made: result.Made, Flipped: []flippedItem{},
	}
	own := result.Answers[0]
	for i, answers := range result.Answers {
		label := labelOf(m.Variations[i], answers, own)
		if i == 0 {
			label.Flips, label.Shift = nil, nil
		}
		out.Variations = append(out.Variations, label)
	}
	out.LabelRange = labelRange(out.Variations)
	answered, agree := 0, 0
	for i, record := range m.records {
		if !answersYesOrNo(own[i]) {
			continue
		}
		answered++
		if string(record.Verdict.Verdict) == string(own[i].Vote) {
			agree++
		}
		item := flippedItem{ID: record.ID, Truth: record.Truth, Verdict: record.Verdict.Verdict, Own: own[i].Vote}
		for v, answers := range result.Answers {
			if answersYesOrNo(answers[i]) && answers[i].Vote != own[i].Vote {
				item.By = append(item.By, m.Variations[v].Name)
			}
		}
		if len(item.By) > 0 {
			out.Flipped = append(out.Flipped, item)
		}
	}
	out.AnyFlip, out.Agreement = score.Wilson(len(out.Flipped), answered), score.Wilson(agree, answered)
	return out
}

func answersYesOrNo(a workflows.SensitivityAnswer) bool {
	return a.Failure == "" && (a.Vote == vote.VoteYes || a.Vote == vote.VoteNo)
}

func labelOf(v evaluation.Variation, answers, own []workflows.SensitivityAnswer) variationLabel {
	out := variationLabel{Variation: v, Methods: []string{}}
	yes, n, flips, both, known := 0, 0, 0, 0, 0
	shift := 0.0
	for i, a := range answers {
		if a.Failure != "" {
			if out.Failed++; out.Failure == "" {
				out.Failure = a.Failure
			}
			continue
		}
		if !slices.Contains(out.Methods, a.Method) {
			out.Methods = append(out.Methods, a.Method)
		}
		if own[i].Failure == "" && a.PYes.Observed && own[i].PYes.Observed {
			known++
			shift += float64(a.PYes.P-own[i].PYes.P) / float64(vote.One)
		}
		if !answersYesOrNo(a) {
			out.Invalid++
			continue
		}
		n++
		if a.Vote == vote.VoteYes {
			yes++
		}
		if answersYesOrNo(own[i]) {
			both++
			if a.Vote != own[i].Vote {
				flips++
			}
		}
	}
	slices.Sort(out.Methods)
	rate := score.Wilson(flips, both)
	out.YesShare, out.Flips = score.Wilson(yes, n), &rate
	if known > 0 {
		mean := shift / float64(known)
		out.Shift = &mean
	}
	return out
}

// labelRange is undefined where no variation has an answer.
func labelRange(all []variationLabel) [2]score.Figure {
	out := [2]score.Figure{all[0].YesShare.Value, all[0].YesShare.Value}
	for _, v := range all {
		share := v.YesShare.Value
		if !share.Defined {
			continue
		}
		if !out[0].Defined || share.Value < out[0].Value {
			out[0] = share
		}
		if !out[1].Defined || share.Value > out[1].Value {
			out[1] = share
		}
	}
	return out
}

func (r sensitivityReport) print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "sensitivity of %s: %s, modality %s; %d dialogues (seed %d), %d variations, %d questions, %d of them asked now\n\n",
		r.Evaluation, r.Strategy, r.Modality, r.Items, r.Seed, len(r.Variations), r.Questions, r.Made)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "variation\tYES share\tflips\tp(YES) shift\tno answer\tmethod")
	for _, v := range r.Variations {
		flips, shift := "-", "-"
		if v.Flips != nil {
			flips = rateText(*v.Flips)
		}
		if v.Shift != nil {
			shift = fmt.Sprintf("%+.3f", *v.Shift)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\n", v.Name, rateText(v.YesShare), flips, shift, v.Invalid+v.Failed, strings.Join(v.Methods, ", "))
	}
	table.Flush() // a buffer takes everything
	fmt.Fprintf(&b, "\nlabel range          %s to %s YES\n", figureText(r.LabelRange[0]), figureText(r.LabelRange[1]))
	fmt.Fprintf(&b, "flipped by any       %s\n", rateText(r.AnyFlip))
	fmt.Fprintf(&b, "own and the verdicts %s agree\n", rateText(r.Agreement))
	fmt.Fprintf(&b, "in brackets: 95%% Wilson intervals\n")
	for _, v := range r.Variations {
		if v.Failed > 0 {
			fmt.Fprintf(&b, "\n%s: %d failed, the first: %s\n", v.Name, v.Failed, printable(v.Failure))
		}
	}
	if len(r.Flipped) > 0 {
		fmt.Fprintf(&b, "\ndialogues that flip\n")
	}
	for _, item := range r.Flipped {
		truth := "unknown"
		if item.Truth != dialogue.Unknown {
			truth = string(item.Truth)
		}
		fmt.Fprintf(&b, "  %s (truth %s, verdict %s, own setting %s): %s\n", printable(item.ID), truth, item.Verdict, item.Own, strings.Join(item.By, "; "))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func rateText(r score.Rate) string {
	if !r.Value.Defined {
		return "undefined"
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f] %d of %d", r.Value.Value, r.Low.Value, r.High.Value, r.Hits, r.N)
}

func figureText(f score.Figure) string {
	if !f.Defined {
		return "undefined"
	}
	return fmt.Sprintf("%.3f", f.Value)
}
