package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// noon is the time of every test.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// fixture is a store with one evaluation of one dialogue, and the activities on
// it with stand-ins for the engines.
type fixture struct {
	store    *mem.Store
	puts     *unreliable // what the activities reach it through
	log      *observer.ObservedLogs
	task     evaluation.Task
	manifest evaluation.Manifest

	tones    *tones
	ears     *ears
	detector *detector

	planner   *Planner
	speech    *Speech
	clips     *Clips
	detection *Detection
	records   *Records
}

// quarrel has a wordless turn, and the same words by the same speaker twice.
var quarrel = dialogue.Dialogue{
	ID: "7",
	Turns: []dialogue.Turn{
		{Speaker: "Person1", Text: "You never listen."},
		{Speaker: "Person2", Text: "I do listen, really."},
		{Speaker: "Person1", Text: "..."},
		{Speaker: "Person1", Text: "You never listen."},
	},
	Truth:   dialogue.Yes,
	Tactics: []tactic.Tactic{tactic.Accusation},
}

func spec() evaluation.Spec {
	return evaluation.Spec{
		ID:      "e",
		Dataset: evaluation.Dataset{Name: "quarrels.csv"},
		Speech: evaluation.Speech{Synthesizer: "tones", Pool: voice.Pool{Name: "two", Synthesizer: "tones", Voices: []voice.Voice{
			{Slug: "low", Params: map[string]string{"hz": "110"}},
			{Slug: "high", Params: map[string]string{"hz": "220"}},
		}}},
		Compose:    audio.DefaultComposeOptions(),
		Recognizer: "ears",
		Detection: evaluation.Detection{
			Detector: "stand-in", ModelName: "none", Modality: detect.Audio,
			Accelerator: "cpu", Pool: "test", Passes: evaluation.PassesReuse,
		},
		Rules:   vote.Paper(),
		Quality: evaluation.DefaultQuality(),
		Limits:  evaluation.DefaultLimits(),
	}
}

func newFixture(t *testing.T, change func(*evaluation.Spec)) *fixture {
	t.Helper()
	ctx := t.Context()
	core, logs := observer.New(zap.InfoLevel)
	f := &fixture{store: mem.New(), log: logs, tones: &tones{}, ears: &ears{}, detector: &detector{p: 900_000_000, quote: "you never listen"}}
	f.store.Now = func() time.Time { return noon }
	f.puts = &unreliable{Store: f.store}
	objects := Remaking{Store: f.puts, Log: zap.New(core), Now: func() time.Time { return noon }}
	library := &Library{Archive: archive.Archive{Store: objects}}
	once := Once{Store: objects, Log: zap.New(core), Now: func() time.Time { return noon }}
	f.planner = &Planner{Library: library}
	f.speech = &Speech{Library: library, Once: once, Synthesizer: f.tones}
	f.clips = &Clips{Library: library, Once: once, Recognizer: f.ears, Software: "test"}
	f.detection = &Detection{Library: library, Once: once, Detectors: func(context.Context, Wanted) (detect.Detector, error) { return f.detector, nil }}
	f.records = &Records{Library: library}

	lines, slices, err := library.Archive.PutDataset(ctx, []dialogue.Dialogue{quarrel})
	if err != nil {
		t.Fatal(err)
	}
	s := spec()
	s.Dataset.Lines = lines
	if change != nil {
		change(&s)
	}
	item := evaluation.Item{ID: quarrel.ID, Line: slices[0]}
	manifest, ref, err := library.Archive.Create(ctx, evaluation.Manifest{Spec: s, Created: noon}, []evaluation.Chunk{{Items: []evaluation.Item{item}}})
	if err != nil {
		t.Fatal(err)
	}
	f.manifest = manifest
	f.task = evaluation.Task{Evaluation: s.ID, Manifest: ref, Item: item}
	f.task.Engines = f.saveEngines(t, evaluation.Engines{
		Speech: tonesEngine, Recognizer: earsEngine, Detector: standIn, NeedsWords: true,
	})
	return f
}

