// Package baseline holds the detectors that need no language model: a cascade
// of a recogniser and a word classifier, and three controls that say what
// length, prosody and guessing alone achieve.
package baseline

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// The detectors' names.
const (
	Cascade  = "baseline-cascade"  // the words: TF-IDF and logistic regression
	Duration = "baseline-duration" // the length only
	Prosody  = "baseline-prosody"  // how it sounds, not what is said
	Majority = "baseline-majority" // always the training part's more frequent truth
)

// algorithm is the version of everything that turns a model and an item into an
// answer; it is every baseline's fingerprint.
const algorithm = "1"

// Names returns the detectors' names.
func Names() []string { return []string{Cascade, Duration, Prosody, Majority} }

// New returns the detector of that name. The error names the valid names, or
// says how to train the part that the model lacks.
func New(model *Model, name string) (detect.Detector, error) {
	if model == nil {
		return nil, fmt.Errorf("detector %s: no model: train one with `starter baseline train`", name)
	}
	base := detector{name: name, model: model, hash: model.Hash()}
	for _, t := range tactic.All() { // a prior is no evidence for any tactic
		base.lowConfidence = append(base.lowConfidence, string(t))
	}
	switch name {
	case Cascade:
		base.judge, base.needsTranscript = model.judgeWords, true
		base.lowConfidence = model.data.Words.LowConfidence
		base.method = "TF-IDF logistic regression, class-balanced; tactics one-vs-rest"
	case Duration:
		base.judge = model.judgeLength
		base.method = "log length logistic regression, class-balanced; tactics by prior"
	case Prosody:
		if model.data.Prosody == nil {
			return nil, fmt.Errorf("detector %s: the model was trained without clips: train one with `starter baseline train` and a folder of clips", name)
		}
		base.judge = model.judgeProsody
		base.method = "34 prosodic features, logistic regression, class-balanced; tactics by prior"
	case Majority:
		base.judge = model.judgePrior
		base.method = "the training part's more frequent truth; tactics by prior"
	default:
		return nil, fmt.Errorf("unknown baseline detector %q: valid are %s", name, strings.Join(Names(), ", "))
	}
	return &base, nil
}

// judgement is everything an item's passes share: the content of Prepared.
type judgement struct {
	PYes       vote.Mass       `json:"p_yes"`      // what passes are drawn from
	Calibrated vote.Mass       `json:"calibrated"` // the probability to report
	Tactics    []vote.Mass     `json:"tactics"`
	Evidence   detect.Evidence `json:"evidence"`
}

// detector is a name, a model and a way to judge.
type detector struct {
	name, method, hash string
	needsTranscript    bool
	lowConfidence      []string // tactics
	model              *Model
	judge              func(context.Context, detect.Item) (judgement, error)
}

var _ detect.Detector = (*detector)(nil)

func (d *detector) Identity(context.Context) (detect.Identity, error) {
	return detect.Identity{Detector: d.name, Model: d.hash, Fingerprint: algorithm, Method: d.method}, nil
}

func (d *detector) Seen() detect.Seen {
	return detect.Seen{IDs: slices.Clone(d.model.data.Seen.IDs), TextHashes: slices.Clone(d.model.data.Seen.TextHashes)}
}

func (d *detector) NeedsTranscript() bool { return d.needsTranscript }

// Prepare judges the item; the passes only draw.
func (d *detector) Prepare(ctx context.Context, item detect.Item) ([]byte, error) {
	j, err := d.fresh(ctx, item)
	if err != nil {
		return nil, err
	}
	return json.Marshal(j)
}

func (d *detector) fresh(ctx context.Context, item detect.Item) (judgement, error) {
	if err := ctx.Err(); err != nil {
		return judgement{}, fmt.Errorf("%s: %w", d.name, err)
	}
	j, err := d.judge(ctx, item)
	if err != nil {
		return judgement{}, fmt.Errorf("%s judges %s: %w", d.name, item.ID, err)
	}
	return j, nil
}

// judged returns the item's judgement, made anew when nothing is prepared.
func (d *detector) judged(ctx context.Context, item detect.Item) (judgement, error) {
	if len(item.Prepared) == 0 {
		return d.fresh(ctx, item)
	}
	if err := ctx.Err(); err != nil {
		return judgement{}, fmt.Errorf("%s: %w", d.name, err)
	}
	var j judgement
	if err := json.Unmarshal(item.Prepared, &j); err != nil {
		return judgement{}, fault.Permanentf(d.name+" reads what was prepared for "+item.ID, "bad_prepared", "%w", err)
	}
	if len(j.Tactics) != len(tactic.Options()) {
		return judgement{}, fault.Permanentf(d.name+" reads what was prepared for "+item.ID, "bad_prepared", "%d tactics", len(j.Tactics))
	}
	return j, nil
}

// Decide draws the pass's vote. PYes is the class-balanced score, 0.5 its
// decision boundary; Reply carries the calibrated probability beside it.
func (d *detector) Decide(ctx context.Context, item detect.Item, pass detect.Pass) (detect.Decision, error) {
	j, err := d.judged(ctx, item)
	if err != nil {
		return detect.Decision{}, err
	}
	decision := detect.Decision{
		Vote:   detect.Draw(j.PYes, pass.Sampling, pass.Seed),
		Method: vote.Constrained,
		PYes:   j.PYes,
	}
	if decision.Vote == vote.VoteInvalid {
		decision.Method, decision.Reply = vote.Failed, "nothing to judge"
		return decision, nil
	}
	decision.Reply = fmt.Sprintf("%s, score %.3f, calibrated %.3f", decision.Vote, probability(j.PYes), probability(j.Calibrated))
	return decision, nil
}

// ScoreTactics returns the probability of each option given that the item is
// manipulative; None is a manipulative item that shows no tactic of the
// inventory. The twelve add up to 1.
func (d *detector) ScoreTactics(ctx context.Context, item detect.Item) (detect.TacticScores, error) {
	j, err := d.judged(ctx, item)
	if err != nil {
		return detect.TacticScores{}, err
	}
	return detect.TacticScores{Masses: j.Tactics, Method: d.method, LowConfidence: d.lowConfidence}, nil
}

// Quote returns the words that speak most for YES; empty for detectors that
// don't look at words. A retry gives the same.
func (d *detector) Quote(ctx context.Context, item detect.Item, _ detect.QuoteRequest) (detect.Evidence, error) {
	j, err := d.judged(ctx, item)
	return j.Evidence, err
}

// observed turns a probability into a mass.
func observed(p float64) vote.Mass {
	return vote.Mass{P: vote.Nano(math.Round(p * float64(vote.One))), Observed: true}
}

// unknown is the judgement of an item in which there is nothing to judge.
func unknown() judgement {
	j := judgement{PYes: vote.Mass{P: vote.One}, Calibrated: vote.Mass{P: vote.One}}
	for range tactic.Options() {
		j.Tactics = append(j.Tactics, vote.Mass{P: vote.One})
	}
	return j
}

func probability(m vote.Mass) float64 { return float64(m.P) / float64(vote.One) }

// loadAudio loads the item's clip.
func loadAudio(ctx context.Context, item detect.Item) (audio.PCM, error) {
	if item.Audio == nil {
		return audio.PCM{}, fault.Permanentf("load clip", "no_audio", "modality %q gives no audio", item.Modality)
	}
	return item.Audio(ctx)
}
