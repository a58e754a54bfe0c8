package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/sample"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// smokeNote is printed on top of every report on the built-in sample.
const smokeNote = "smoke test, not evidence: the built-in sample is the project's own writing"

// request is what the flags of evaluate ask for.
type request struct {
	id, dataset, clips           string
	ids                          []string
	limit                        int
	truth                        string
	synthesizer, voices, level   string
	castingSeed                  uint64
	castings                     int
	speechContext                bool
	rules, detector, model       string
	modality, accelerator, pool  string
	strategy, optionOrder, shown string
	passes, votes, tacticDraw    string
	seed                         uint64
	maxWER                       float64
	chunkSize, chunks, dialogues int
	maxFailures, priority        int
	attributes, quality          string
	detach, json                 bool
	out                          string
	spending
	lookup func(string) (string, bool) // the environment
}

func (r *request) flags(cmd *cobra.Command) {
	limits, f := evaluation.DefaultLimits(), cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.dataset, "dataset", "", "CSV (MentalManip's columns) or JSONL; without it the built-in sample")
	f.StringSliceVar(&r.ids, "ids", nil, "only the dialogues with these ids")
	f.StringVar(&r.truth, "truth", "", "only the dialogues with this truth: yes or no")
	f.IntVar(&r.limit, "limit", 0, "only the first N dialogues; 0 is all")
	f.StringVar(&r.clips, "clips", "", "folder of clips that exist already (ID_*.mp3, .wav, .flac): nothing is synthesised")
	f.StringVar(&r.synthesizer, "synthesizer", "flite", "speech engine: one of "+strings.Join(voice.Synthesizers(), ", "))
	f.StringVar(&r.voices, "voices", "", "voice pool: a built-in one ("+strings.Join(voice.BuiltInNames(), ", ")+") or a TOML file; without it the synthesizer's own")
	f.Uint64Var(&r.castingSeed, "casting-seed", 0, "another seed casts other voices")
	f.IntVar(&r.castings, "castings", 1, "render and judge every dialogue so often, its speakers taking turns with their voices, and with others after that: what a voice does to verdicts shows within dialogues")
	f.BoolVar(&r.speechContext, "speech-context", false, "give the speech engine the neighbouring turns' texts with every turn; for engines that carry them over (elevenlabs)")
	f.StringVar(&r.level, "level", string(audio.DefaultComposeOptions().Level), "what gets one loudness gain: speaker, turn, clip or none")
	f.StringVar(&r.detector, "detector", baseline.Cascade, "one of "+strings.Join(detectorNames(), ", "))
	f.StringVar(&r.model, "model", "", "of a baseline: its model file (see baseline train), without it one is trained now on the built-in training text; of chat: the model's name on the server")
	f.StringVar(&r.strategy, "prompt", "zero-shot", "of chat: the prompt strategy, one of "+strings.Join(prompt.Names(), ", "))
	f.StringVar(&r.shown, "exemplars", "", exemplarHelp)
	f.StringVar(&r.optionOrder, "option-order", string(prompt.AB), "of chat: which letter stands for YES: ab, ba, or both one after the other")
	f.StringVar(&r.modality, "modality", string(detect.Audio), "what the detector is given: audio, text, asr, or both audio and text of each dialogue")
	f.StringVar(&r.accelerator, "accelerator", "cpu", "the detect queue's kind of machine")
	f.StringVar(&r.pool, "pool", "baseline", "the detect queue's pool")
	f.StringVar(&r.rules, "rules", vote.Paper().Name, "vote rules: "+strings.Join(vote.Presets(), " or "))
	f.StringVar(&r.votes, "votes", string(vote.VotesSampled), "the calls that the votes take: sampled (one each), early-stop (none once the label is settled) or analytic (one: the label that most draws would give)")
	f.StringVar(&r.tacticDraw, "tactic-draw", string(vote.DrawScore), "how a tactic pass finds its option: score (the most probable one) or sample")
	f.StringVar(&r.passes, "passes", string(evaluation.PassesReuse), "reuse stored passes, or ask afresh: reuse or fresh")
	f.Uint64Var(&r.seed, "seed", 0, "every pass's own seed derives from it")
	f.StringVar(&r.quality, "quality", "on", "on, or off to recognise and measure clips only where the detector reads their words")
	f.Float64Var(&r.maxWER, "max-wer", evaluation.DefaultQuality().MaxWER, "flag clips whose word error rate is above")
	r.spending.flags(f)
	f.IntVar(&r.chunkSize, "chunk-size", limits.ChunkSize, "dialogues a chunk")
	f.IntVar(&r.chunks, "chunks", limits.Chunks, "chunks at once")
	f.IntVar(&r.dialogues, "dialogues", limits.Dialogues, "dialogues at once in a chunk")
	f.IntVar(&r.maxFailures, "max-failures", 0, "pause when so many dialogues have failed; 0 is any number")
	f.IntVar(&r.priority, "priority", 0, "1 (first) to 5 among what waits on the same queues; without it 3")
	f.StringVar(&r.attributes, "search-attributes", "on", "on, or off where the namespace doesn't have them")
	f.StringVar(&r.id, "id", "", "the evaluation's id; without it one is made up")
	f.StringVar(&r.out, "out", "reports", "folder for the report's files")
	f.BoolVar(&r.detach, "detach", false, "start it and return")
	f.BoolVar(&r.json, "json", false, "print JSON for scripts, progress to stderr")
}

