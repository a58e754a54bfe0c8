package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/export"
)

const hostileName = "=2e=2e=2f=43=4f=4e=2ewav=0a=3cb=3e=22x=22=20=c3=a9"

func TestFiles(t *testing.T) {
	base := []string{
		"README.md", "SHA256SUMS", "clips/" + hostileName + ".wav", "clips/=41.wav", "clips/a.wav", "clips/given.wav", "clips/late.wav",
		"export.json", "left_out.jsonl", "metadata.jsonl",
	}
	for format, want := range map[export.Format][]string{
		export.AudioFolder: base,
		export.WebDataset:  {"README.md", "SHA256SUMS", "export.json", "left_out.jsonl", "shard-000000.tar"},
		export.NeMo:        append(slices.Clone(base), "manifest.json"),
		export.RTTM:        append(slices.Clone(base), "dialogues.rttm"),
		export.TextGrid: append(slices.Clone(base),
			"clips/"+hostileName+".TextGrid", "clips/=41.TextGrid", "clips/a.TextGrid", "clips/late.TextGrid"),
	} {
		got := slices.Sorted(maps.Keys(exported(t, newWorld(t), format)))
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// An export that is broken off at any write, and begun again, has the bytes of one that
// was not, and makes no file twice.
func TestBrokenOff(t *testing.T) {
	for _, format := range export.Formats() {
		w, whole := newWorld(t), newMemory()
		set := w.set(t, format)
		write := func(sink export.Sink) error { return export.Write(t.Context(), sink, set, w, func(int) {}) }
		if err := write(whole); err != nil {
			t.Fatal(err)
		}
		for at := 1; at <= whole.writes; at++ {
			sink := newMemory()
			sink.breaks = at
			if err := write(sink); !errors.Is(err, errBroken) {
				t.Fatalf("%s, broken at write %d: %v", format, at, err)
			}
			if _, complete := sink.files["SHA256SUMS"]; complete {
				t.Errorf("%s, broken at write %d: is taken for complete", format, at)
			}
			if err := write(sink); err != nil {
				t.Fatalf("%s, again after write %d: %v", format, at, err)
			}
			if !maps.EqualFunc(whole.files, sink.files, bytes.Equal) {
				t.Fatalf("%s, broken at write %d, differs", format, at)
			}
			made := slices.Sorted(slices.Values(sink.made))
			if len(slices.Compact(made)) != len(sink.made) {
				t.Errorf("%s, broken at write %d, made a file twice: %v", format, at, sink.made)
			}
		}
	}
}

func TestComplete(t *testing.T) {
	w, sink := newWorld(t), newMemory()
	if err := write(t, w, export.AudioFolder, sink); err != nil {
		t.Fatal(err)
	}
	opened, made := w.opened, len(sink.made)
	if err := write(t, w, export.AudioFolder, sink); err != nil || w.opened != opened || len(sink.made) != made {
		t.Errorf("a complete export was made again: %v", err)
	}
	if err := write(t, w, export.NeMo, sink); !errors.Is(err, export.ErrOther) {
		t.Errorf("another format in the same place: %v", err)
	}
	w.report.Dialogues[1].Verdict.Yes++
	if err := write(t, w, export.AudioFolder, sink); !errors.Is(err, export.ErrOther) {
		t.Errorf("other results in the same place: %v", err)
	}
}

// A clip of other bytes under its name, in a place that was broken off, is made again.
func TestDamagedClip(t *testing.T) {
	whole, w, sink := exported(t, newWorld(t), export.AudioFolder), newWorld(t), newMemory()
	maps.Copy(sink.files, whole)
	delete(sink.files, "SHA256SUMS")
	sink.files["clips/a.wav"] = []byte("RIFF")
	if err := write(t, w, export.AudioFolder, sink); err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(whole, sink.files, bytes.Equal) {
		t.Error("the export differs")
	}
}

func TestMetadata(t *testing.T) {
	var rows []map[string]any
	for line := range bytes.Lines(exported(t, newWorld(t), export.AudioFolder)["metadata.jsonl"]) {
		var row map[string]any
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 && len(row) != len(rows[0]) {
			t.Errorf("row %d has %d keys, the first %d", len(rows), len(row), len(rows[0]))
		}
		rows = append(rows, row)
	}
	first := rows[0]
	turns := first["turns"].([]any)
	want := map[string]any{"speaker": "Person1", "voice": "v1", "text": `He said "you owe me", <b>é</b>.`, "start": 0.0, "end": 0.5}
	if diff := cmp.Diff(want, turns[0]); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]any{
		"id": hostile, "evaluation": "e1", "synthetic": true, "synthesizer": "flite 2.2", "truth": "YES", "verdict": "YES",
		"votes_yes": 4.0, "votes_no": 1.0, "tactic": "Shaming or Belittlement", "evidence": `you "owe" me`, "failure": nil,
		"file_name": "clips/" + hostileName + ".wav", "seconds": 1.7, "sample_rate": 8000.0,
	} {
		if first[key] != want {
			t.Errorf("%s is %v, want %v", key, first[key], want)
		}
	}
	for i, want := range []map[string]any{
		1: {"id": "A", "truth": "NO", "verdict": "NO", "tactic": nil, "evidence": nil},
		2: {"id": "a", "truth": nil, "verdict": "UNRESOLVED"},
		3: {"id": "late", "verdict": nil, "failure": "pass 3: refused"},
		4: {"id": "given", "synthetic": nil, "synthesizer": nil, "sample_rate": nil, "seconds": 1.1},
	} {
		for key, value := range want {
			if rows[i][key] != value {
				t.Errorf("row %d: %s is %v, want %v", i, key, rows[i][key], value)
			}
		}
	}
	if start := rows[4]["turns"].([]any)[0].(map[string]any)["start"]; start != nil {
		t.Errorf("a clip that was given has a turn at %v", start)
	}
}

func TestLeftOut(t *testing.T) {
	want := `{"id":"gone","reason":"its clip is not in the store any more"}
{"id":"early","reason":"failed: synthesise turn 1: voice_not_found"}
{"id":"x1","reason":"exemplar"}
`
	if got := string(exported(t, newWorld(t), export.RTTM)["left_out.jsonl"]); got != want {
		t.Errorf("left out:\n%s", got)
	}
}

func TestStatement(t *testing.T) {
	got := string(exported(t, newWorld(t), export.AudioFolder)["README.md"])
	for _, want := range []string{
		"5 clips of 9 dialogues", "Truth: unknown 1, NO 2, YES 2.", "Verdict: NO 2, UNRESOLVED 1, YES 1, failed 1.",
		"1 dialogues had no result yet", "- 1: exemplar", "- 1: failed: synthesise turn 1: voice\\_not\\_found",
		`\<script\>.csv`, "  - v4: shift +12%, source flite awb", "synthetic speech by", "CMU ARCTIC", "As stated by who exported: CC BY 4.0, \\*all\\* of it",
		"Not for: deciding about real people", "sha256sum -c SHA256SUMS", `a \[note\]\(http://example.com\)`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the statement lacks %q", want)
		}
	}
	if strings.Contains(got, "<script>") || t.Failed() {
		t.Log(got)
	}
}

