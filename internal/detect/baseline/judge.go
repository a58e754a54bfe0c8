package baseline

import (
	"context"
	"math"
	"slices"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/prosody"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// judgeWords classifies the written turns, or the recognised words of a clip.
// An item without words can't be judged.
func (m *Model) judgeWords(ctx context.Context, item detect.Item) (judgement, error) {
	segments, err := readSegments(ctx, item)
	if err != nil {
		return judgement{}, err
	}
	said := words(segments)
	if len(said) == 0 {
		return unknown(), nil
	}
	x := m.vocabulary.vector(said)
	model := m.data.Words
	j := judge(model.YesNo.logOdds(x), model.Platt)
	j.Evidence = strongest(segments, m.vocabulary.contributions(said, model.YesNo.Weights))
	j.Tactics = distribution(model.tacticScores(x, m.data.TacticShare))
	return j, nil
}

// tacticScores returns each option's own probability; an option without a
// classifier has its share.
func (w wordModel) tacticScores(x []feature, shares []float64) []float64 {
	scores := slices.Clone(shares)
	for i, l := range w.Tactics {
		if l != nil {
			scores[i] = sigmoid(l.logOdds(x))
		}
	}
	return scores
}

// topTactic returns the tactic with the highest score, None left out; the first
// in inventory order among equals.
func topTactic(scores []float64) tactic.Tactic {
	all := tactic.All()
	top := 0
	for i := range all {
		if scores[i] > scores[top] {
			top = i
		}
	}
	return all[top]
}

// judgeLength looks at how long the item is: the words of a text, or the words
// that fit a clip's seconds at the model's pace.
func (m *Model) judgeLength(ctx context.Context, item detect.Item) (judgement, error) {
	var length float64 // in words
	if item.Modality == detect.Audio {
		clip, err := loadAudio(ctx, item)
		if err != nil {
			return judgement{}, err
		}
		length = clip.Seconds() * m.data.Length.WordsPerSecond
	} else {
		segments, err := readSegments(ctx, item)
		if err != nil {
			return judgement{}, err
		}
		length = float64(len(words(segments)))
	}
	if length == 0 {
		return unknown(), nil
	}
	return m.withPrior(judge(m.data.Length.YesNo.logOdds(lengthVector(length)), m.data.Length.Platt)), nil
}

func lengthVector(words float64) []feature { return []feature{{0, math.Log1p(words)}} }

// judgeProsody looks at how the clip sounds.
func (m *Model) judgeProsody(ctx context.Context, item detect.Item) (judgement, error) {
	clip, err := loadAudio(ctx, item)
	if err != nil {
		return judgement{}, err
	}
	if len(clip.Samples) == 0 {
		return unknown(), nil
	}
	model := m.data.Prosody
	return m.withPrior(judge(model.YesNo.logOdds(model.standard(prosody.Features(clip))), model.Platt)), nil
}

// judgePrior doesn't look at the item. It is certain of the more frequent truth,
// NO when both are equally frequent; the calibrated probability is YES's share.
func (m *Model) judgePrior(context.Context, detect.Item) (judgement, error) {
	j := judgement{PYes: observed(0), Calibrated: observed(m.data.YesShare)}
	if m.data.YesShare > 0.5 {
		j.PYes = observed(1)
	}
	return m.withPrior(j), nil
}

func judge(logOdds float64, p platt) judgement {
	return judgement{PYes: observed(sigmoid(logOdds)), Calibrated: observed(p.probability(logOdds))}
}

// withPrior adds the training part's shares as the tactics.
func (m *Model) withPrior(j judgement) judgement {
	j.Tactics = distribution(m.data.TacticShare)
	return j
}

// distribution scales scores so that they add up to 1.
func distribution(scores []float64) []vote.Mass {
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	masses := make([]vote.Mass, len(scores))
	for i, s := range scores {
		masses[i] = observed(s / sum)
	}
	return masses
}

// readSegments returns what was written, or what was recognised.
func readSegments(ctx context.Context, item detect.Item) ([]segment, error) {
	if item.Modality == detect.Text {
		return sentences(item.Turns), nil
	}
	if item.Transcript == nil {
		return nil, fault.Permanentf("load transcript", "no_transcript", "modality %q came without a transcript", item.Modality)
	}
	transcript, err := item.Transcript(ctx)
	if err != nil {
		return nil, err
	}
	return utterances(transcript), nil
}