// plan is an evaluation ready to be stored and started.
type plan struct {
	spec      evaluation.Spec
	dialogues []dialogue.Dialogue
	shown     []shownExemplar
	excluded  []evaluation.Excluded
	model     []byte
	clips     map[string]string // dialogue id -> file
	notes     []string          // lines for the operator
}

// plan reads what the request names and checks all of it before anything is
// stored or started. Wrong flags are reported together.
func (r *request) plan(ctx context.Context) (plan, error) {
	p := plan{}
	rules, rulesErr := vote.Preset(r.rules)
	pool, poolErr := r.voicePool()
	attributes, attributesErr := onOff("--search-attributes", r.attributes)
	quality, qualityErr := onOff("--quality", r.quality)
	truth, truthErr := r.wantedTruth()
	prices, budget, spendingErr := r.spending.read(r.lookup)
	flagErrs := errors.Join(rulesErr, poolErr, attributesErr, qualityErr, truthErr, r.checkDetector(), r.checkCastings(), spendingErr)
	if r.id == "" {
		r.id = newID(time.Now())
	}
	p.spec = evaluation.Spec{
		ID:               r.id,
		Dataset:          evaluation.Dataset{Name: "sample", Clips: r.clips != ""},
		Compose:          audio.DefaultComposeOptions(),
		Recognizer:       "pocketsphinx",
		Rules:            rules,
		Quality:          evaluation.DefaultQuality(),
		Limits:           evaluation.Limits{ChunkSize: r.chunkSize, Chunks: r.chunks, Dialogues: r.dialogues, Failures: r.maxFailures, Priority: r.priority},
		Prices:           prices,
		Budget:           budget,
		SearchAttributes: attributes,
		Detection: evaluation.Detection{
			Detector:    r.detector,
			Modality:    detect.Modality(r.modality),
			Accelerator: r.accelerator,
			Pool:        r.pool,
			Seed:        r.seed,
			Passes:      evaluation.PassMode(r.passes),
		},
	}
	if r.detector == chatDetector {
		p.spec.Detection.Strategy, p.spec.Detection.OptionOrder = r.strategy, r.optionOrder
	}
	p.spec.Rules.Votes, p.spec.Rules.TacticDraw = vote.VoteMode(r.votes), vote.DrawRule(r.tacticDraw)
	if s := p.spec.Rules.Sampling; s.Temperature == 0 && p.spec.Rules.Votes == vote.VotesSampled && p.spec.Rules.Passes > 1 {
		p.notes = append(p.notes, fmt.Sprintf("rules %s sample at temperature 0: all %d passes say the same, and cost as much each; --votes analytic asks once", rules.Name, rules.Passes))
	}
	p.spec.Compose.Level = audio.Level(r.level)
	p.spec.Quality.MaxWER, p.spec.Quality.Off = r.maxWER, !quality
	if !p.spec.Dataset.Clips {
		p.spec.Speech = evaluation.Speech{Synthesizer: r.synthesizer, Pool: pool, CastingSeed: r.castingSeed, Castings: r.severalCastings(), Context: r.speechContext}
	}
	if rulesErr != nil { // already an error: what stands in lets the rest be checked
		p.spec.Rules = vote.Paper()
	}
	if poolErr != nil {
		p.spec.Dataset.Clips = true
	}
	if err := errors.Join(flagErrs, p.spec.Validate()); err != nil {
		return p, usageError{err}
	}
	if err := r.readDialogues(&p, truth); err != nil {
		return p, err
	}
	return p, r.readModel(ctx, &p)
}

func (r *request) voicePool() (voice.Pool, error) {
	switch {
	case r.voices != "" && slices.Contains(voice.BuiltInNames(), r.voices):
		return voice.BuiltIn(r.voices)
	case r.voices == "" && slices.Contains(voice.Synthesizers(), r.synthesizer):
		return voice.For(r.synthesizer)
	case r.voices == "":
		return voice.Pool{}, fmt.Errorf("--synthesizer %q: use one of %s", r.synthesizer, strings.Join(voice.Synthesizers(), ", "))
	}
	text, err := readFile(r.voices, maxSettings)
	if err != nil {
		return voice.Pool{}, fmt.Errorf("--voices %q is no built-in pool (%s) and no file: %w", r.voices, strings.Join(voice.BuiltInNames(), ", "), err)
	}
	pool, err := voice.ParsePool(text)
	if err != nil {
		return pool, fmt.Errorf("--voices %s: %w", r.voices, err)
	}
	return pool, nil
}