func TestSelection(t *testing.T) {
	w := newWorld(t)
	set, err := export.NewSet(w.report, export.Options{Format: export.NeMo, Rights: "r", Truth: dialogue.Yes}, nil)
	if err != nil || len(set.Dialogues) != 2 || len(set.LeftOut) != 6 {
		t.Errorf("%d of truth YES, %d left out, want 2 and 6; %v", len(set.Dialogues), len(set.LeftOut), err)
	}
	_, err = export.NewSet(w.report, export.Options{Format: export.NeMo}, nil)
	var rights *export.RightsError
	if !errors.As(err, &rights) || len(rights.Unknown) != 1 {
		t.Errorf("without rights: %v", err)
	}
	w.report.Settings.Spec.Speech.Synthesizer = "elevenlabs"
	if _, err = export.NewSet(w.report, export.Options{Format: export.NeMo}, nil); !errors.As(err, &rights) || len(rights.Unknown) != 2 {
		t.Errorf("a paid engine without rights: %v", err)
	}
	for i := range w.report.Dialogues {
		w.report.Dialogues[i].Timeline.Key = ""
	}
	for _, format := range []export.Format{export.RTTM, export.TextGrid} {
		if _, err := export.NewSet(w.report, export.Options{Format: format, Rights: "r"}, nil); err == nil || !strings.Contains(err.Error(), "timeline") {
			t.Errorf("%s without timelines: %v", format, err)
		}
	}
	w.report.Dialogues = w.report.Dialogues[6:]
	if _, err := export.NewSet(w.report, export.Options{Format: export.NeMo, Rights: "r"}, nil); err == nil {
		t.Error("an export of nothing")
	}
}

func TestShardsAreBounded(t *testing.T) {
	w := newWorld(t)
	big := bytes.Repeat([]byte{1}, 600<<10)
	for i, d := range w.report.Dialogues[:4] {
		w.clips[d.Clip.Key] = big
		w.report.Dialogues[i].Clip.Size = int64(len(big))
	}
	files := exported(t, w, export.WebDataset)
	for _, name := range []string{"shard-000000.tar", "shard-000003.tar"} {
		if len(files[name]) == 0 || len(files[name]) > export.MinShardBytes+1<<16 {
			t.Errorf("%s has %d bytes", name, len(files[name]))
		}
	}
	if _, ok := files["shard-000004.tar"]; ok {
		t.Error("the small clip has a shard of its own")
	}
}

// A clip of another size than its ref would break an archive.
func TestWrongSize(t *testing.T) {
	for _, format := range export.Formats() {
		w := newWorld(t)
		w.report.Dialogues[0].Clip.Size--
		if err := write(t, w, format, newMemory()); err == nil {
			t.Errorf("%s: a clip of another size went through", format)
		}
	}
}
