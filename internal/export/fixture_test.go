package export_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/export"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// hostile is an id that wants out of its folder, and breaks lines and markup.
const hostile = "../CON.wav\n<b>\"x\" é"

// world is an evaluation with all that an export tells apart, and what it refers to.
type world struct {
	report    report.Report
	texts     map[string]dialogue.Dialogue
	timelines map[string]audio.Timeline
	clips     map[string][]byte
	opened    int // clips
}

func (w *world) Dialogue(_ context.Context, id string) (dialogue.Dialogue, error) {
	d, ok := w.texts[id]
	if !ok {
		return d, errors.New("no such dialogue")
	}
	return d, nil
}

func (w *world) Timeline(_ context.Context, ref objectstore.Ref) (*audio.Timeline, error) {
	t, ok := w.timelines[ref.Key]
	if !ok {
		return nil, nil
	}
	return &t, nil
}

func (w *world) Clip(_ context.Context, ref objectstore.Ref) (io.ReadCloser, error) {
	w.opened++
	data, ok := w.clips[ref.Key]
	if !ok {
		return nil, objectstore.NotFound(ref.Key)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

const rate = 8000

// add adds a dialogue whose turns take half a second each, with a tenth between them.
func (w *world) add(t *testing.T, r evaluation.Record, timed bool, turns ...dialogue.Turn) {
	t.Helper()
	d := dialogue.Dialogue{ID: r.ID, Truth: r.Truth, Turns: turns}
	r.Evaluation, r.TextHash, r.Turns = "e1", d.TextHash(), len(turns)
	number := len(w.texts)
	timeline := audio.Timeline{Synthetic: true, Rate: rate, Provenance: audio.Provenance{Synthesizer: "flite 2.2"}}
	at := 0.0
	for i, turn := range turns {
		timeline.Turns = append(timeline.Turns, audio.TurnSpan{Turn: i, Speaker: string(turn.Speaker), Voice: "v1", Start: at, End: at + 0.5})
		at += 0.6
	}
	samples := make([]float32, int(math.Round((at-0.1)*rate)))
	for i := range samples {
		samples[i] = float32(math.Sin(float64(i)*0.2*float64(number+1)) / 4)
	}
	var wav audio.Buffer
	if err := audio.EncodeWAV(&wav, audio.PCM{Rate: rate, Samples: samples}, &audio.Provenance{Title: r.ID}); err != nil {
		t.Fatal(err)
	}
	timeline.Seconds = float64(len(samples)) / rate
	sum := sha256.Sum256(wav.Bytes())
	r.Clip = objectstore.Ref{Key: fmt.Sprintf("clips/%d.wav", number), SHA256: hex.EncodeToString(sum[:]), Size: int64(len(wav.Bytes()))}
	r.ClipSeconds = timeline.Seconds
	if timed {
		r.Timeline = objectstore.Ref{Key: fmt.Sprintf("clips/%d.json", number)}
		w.timelines[r.Timeline.Key] = timeline
	}
	w.texts[r.ID], w.clips[r.Clip.Key] = d, wav.Bytes()
	w.report.Dialogues = append(w.report.Dialogues, report.Dialogue{Record: r})
}

func newWorld(t *testing.T) *world {
	t.Helper()
	pool, err := voice.BuiltIn("flite")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{texts: map[string]dialogue.Dialogue{}, timelines: map[string]audio.Timeline{}, clips: map[string][]byte{}}
	w.report = report.Report{
		Evaluation: "e1", Note: "a [note](http://example.com)", Items: 9, Pending: 1,
		Exemplars: []evaluation.Excluded{{ID: "x1", Reason: "exemplar"}},
		Settings: report.Settings{Spec: evaluation.Spec{
			ID: "e1", Dataset: evaluation.Dataset{Name: "<script>.csv"}, Compose: audio.DefaultComposeOptions(), Rules: vote.Paper(),
			Speech: evaluation.Speech{Synthesizer: "flite", Pool: pool, CastingSeed: 1},
		}},
	}
	yes := evaluation.Judgement{
		Verdict: vote.Outcome{Verdict: vote.Yes, Yes: 4, No: 1}, Tactic: &vote.TacticOutcome{Tactic: tactic.Shaming},
		Evidence: &evaluation.EvidenceRecord{Quote: vote.Quote{Text: `you "owe" me`}},
	}
	casting := voice.Casting{{Speaker: "Person1", Voice: "v3"}, {Speaker: "Person 2;", Voice: "v2"}}
	w.add(t, evaluation.Record{ID: hostile, Truth: dialogue.Yes, Tactics: []tactic.Tactic{tactic.Shaming}, Judgement: yes, Casting: casting}, true,
		dialogue.Turn{Speaker: "Person1", Text: `He said "you owe me", <b>é</b>.`},
		dialogue.Turn{Speaker: "Person 2;", Text: ""},
		dialogue.Turn{Speaker: "Person1", Text: "-- “So?” \t\\item [1]: 漢字"})
	w.add(t, evaluation.Record{ID: "A", Truth: dialogue.No, Judgement: evaluation.Judgement{Verdict: vote.Outcome{Verdict: vote.No, No: 5}}}, true,
		dialogue.Turn{Speaker: "Person1", Text: "Tea?"}, dialogue.Turn{Speaker: "Person 2;", Text: "Or coffee?"})
	w.add(t, evaluation.Record{ID: "a", Judgement: evaluation.Judgement{Verdict: vote.Outcome{Verdict: vote.Unresolved, Yes: 2, No: 2, Invalid: 1}}}, true,
		dialogue.Turn{Speaker: "Person1", Text: "Hm."})
	w.add(t, evaluation.Record{ID: "late", Truth: dialogue.Yes, Failure: &evaluation.Failure{Stage: "pass 3", Code: "refused", Message: "secret"}}, true,
		dialogue.Turn{Speaker: "Person1", Text: "No."})
	w.add(t, evaluation.Record{ID: "given", Truth: dialogue.No, Judgement: evaluation.Judgement{Verdict: vote.Outcome{Verdict: vote.No, No: 5}}}, false,
		dialogue.Turn{Speaker: "Person1", Text: "Left."}, dialogue.Turn{Speaker: "Person2", Text: "Right."})
	w.add(t, evaluation.Record{ID: "gone", Truth: dialogue.No}, true, dialogue.Turn{Speaker: "Person1", Text: "Bye."})
	w.report.Dialogues = append(w.report.Dialogues, report.Dialogue{Record: evaluation.Record{
		ID: "early", Failure: &evaluation.Failure{Stage: "synthesise turn 1", Code: "voice_not_found"},
	}})
	return w
}

func (w *world) set(t *testing.T, format export.Format) export.Set {
	t.Helper()
	set, err := export.NewSet(w.report, export.Options{Format: format, Rights: "CC BY 4.0, *all* of it", ShardBytes: export.MinShardBytes}, map[evaluation.Rendition]bool{{ID: "gone", Casting: 1}: true})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// memory is a sink that breaks off at the write with number breaks.
type memory struct {
	files  map[string][]byte
	made   []string // names that were committed, in order
	writes int
	breaks int // 0: never
}

var errBroken = errors.New("broken off")

func newMemory() *memory { return &memory{files: map[string][]byte{}} }

func (m *memory) Stat(_ context.Context, name string) (string, bool, error) {
	data, ok := m.files[name]
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), ok, nil
}

func (m *memory) Create(_ context.Context, name string) (export.File, error) {
	return &memoryFile{memory: m, name: name}, nil
}

type memoryFile struct {
	bytes.Buffer
	memory *memory
	name   string
}

func (f *memoryFile) Write(p []byte) (int, error) {
	if f.memory.writes++; f.memory.writes == f.memory.breaks {
		return 0, errBroken
	}
	return f.Buffer.Write(p)
}

func (f *memoryFile) Commit(context.Context) error {
	f.memory.files[f.name] = bytes.Clone(f.Bytes())
	f.memory.made = append(f.memory.made, f.name)
	return nil
}

func (f *memoryFile) Abort() {}

func write(t *testing.T, w *world, format export.Format, sink export.Sink) error {
	t.Helper()
	return export.Write(t.Context(), sink, w.set(t, format), w, func(int) {})
}

// exported writes the world's export and returns its files.
func exported(t *testing.T, w *world, format export.Format) map[string][]byte {
	t.Helper()
	sink := newMemory()
	if err := write(t, w, format, sink); err != nil {
		t.Fatal(err)
	}
	return maps.Clone(sink.files)
}

// onDisk writes the world's export into a folder.
func onDisk(t *testing.T, w *world, format export.Format) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range exported(t, w, format) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