func (r *request) wantedTruth() (dialogue.Truth, error) {
	if r.truth == "" {
		return dialogue.Unknown, nil
	}
	truth, err := dialogue.ParseTruth(r.truth)
	if err != nil {
		return truth, fmt.Errorf("--truth: %w", err)
	}
	return truth, nil
}

// chatDetector is the detector that asks a chat server; its worker knows where
// the server is.
const chatDetector = "chat"

func detectorNames() []string { return append(baseline.Names(), chatDetector) }

func (r *request) checkDetector() error {
	if !slices.Contains(detectorNames(), r.detector) {
		return fmt.Errorf("--detector %q: use one of %s", r.detector, strings.Join(detectorNames(), ", "))
	}
	if r.detector != chatDetector {
		return nil
	}
	var errs []error
	if !slices.Contains(prompt.Names(), r.strategy) {
		errs = append(errs, fmt.Errorf("--prompt %q: use one of %s", r.strategy, strings.Join(prompt.Names(), ", ")))
	}
	if r.optionOrder != evaluation.OrderBoth {
		if err := prompt.Order(r.optionOrder).Validate(); err != nil {
			errs = append(errs, fmt.Errorf("--option-order: %w, or both", err))
		}
	}
	return errors.Join(errs...)
}

// readDialogues reads and selects the dialogues; exemplars and, with --clips,
// dialogues without a clip are left out.
func (r *request) readDialogues(p *plan, truth dialogue.Truth) error {
	dataset, err := r.readDataset(p)
	if err != nil {
		return err
	}
	if err := unusable(dataset.Validation, p.spec.Dataset.Name); err != nil {
		return fmt.Errorf("%w: `starter dataset check` names them", err)
	}
	selection := dialogue.Selection{IDs: r.ids, Truth: truth, Limit: r.limit}
	all := dataset.Dialogues
	if r.clips != "" {
		if p.clips, err = findClips(r.clips); err != nil {
			return err
		}
		all = slices.DeleteFunc(slices.Clone(all), func(d dialogue.Dialogue) bool { return p.clips[d.ID] == "" })
		if without := len(p.clips) - len(all); without > 0 {
			p.notes = append(p.notes, fmt.Sprintf("%d of %d clips belong to no dialogue of the dataset", without, len(p.clips)))
		}
	}
	kept, err := dialogue.Select(all, selection)
	if err != nil {
		return err
	}
	heard := slices.Contains(p.spec.Detection.Modalities(), detect.Audio)
	if p.shown, err = r.exemplars(dataset.Dialogues, p.clips, heard, p.spec.Rules); err != nil {
		return err
	}
	if err := p.leaveOutExemplars(kept, dataset.Dialogues); err != nil {
		return err
	}
	if len(p.dialogues) == 0 {
		return fmt.Errorf("nothing to evaluate: no dialogue of %s is selected", p.spec.Dataset.Name)
	}
	return p.checkPool()
}

func (r *request) readDataset(p *plan) (dialogue.Dataset, error) {
	if r.dataset == "" {
		if r.clips == "" {
			p.spec.Note = smokeNote
		}
		return dialogue.Read("sample.csv", strings.NewReader(string(sample.Dialogues())))
	}
	p.spec.Dataset.Name = filepath.Base(r.dataset)
	file, err := os.Open(r.dataset)
	if err != nil {
		return dialogue.Dataset{}, fmt.Errorf("--dataset: %w", err)
	}
	defer file.Close()
	dataset, err := dialogue.Read(r.dataset, file)
	if err != nil {
		return dataset, fmt.Errorf("%s: %w", r.dataset, err)
	}
	return dataset, nil
}

// readModel reads the model, or trains one on the built-in training text.
func (r *request) readModel(ctx context.Context, p *plan) error {
	if r.detector == chatDetector {
		p.spec.Detection.ModelName = r.model
		return nil
	}
	if r.model != "" {
		file, err := readFile(r.model, maxModel)
		if err != nil {
			return fmt.Errorf("--model: %w", err)
		}
		model, err := baseline.Load(file)
		if err != nil {
			return fmt.Errorf("--model %s: %w", r.model, err)
		}
		if _, err := baseline.New(model, r.detector); err != nil {
			return fmt.Errorf("--model %s: %w", r.model, err)
		}
		p.model, p.spec.Detection.ModelName = file, filepath.Base(r.model)
		return nil
	}
	model, err := trainBuiltIn(ctx)
	if err != nil {
		return err
	}
	if _, err := baseline.New(model, r.detector); err != nil {
		return err
	}
	p.model, p.spec.Detection.ModelName = model.Encode(), "built-in training text"
	p.notes = append(p.notes, "the detector was trained just now on the built-in training text, the project's own writing: use --model for a real one")
	return nil
}

// newID makes an id that sorts by time and that nobody else makes.
func newID(now time.Time) string {
	return strings.ToLower(now.UTC().Format("20060102-150405") + "-" + rand.Text()[:4])
}
