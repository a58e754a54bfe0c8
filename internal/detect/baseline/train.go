package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/prosody"
	"github.com/speechmanip/speechmanip/internal/tactic"
)

// What training needs at least.
const (
	minTruths  = 5  // dialogues of each truth in the training part
	minTactics = 3  // dialogues of a tactic for a classifier of its own
	minClips   = 10 // clips of each truth in the training part, for prosody
)

// defaultPace is the usual pace of read dialogue, in words a second; with clips
// it is measured.
const defaultPace = 2.75

// TrainOptions says what to train on.
type TrainOptions struct {
	Dialogues     []dialogue.Dialogue
	DatasetName   string
	DatasetSHA256 string   // of the dataset's file, hex
	HeldOut       []string // ids that are never trained, tuned or tested on

	// Clips loads the clips of dialogues by id. It is needed for the prosody
	// part only, and may be nil.
	Clips map[string]func(context.Context) (audio.PCM, error)
}

// Train learns all baselines from the dataset's training part, calibrates them
// on its validation part and evaluates them on its test part. The same options
// give the same model, byte for byte, on machines of one architecture, whatever
// the order of the dialogues. The error says what the dataset lacks.
func Train(ctx context.Context, opts TrainOptions) (*Model, Evaluation, error) {
	model, parts, clips, err := train(ctx, opts)
	if err != nil {
		return nil, Evaluation{}, fmt.Errorf("train baselines: %w", err)
	}
	evaluation, err := model.evaluate(ctx, parts.test, clips)
	if err != nil {
		return nil, Evaluation{}, fmt.Errorf("evaluate baselines: %w", err)
	}
	return model, evaluation, nil
}

func train(ctx context.Context, opts TrainOptions) (*Model, split, clipFeatures, error) {
	parts, err := divide(opts.Dialogues, opts.HeldOut)
	if err != nil {
		return nil, split{}, nil, err
	}
	counts := [2]int{}
	for _, d := range parts.train {
		counts[class(d.Truth == dialogue.Yes)]++
	}
	if counts[0] < minTruths || counts[1] < minTruths {
		return nil, split{}, nil, fmt.Errorf("%d NO and %d YES dialogues in the training part, need %d of each: use a larger dataset", counts[0], counts[1], minTruths)
	}
	clips, pace, err := measureClips(ctx, parts, opts.Clips)
	if err != nil {
		return nil, split{}, nil, err
	}
	shares := tacticShares(parts.train)
	data := modelData{
		Format:      format,
		Dataset:     Dataset{Name: opts.DatasetName, SHA256: opts.DatasetSHA256},
		Parts:       parts.counts(),
		YesShare:    round(float64(counts[1]) / float64(len(parts.train))),
		TacticShare: shares,
		Words:       trainWords(parts, shares),
		Length:      trainLength(parts, pace),
		Seen:        parts.seen(),
	}
	if len(opts.Clips) > 0 {
		if data.Prosody, err = trainProsody(parts, clips); err != nil {
			return nil, split{}, nil, err
		}
	}
	if err := errors.Join(ctx.Err(), data.validate()); err != nil {
		return nil, split{}, nil, err
	}
	model, err := newModel(data)
	return model, parts, clips, err
}

// options returns what a manipulative dialogue shows: its tactics, or None.
func options(d dialogue.Dialogue) []tactic.Tactic {
	if len(d.Tactics) == 0 {
		return []tactic.Tactic{tactic.None}
	}
	return d.Tactics
}

// tacticShares returns how often manipulative dialogues show each option, with
// one dialogue added to each so that nothing is impossible.
func tacticShares(dialogues []dialogue.Dialogue) []float64 {
	shares := make([]float64, len(tactic.Options()))
	total := 1.0
	for i := range shares {
		shares[i] = 1
	}
	for _, d := range dialogues {
		if d.Truth != dialogue.Yes {
			continue
		}
		total++
		for i, option := range tactic.Options() {
			if slices.Contains(options(d), option) {
				shares[i]++
			}
		}
	}
	for i := range shares {
		shares[i] = round(min(shares[i]/total, 1))
	}
	return shares
}

// examples is one part in a classifier's terms.
type examples struct {
	x   [][]feature
	yes []bool
}

func (e *examples) add(x []feature, yes bool) {
	e.x = append(e.x, x)
	e.yes = append(e.yes, yes)
}

// balanced fits a class-balanced classifier and calibrates it.
func balanced(train, valid examples, dims int) (linear, platt) {
	l := regression{x: train.x, target: hard(train.yes), weights: balance(train.yes), dims: dims}.fit().rounded()
	var logOdds []float64
	for _, x := range valid.x {
		logOdds = append(logOdds, l.logOdds(x))
	}
	return l, calibrate(logOdds, valid.yes)
}