func (f *fixture) saveEngines(t *testing.T, engines evaluation.Engines) objectstore.Ref {
	t.Helper()
	ref, err := run[objectstore.Ref](t, f.records.SaveEngines, "e", engines)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// run executes an activity as a worker does.
func run[T any](t *testing.T, fn any, args ...any) (T, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(fn)
	var result T
	value, err := env.ExecuteActivity(fn, args...)
	if err != nil {
		return result, err
	}
	if err := value.Get(&result); err != nil {
		t.Fatal(err)
	}
	return result, nil
}

// must executes an activity that has to succeed.
func must[T any](t *testing.T, fn any, args ...any) T {
	t.Helper()
	result, err := run[T](t, fn, args...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

// failedWith checks what Temporal is told of an activity's error.
func failedWith(t *testing.T, err error, code string, retry bool) {
	t.Helper()
	var application *temporal.ApplicationError
	if !errors.As(err, &application) || application.Type() != code || application.NonRetryable() == retry {
		t.Errorf("error %v, want type %q, retried: %v", err, code, retry)
	}
}

// store puts a value as activities do.
func put(t *testing.T, store objectstore.Store, key string, value any) objectstore.Ref {
	t.Helper()
	ref, err := objectstore.PutJSON(t.Context(), store, key, value, objectstore.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func get[T any](t *testing.T, store objectstore.Store, ref objectstore.Ref) T {
	t.Helper()
	value, err := objectstore.GetJSON[T](t.Context(), store, ref)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// render makes the fixture's clip.
func (f *fixture) render(t *testing.T) ClipResult {
	t.Helper()
	for _, turn := range must[Plan](t, f.planner.PlanDialogue, f.task).Spoken {
		must[TurnResult](t, f.speech.SynthesizeTurn, TurnTask{Task: f.task, Turn: turn})
	}
	return must[ClipResult](t, f.clips.ComposeClip, f.task)
}

// lines returns the log's messages with their keys' folder.
func (f *fixture) lines() []string {
	var lines []string
	for _, entry := range f.log.All() {
		folder, _, _ := strings.Cut(fmt.Sprint(entry.ContextMap()["key"]), "/")
		lines = append(lines, entry.Message+" "+folder)
	}
	return lines
}

// tones speaks a tone a voice, half a second a word.
type tones struct {
	quick bool // a twentieth of a second a word
	mu    sync.Mutex
	asked []speech.Request
	fail  error
}

var tonesEngine = speech.Engine{Name: "tones", Version: "1", Format: "wav_16000"}

func (s *tones) Engine(context.Context) (speech.Engine, error) { return tonesEngine, s.fail }

func (s *tones) Check(_ context.Context, pool voice.Pool) error {
	for _, v := range pool.Voices {
		if v.Params["hz"] == "" {
			return fault.Permanentf("check voices", "voice_not_found", "voice %q has no hz", v.Slug)
		}
	}
	return nil
}

func (s *tones) Synthesize(_ context.Context, request speech.Request) (speech.Speech, error) {
	s.mu.Lock()
	s.asked = append(s.asked, request)
	s.mu.Unlock()
	if s.fail != nil {
		return speech.Speech{}, s.fail
	}
	var hz float64
	if _, err := fmt.Sscan(request.Voice.Params["hz"], &hz); err != nil {
		return speech.Speech{}, err
	}
	word := 8000
	if s.quick {
		word /= 10
	}
	pcm := audio.PCM{Rate: 16000, Samples: make([]float32, word*len(dialogue.Words(request.Text)))}
	for i := range pcm.Samples {
		phase := 2 * math.Pi * hz * float64(i) / 16000
		pcm.Samples[i] = float32(0.2*math.Sin(phase) + 0.1*math.Sin(2*phase)) // with an overtone, as voices have
	}
	var file audio.Buffer
	err := audio.EncodeWAV(&file, pcm, nil)
	return speech.Speech{Audio: file.Bytes(), Characters: len(request.Text)}, err
}

// ears hears the words that it is told to hear.
type ears struct {
	words []string
	calls int
	fail  error
}

var earsEngine = recognize.Engine{Name: "ears", Model: "none", Version: "1"}

func (e *ears) Engine(context.Context) (recognize.Engine, error) { return earsEngine, e.fail }

func (e *ears) Recognize(_ context.Context, clip audio.PCM) (recognize.Transcript, error) {
	e.calls++
	transcript := recognize.Transcript{Engine: earsEngine, Length: clip.Seconds()}
	for _, w := range e.words {
		transcript.Words = append(transcript.Words, recognize.Word{Text: w})
	}
	return transcript, e.fail
}

// detector says YES with probability p and shows what it was given.
type detector struct {
	p     vote.Nano
	quote string
	fail  error

	calls int
	items []detect.Item
}

var standIn = detect.Identity{Detector: "stand-in", Model: "none", Fingerprint: "f", Method: "m"}

func (d *detector) Identity(context.Context) (detect.Identity, error) { return standIn, d.fail }
func (d *detector) Seen() detect.Seen                                 { return detect.Seen{IDs: []string{"8"}} }
func (d *detector) NeedsTranscript() bool                             { return true }

func (d *detector) Prepare(ctx context.Context, item detect.Item) ([]byte, error) {
	d.note(item)
	if item.Transcript == nil {
		return []byte(`{"words":0}`), d.fail
	}
	transcript, err := item.Transcript(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]int{"words": len(transcript.Words)})
	return body, cmp.Or(err, d.fail)
}

func (d *detector) Decide(_ context.Context, item detect.Item, pass detect.Pass) (detect.Decision, error) {
	d.note(item)
	mass := vote.Mass{P: d.p, Observed: true}
	return detect.Decision{Vote: detect.Draw(mass, pass.Sampling, pass.Seed), Method: vote.Constrained, PYes: mass, Reply: "A"}, d.fail
}

func (d *detector) ScoreTactics(_ context.Context, item detect.Item) (detect.TacticScores, error) {
	d.note(item)
	scores := detect.TacticScores{Method: "m", Masses: make([]vote.Mass, len(tactic.Options()))}
	for i := range scores.Masses {
		scores.Masses[i] = vote.Mass{P: vote.Nano(100_000_000 - i*8_000_000), Observed: true}
	}
	return scores, d.fail
}

func (d *detector) Quote(_ context.Context, item detect.Item, _ detect.QuoteRequest) (detect.Evidence, error) {
	d.note(item)
	return detect.Evidence{Quote: d.quote, Start: 0.5, End: 1.5}, d.fail
}

func (d *detector) note(item detect.Item) {
	d.calls++
	d.items = append(d.items, item)
}
