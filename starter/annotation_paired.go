package main

import (
	"slices"

	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// pairedAgreement is text against audio.
type pairedAgreement struct {
	Votes           paired      `json:"votes"`    // YES, by the same annotator on the same item
	Majority        paired      `json:"majority"` // YES, of the same item
	Truth           paired      `json:"truth"`    // the majority is the truth
	Items           int         `json:"items"`    // with a vote in both
	SameVoters      int         `json:"items_of_same_annotators"`
	AlphaDifference coefficient `json:"alpha_difference"` // text minus audio
}

type paired struct {
	N         int          `json:"n"`
	Both      int          `json:"both"`
	OnlyText  int          `json:"only_text"`
	OnlyAudio int          `json:"only_audio"`
	Neither   int          `json:"neither"`
	P         score.Figure `json:"p"` // McNemar's, exact and two-sided
}

func showPaired(p agreement.Paired) paired {
	return paired{p.N(), p.Both, p.OnlyFirst, p.OnlySecond, p.Neither, figure(p.McNemar())}
}

func measurePaired(set annotation.Set, o agreementOptions) *pairedAgreement {
	names := slices.Concat(set.Annotators(annotation.Text), set.Annotators(annotation.Audio))
	slices.Sort(names)
	names = slices.Compact(names)
	consensusText := annotation.ByItem(set.Consensus(annotation.Text, o.rule))
	consensusAudio := annotation.ByItem(set.Consensus(annotation.Audio, o.rule))
	items := slices.Clone(set.Items[annotation.Text])
	for _, item := range set.Items[annotation.Audio] {
		if _, ok := consensusText[item]; !ok {
			items = append(items, item)
		}
	}
	text, audio := voteRows(set, annotation.Text, items, names), voteRows(set, annotation.Audio, items, names)

	result := pairedAgreement{AlphaDifference: show(agreement.AlphaDifference(text, audio, o.bootstrap))}
	var votes, majority, truth agreement.Paired
	for i, item := range items {
		if consensusText[item].Annotators() > 0 && consensusAudio[item].Annotators() > 0 {
			result.Items++
			if slices.Equal(present(text[i]), present(audio[i])) {
				result.SameVoters++
			}
		}
		for column := range names {
			if text[i][column] >= 0 && audio[i][column] >= 0 {
				votes.Add(text[i][column] == 1, audio[i][column] == 1)
			}
		}
		t, a := consensusText[item].Label, consensusAudio[item].Label
		if !decided(t) || !decided(a) {
			continue
		}
		majority.Add(t == vote.Yes, a == vote.Yes)
		if is, ok := set.Truth[item]; ok {
			truth.Add(string(t) == string(is), string(a) == string(is))
		}
	}
	result.Votes, result.Majority, result.Truth = showPaired(votes), showPaired(majority), showPaired(truth)
	return &result
}

func decided(v vote.Verdict) bool { return v == vote.Yes || v == vote.No }

// present returns which columns have a vote.
func present(row agreement.Row) []bool {
	has := make([]bool, len(row))
	for i, c := range row {
		has[i] = c >= 0
	}
	return has
}
