package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

func (a *app) estimateCommand() *cobra.Command {
	r, pace := &request{lookup: a.lookup}, pace{}
	var offline bool
	cmd := &cobra.Command{
		Use:   "estimate",
		Short: "Say what an evaluation would take, before it is started: calls, credits, money, hours",
		Long: `Say what an evaluation with the same flags would take at most: every verdict a YES,
which needs the most questions. Nothing is stored and nothing is paid.

What is stored already is looked up where the store is reachable and a speech worker
can say which engine it has; else the estimate says that it wasn't checked.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.estimate(cmd.Context(), r, pace, offline) },
	}
	r.flags(cmd)
	pace.flags(cmd.Flags())
	cmd.Flags().BoolVar(&offline, "offline", false, "contact nothing: what is stored already is not looked up")
	return cmd
}

// pace is how fast the workers are taken to be, all of them together.
type pace struct {
	speechCalls, audioJobs, detectCalls int
	speechSeconds, detectSeconds        float64
	listening                           float64 // seconds for a second of clip
}

func (p *pace) flags(f *pflag.FlagSet) {
	f.IntVar(&p.speechCalls, "speech-calls", 5, "assumed: speech calls at once, of all workers together")
	f.Float64Var(&p.speechSeconds, "speech-seconds", 1.5, "assumed: seconds that a speech call takes")
	f.IntVar(&p.audioJobs, "audio-jobs", 2, "assumed: recognitions at once, of all workers together")
	f.Float64Var(&p.listening, "listening", 0.2, "assumed: seconds that recognising a second of a clip takes; PocketSphinx took 0.21 of one core")
	f.IntVar(&p.detectCalls, "detect-calls", 8, "assumed: questions to the detector at once, of all workers together")
	f.Float64Var(&p.detectSeconds, "detect-seconds", 1, "assumed: seconds that a question takes")
}

func (p *pace) validate() error {
	for _, n := range []int{p.speechCalls, p.audioJobs, p.detectCalls} {
		if n < 1 {
			return usagef("--speech-calls, --audio-jobs and --detect-calls must be at least 1")
		}
	}
	for _, s := range []float64{p.speechSeconds, p.listening, p.detectSeconds} {
		if !(s >= 0 && s <= 3600) { // NaN too
			return usagef("--speech-seconds, --listening and --detect-seconds must be from 0 to 3600")
		}
	}
	return nil
}

// stage is one part of the expected wall time.
type stage struct {
	Name    string  `json:"name"`
	Calls   int     `json:"calls"`
	AtOnce  int     `json:"at_once"`
	Each    float64 `json:"seconds_each"`
	Seconds float64 `json:"seconds"`
}

// estimated is what estimate found out, and the JSON that it prints.
type estimated struct {
	Dialogues  int    `json:"dialogues"`
	Castings   int    `json:"castings"` // of every dialogue: all that follows is of all of them
	Exemplars  int    `json:"exemplars_shown"`
	Dataset    string `json:"dataset"`
	Detector   string `json:"detector"`
	Turns      int    `json:"turns"` // to speak, when nothing is stored
	Characters int    `json:"characters"`
	// Stored is what needn't be spoken; nil where it wasn't looked up.
	Stored     *stored `json:"stored,omitempty"`
	NotChecked string  `json:"stored_not_checked,omitempty"` // why

	Questions    evaluation.Questions   `json:"questions"`
	AudioSeconds float64                `json:"audio_seconds"`
	Rate         evaluation.Rate        `json:"rate"`
	AudioTokens  evaluation.AudioTokens `json:"audio_tokens"`
	Actions      int                    `json:"temporal_actions"`
	Stages       []stage                `json:"stages"`
	WallSeconds  float64                `json:"wall_seconds"`

	Prices   evaluation.Prices `json:"prices,omitzero"`
	Credits  int64             `json:"credits"` // to pay for
	Speech   evaluation.Cost   `json:"speech"`
	Judging  evaluation.Cost   `json:"detector_cost"`
	Total    evaluation.Cost   `json:"total"`
	Budget   evaluation.Budget `json:"budget,omitzero"`
	Exceeded bool              `json:"budget_exceeded"`
}

func (a *app) estimate(ctx context.Context, r *request, pace pace, offline bool) error {
	if err := pace.validate(); err != nil {
		return err
	}
	p, err := r.plan(ctx)
	if err != nil {
		return err
	}
	e := estimated{
		Dialogues: len(p.dialogues),
		Exemplars: len(p.shown),
		Dataset:   p.spec.Dataset.Name,
		Detector:  p.spec.Detection.Detector,
		Rate:      usualRate(p.spec),
		Prices:    p.spec.Prices,
		Budget:    p.spec.Budget,
	}
	if e.NotChecked = notStored(p.spec); offline && e.NotChecked == "" {
		e.NotChecked = "--offline"
	} else if e.NotChecked == "" {
		e.Stored, e.NotChecked = a.lookUp(ctx, p)
		if rate, ok := e.Stored.rate(); ok {
			e.Rate = rate
		}
	}
	e.count(p, pace)
	if r.json {
		return json.NewEncoder(a.out).Encode(e)
	}
	e.print(a.out)
	return nil
}

// notStored says why nothing that is stored could save anything; "" where it could.
func notStored(spec evaluation.Spec) string {
	switch {
	case spec.Dataset.Clips:
		return "clips are given, nothing is spoken"
	case !spec.Heard():
		return "only text is judged, nothing is spoken"
	}
	return ""
}

// count adds everything up. Stored, NotChecked and Rate are set before.
func (e *estimated) count(p plan, pace pace) {
	e.Castings = p.spec.Castings()
	questions := evaluation.MostQuestions(p.spec)
	hearing := evaluation.HearingQuestions(p.spec)
	var shown evaluation.AudioTokens // in every prompt
	for _, x := range p.shown {
		if hearing > 0 {
			shown = shown.Add(evaluation.ClipTokens(e.Rate.Seconds(p.spec, x.dialogue)))
		}
		e.speak(p.spec, x.dialogue)
	}
	for _, d := range p.dialogues {
		for range e.Castings {
			e.speak(p.spec, d)
		}
		seconds := e.Rate.Seconds(p.spec, d)
		e.AudioSeconds += seconds * float64(e.Castings)
		if hearing > 0 {
			e.AudioTokens = e.AudioTokens.Add(evaluation.ClipTokens(seconds).Add(shown).Times(hearing * e.Castings))
		}
	}
	n := len(p.dialogues) * e.Castings
	e.Actions = n*evaluation.Actions(p.spec, 0) + e.Turns
	e.Questions = evaluation.Questions{Prepare: n * questions.Prepare, Decide: n * questions.Decide, Tactics: n * questions.Tactics, Quote: n * questions.Quote}
	turns, characters := e.Turns, e.Characters
	if e.Stored != nil {
		turns, characters = turns-e.Stored.Turns, characters-e.Stored.Characters
	}
	e.Credits = (int64(characters)*e.Prices.MilliCredits + 999) / 1000
	e.Speech = e.Prices.Speech(turns, characters)
	e.Judging = e.Prices.Questions(e.Questions.Total())
	e.Total = e.Speech.Add(e.Judging)
	e.Exceeded = !e.Total.Within(e.Budget.Bound())
	e.addStage("speaking", turns, pace.speechCalls, pace.speechSeconds)
	if p.spec.Heard() {
		e.addStage("recognising", n, pace.audioJobs, pace.listening*e.AudioSeconds/float64(n))
	}
	e.addStage("judging", e.Questions.Total(), pace.detectCalls, pace.detectSeconds)
}

func (e *estimated) speak(spec evaluation.Spec, d dialogue.Dialogue) {
	turns, characters := evaluation.Spoken(spec, d)
	e.Turns, e.Characters = e.Turns+turns, e.Characters+characters
}

// addStage adds one. Stages overlap, so that the longest is the wall time of all but
// the smallest evaluations.
func (e *estimated) addStage(name string, calls, atOnce int, each float64) {
	if calls == 0 {
		return
	}
	rounds := math.Ceil(float64(calls) / float64(atOnce))
	s := stage{Name: name, Calls: calls, AtOnce: atOnce, Each: each, Seconds: rounds * each}
	e.Stages = append(e.Stages, s)
	e.WallSeconds = max(e.WallSeconds, s.Seconds)
}

// usualRate is how fast a synthesizer was measured to speak: what is assumed where
// the store has no clips to measure.
func usualRate(spec evaluation.Spec) evaluation.Rate {
	if s := spec.Speech.Synthesizer; s == "flite" || s == "rhvoice" {
		return evaluation.Rate{PerSecond: 13.8, Source: "measured on flite's clips of the built-in sample"}
	}
	return evaluation.Rate{PerSecond: 11.6, Source: "measured on 24 published clips of the paper's ElevenLabs voices"}
}

// duration is seconds for people: no finer than what an estimate can know.
func duration(seconds float64) string {
	d := (time.Duration(seconds*1000) * time.Millisecond).Round(time.Second)
	if d >= time.Hour {
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.String()
}

func (e *estimated) atOnce() string {
	text := ""
	for i, s := range e.Stages {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %s (%d x %.2f s, %d at once)", s.Name, duration(s.Seconds), s.Calls, s.Each, s.AtOnce)
	}
	return text
}