func trainWords(parts split, shares []float64) wordModel {
	var documents [][]string
	var yes []bool
	for _, d := range parts.train {
		documents = append(documents, words(sentences(d.Turns)))
		yes = append(yes, d.Truth == dialogue.Yes)
	}
	v := learnVocabulary(documents, yes)
	var train, valid, manipulative examples
	var shown [][]tactic.Tactic
	for i, d := range parts.train {
		x := v.vector(documents[i])
		train.add(x, yes[i])
		if yes[i] {
			manipulative.add(x, true)
			shown = append(shown, options(d))
		}
	}
	for _, d := range parts.valid {
		valid.add(v.vector(words(sentences(d.Turns))), d.Truth == dialogue.Yes)
	}
	model := wordModel{Terms: v.terms, IDF: v.idf, Tactics: make([]*linear, len(tactic.Options()))}
	model.YesNo, model.Platt = balanced(train, valid, len(v.terms))
	for i, option := range tactic.Options() {
		model.Tactics[i] = trainTactic(option, manipulative.x, shown, len(v.terms))
	}
	right := map[tactic.Tactic]bool{}
	for i, d := range parts.valid {
		if top := topTactic(model.tacticScores(valid.x[i], shares)); slices.Contains(d.Tactics, top) {
			right[top] = true
		}
	}
	model.LowConfidence = []string{}
	for _, t := range tactic.All() {
		if !right[t] {
			model.LowConfidence = append(model.LowConfidence, string(t))
		}
	}
	return model
}

// trainTactic tells the manipulative dialogues that show an option from those
// that don't. It is not balanced: the options' probabilities are compared, so a
// rare option has to stay rare. It is nil with too few examples.
func trainTactic(option tactic.Tactic, x [][]feature, shown [][]tactic.Tactic, dims int) *linear {
	yes, even, n := make([]bool, len(x)), make([]float64, len(x)), 0
	for i := range x {
		even[i] = 1
		if yes[i] = slices.Contains(shown[i], option); yes[i] {
			n++
		}
	}
	if n < minTactics || len(x)-n < minTactics {
		return nil
	}
	l := regression{x: x, target: hard(yes), weights: even, dims: dims}.fit().rounded()
	for i, w := range l.Weights { // thousandths: these are most of the file
		l.Weights[i] = math.Round(w*1000) / 1000
	}
	return &l
}

func trainLength(parts split, pace float64) lengthModel {
	collect := func(dialogues []dialogue.Dialogue) (e examples) {
		for _, d := range dialogues {
			e.add(lengthVector(float64(len(words(sentences(d.Turns))))), d.Truth == dialogue.Yes)
		}
		return e
	}
	model := lengthModel{WordsPerSecond: round(pace)}
	model.YesNo, model.Platt = balanced(collect(parts.train), collect(parts.valid), 1)
	return model
}

// clipFeatures holds the prosodic features of clips by dialogue id.
type clipFeatures map[string][prosody.N]float64

// measureClips measures the clips of the dataset's parts, held-out ones
// excepted, and the pace of the training part in words a second.
func measureClips(ctx context.Context, parts split, clips map[string]func(context.Context) (audio.PCM, error)) (clipFeatures, float64, error) {
	features := clipFeatures{}
	said, seconds := 0.0, 0.0
	for i, d := range slices.Concat(parts.train, parts.valid, parts.test) {
		load := clips[d.ID]
		if load == nil {
			continue
		}
		clip, err := load(ctx)
		if err != nil {
			return nil, 0, fmt.Errorf("load the clip of %s: %w", d.ID, err)
		}
		features[d.ID] = prosody.Features(clip)
		if i < len(parts.train) {
			said += float64(len(words(sentences(d.Turns))))
			seconds += clip.Seconds()
		}
	}
	if said == 0 || seconds == 0 {
		return features, defaultPace, nil
	}
	return features, said / seconds, nil
}

func trainProsody(parts split, clips clipFeatures) (*soundModel, error) {
	var values [][prosody.N]float64
	counts := [2]int{}
	for _, d := range parts.train {
		if v, ok := clips[d.ID]; ok {
			values = append(values, v)
			counts[class(d.Truth == dialogue.Yes)]++
		}
	}
	if counts[0] < minClips || counts[1] < minClips {
		return nil, fmt.Errorf("prosody: clips of %d NO and %d YES dialogues in the training part, need %d of each: give more clips, or none", counts[0], counts[1], minClips)
	}
	model := &soundModel{Mean: make([]float64, prosody.N), Deviation: make([]float64, prosody.N)}
	for i := range prosody.N {
		var sum, squares float64
		for _, v := range values {
			sum += v[i]
		}
		mean := sum / float64(len(values))
		for _, v := range values {
			squares += (v[i] - mean) * (v[i] - mean)
		}
		model.Mean[i], model.Deviation[i] = round(mean), round(math.Sqrt(squares/float64(len(values))))
		if model.Deviation[i] < 1e-6 { // the same everywhere: it can't tell anything
			model.Deviation[i] = 1
		}
	}
	collect := func(dialogues []dialogue.Dialogue) (e examples) {
		for _, d := range dialogues {
			if v, ok := clips[d.ID]; ok {
				e.add(model.standard(v), d.Truth == dialogue.Yes)
			}
		}
		return e
	}
	model.YesNo, model.Platt = balanced(collect(parts.train), collect(parts.valid), prosody.N)
	return model, nil
}
