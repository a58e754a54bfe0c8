package audio

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func source(turn int, speaker string, data []byte) TurnSource {
	return TurnSource{
		Turn: turn, Speaker: speaker, Voice: "voice of " + speaker, TextHash: "hash",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
}

func compose(t testing.TB, turns []TurnSource, opts ComposeOptions) (Timeline, []byte) {
	t.Helper()
	var b Buffer
	timeline, err := Compose(&b, turns, opts, Provenance{Title: "d1", Synthesizer: "test", Software: "speechmanip"})
	if err != nil {
		t.Fatal(err)
	}
	return timeline, b.Bytes()
}

func decoded(t testing.TB, data []byte) PCM {
	t.Helper()
	p, format, err := Decode(data)
	if err != nil || len(format.Warnings) > 0 {
		t.Fatalf("decode the clip: %v %q", err, format.Warnings)
	}
	return p
}

// quiet puts half a second of faint noise around p, as synthesizers do.
func quiet(p PCM) PCM {
	room := PCM{Samples: make([]float32, p.Rate/2)}
	for i := range room.Samples {
		room.Samples[i] = 1e-4 * float32(i%3-1)
	}
	return join(PCM{Rate: p.Rate}, room, p, room)
}

// dialogueTurns has two speakers 20 dB apart, one of them once in a whisper.
func dialogueTurns(t testing.TB) []TurnSource {
	turn := func(rate int, amplitude float64, seed uint64) []byte {
		return wavBytes(t, quiet(syllables(rate, 1.5, amplitude, seed)))
	}
	return []TurnSource{
		source(0, "a", turn(16000, 0.9, 1)),
		source(1, "b", turn(22050, 0.09, 2)),
		source(2, "a", turn(16000, 0.2, 3)),
		source(3, "b", turn(24000, 0.07, 4)),
		source(4, "b", turn(48000, 0.08, 5)),
	}
}

func TestComposeReachesTheTarget(t *testing.T) {
	for _, level := range []Level{LevelSpeaker, LevelTurn, LevelClip} {
		t.Run(string(level), func(t *testing.T) {
			opts := DefaultComposeOptions()
			opts.Level = level
			timeline, data := compose(t, dialogueTurns(t), opts)
			clip := decoded(t, data)
			measured := Measure(clip)
			near(t, "clip", measured.Integrated, -23, 0.2)
			near(t, "clip in the timeline", timeline.LUFS, measured.Integrated, 0.02)
			near(t, "true peak in the timeline", timeline.TruePeak, measured.TruePeak, 0.02)
			if measured.TruePeak > -1 {
				t.Errorf("true peak %.2f dBTP", measured.TruePeak)
			}
			bySpeaker := map[string]PCM{}
			for _, turn := range timeline.Turns {
				part := PCM{Rate: clip.Rate, Samples: clip.Samples[turn.StartSample:turn.EndSample]}
				near(t, "turn in the timeline", turn.LUFS, Measure(part).Integrated, 0.02)
				if level == LevelTurn {
					near(t, "turn", turn.LUFS, -23, 1)
				}
				bySpeaker[turn.Speaker] = join(PCM{Rate: clip.Rate}, bySpeaker[turn.Speaker], part)
			}
			for _, s := range timeline.Speakers {
				got := Measure(bySpeaker[s.Speaker]).Integrated
				near(t, "speaker in the timeline", s.LUFS, got, 0.05)
				if level != LevelClip {
					near(t, "speaker", got, -23, 1)
				}
			}
			gains := []float64{timeline.Turns[0].GainDB, timeline.Turns[2].GainDB}
			if same := gains[0] == gains[1]; same != (level != LevelTurn) {
				t.Errorf("gains %v of one speaker at level %s", gains, level)
			}
		})
	}
}

func TestComposeLevelNone(t *testing.T) {
	opts := DefaultComposeOptions()
	opts.Level = LevelNone
	in := syllables(24000, 1, 0.25, 1)
	timeline, data := compose(t, []TurnSource{source(0, "a", wavBytes(t, in))}, opts)
	near(t, "loudness", Measure(decoded(t, data)).Integrated, Measure(in).Integrated, 0.1)
	if timeline.Turns[0].GainDB != 0 || timeline.ClipGainDB != 0 {
		t.Errorf("gains %v and %v, want none", timeline.Turns[0].GainDB, timeline.ClipGainDB)
	}
}

// Between turns lies exactly the configured number of zeros, the edges of turns are faded,
// and the samples that follow from one another leave no step.
func TestComposeGapsAndJoins(t *testing.T) {
	opts := DefaultComposeOptions()
	opts.LeadSeconds = 0.1
	opts.TrimKeepMillis = 0
	var turns []TurnSource
	for i := range 5 {
		// A tone that starts and stops at full swing: the hardest join.
		turns = append(turns, source(i, "a", wavBytes(t, sine(24000, 0.5+0.1*float64(i), 250, 0.5))))
	}
	timeline, data := compose(t, turns, opts)
	clip := decoded(t, data)
	if len(clip.Samples) != timeline.Samples {
		t.Fatalf("%d samples, timeline says %d", len(clip.Samples), timeline.Samples)
	}
	end, gap := 0, 2400
	for i, turn := range timeline.Turns {
		if turn.StartSample-end != gap {
			t.Errorf("gap before turn %d is %d samples, want %d", i, turn.StartSample-end, gap)
		}
		if largest(clip.Samples[end:turn.StartSample]) != 0 {
			t.Errorf("sound before turn %d", i)
		}
		if n := turn.EndSample - turn.StartSample; n != 12000+2400*i {
			t.Errorf("turn %d has %d samples: nothing was to be trimmed", i, n)
		}
		near(t, "start", turn.Start, float64(turn.StartSample)/24000, 1e-6)
		near(t, "end", turn.End, float64(turn.EndSample)/24000, 1e-6)
		end, gap = turn.EndSample, 4800
	}
	if end != timeline.Samples {
		t.Errorf("clip goes on after its last turn")
	}
	// The steepest step of a 250 Hz tone at the clip's level, with a little for the fade.
	steepest := float64(largest(clip.Samples)) * 2 * math.Pi * 250 / 24000 * 1.1
	for i := 1; i < len(clip.Samples); i++ {
		if step := math.Abs(float64(clip.Samples[i] - clip.Samples[i-1])); step > steepest {
			t.Fatalf("click at sample %d: step of %.3f, the tone's own is %.3f", i, step, steepest)
		}
	}
}

func TestComposeFlags(t *testing.T) {
	streamed := wavBytes(t, syllables(24000, 1, 0.3, 1))
	copy(streamed[40:44], "\xff\xff\xff\xff")
	turns := []TurnSource{
		source(0, "a", streamed),
		source(1, "a", wavBytes(t, sine(24000, 0.2, 500, 0.3))),
		{Turn: 2, Speaker: "b", Silent: true},
		source(3, "c", wavBytes(t, PCM{Rate: 24000, Samples: make([]float32, 12000)})),
		source(4, "d", wavBytes(t, syllables(24000, 1, 0.002, 2))),
	}
	timeline, data := compose(t, turns, DefaultComposeOptions())
	want := [][]Flag{{FlagRepaired}, {FlagShort}, {FlagSilent}, {FlagSilent}, {FlagGainLimited}}
	for i, turn := range timeline.Turns {
		if !slices.Equal(turn.Flags, want[i]) {
			t.Errorf("turn %d: flags %q, want %q", i, turn.Flags, want[i])
		}
	}
	if n := timeline.Turns[2].EndSample - timeline.Turns[2].StartSample; n != 4800 {
		t.Errorf("wordless turn of %d samples, want 4800", n)
	}
	clip := decoded(t, data)
	if largest(clip.Samples[timeline.Turns[1].EndSample:timeline.Turns[4].StartSample]) != 0 {
		t.Error("sound in the silent turns")
	}
	if _, err := json.Marshal(timeline); err != nil {
		t.Errorf("the timeline has no JSON: %v", err)
	}
}

// Two clicks that stand far out of the speech: the ceiling holds and the loudness stays
// within 1 LU. Lowering the gain until they fit would cost several LU.
func TestComposeHoldsTheCeiling(t *testing.T) {
	p := syllables(24000, 3, 0.2, 1)
	p.Samples[3000], p.Samples[40000] = 0.95, -0.95
	if before := Measure(p); before.TruePeak-before.Integrated < 24 {
		t.Fatalf("the clicks stand out by %.1f dB only", before.TruePeak-before.Integrated)
	}
	timeline, data := compose(t, []TurnSource{source(0, "a", wavBytes(t, p))}, DefaultComposeOptions())
	clip := Measure(decoded(t, data))
	if clip.TruePeak > -1 {
		t.Errorf("true peak %.2f dBTP", clip.TruePeak)
	}
	near(t, "loudness", clip.Integrated, -23, 1)
	near(t, "loudness in the timeline", timeline.LUFS, clip.Integrated, 0.02)
	if !slices.Contains(timeline.Turns[0].Flags, FlagPeakLimited) {
		t.Errorf("flags %q", timeline.Turns[0].Flags)
	}

	loud := DefaultComposeOptions()
	loud.TargetLUFS = -10
	timeline, data = compose(t, dialogueTurns(t), loud)
	if got := Measure(decoded(t, data)).TruePeak; got > -1 {
		t.Errorf("true peak %.2f dBTP at -10 LUFS (timeline %.2f)", got, timeline.TruePeak)
	}
	t.Run("by ffmpeg", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "loud.wav")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		lufs, peak := ffmpegLevel(t, path)
		t.Logf("%.2f LUFS, %.2f dBTP", lufs, peak)
		if peak > -1 {
			t.Errorf("true peak %.2f dBTP at -10 LUFS", peak)
		}
	})
}

func TestComposeRefuses(t *testing.T) {
	good := wavBytes(t, syllables(24000, 1, 0.3, 1))
	empty := wavBytes(t, PCM{Rate: 24000})
	silence := wavBytes(t, PCM{Rate: 24000, Samples: make([]float32, 24000)})
	broken := TurnSource{Turn: 7, Speaker: "a", Open: func() (io.ReadCloser, error) { return nil, errors.New("gone") }}
	bad := DefaultComposeOptions()
	bad.Level, bad.GapSeconds = "loud", -1
	for _, test := range []struct {
		name  string
		turns []TurnSource
		opts  ComposeOptions
		want  []string
	}{
		{"no turns", nil, DefaultComposeOptions(), []string{"no turns"}},
		{"empty audio", []TurnSource{source(0, "a", good), source(3, "b", empty)}, DefaultComposeOptions(), []string{"turn 3", "no samples"}},
		{"no bytes", []TurnSource{source(4, "b", nil)}, DefaultComposeOptions(), []string{"turn 4", "no bytes"}},
		{"an error saved as audio", []TurnSource{source(5, "b", []byte(`{"detail":"too many requests"}`))}, DefaultComposeOptions(), []string{"turn 5", "text that begins"}},
		{"unreadable", []TurnSource{broken}, DefaultComposeOptions(), []string{"turn 7", "gone"}},
		{"no source", []TurnSource{{Turn: 8, Speaker: "a"}}, DefaultComposeOptions(), []string{"turn 8", "no audio to open"}},
		{"only silence", []TurnSource{source(0, "a", silence), {Turn: 1, Silent: true}}, DefaultComposeOptions(), []string{"audible"}},
		{"bad options", []TurnSource{source(0, "a", good)}, bad, []string{"speaker, turn, clip, none", "gap_seconds"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compose(&Buffer{}, test.turns, test.opts, Provenance{})
			for _, want := range test.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v doesn't say %q", err, want)
				}
			}
		})
	}
}

func TestComposeIsDeterministic(t *testing.T) {
	first, one := compose(t, dialogueTurns(t), DefaultComposeOptions())
	second, two := compose(t, dialogueTurns(t), DefaultComposeOptions())
	if !bytes.Equal(one, two) {
		t.Error("the same input gave other bytes")
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

// peakFile is a destination that keeps nothing and looks at the heap now and then.
type peakFile struct {
	writes int
	heap   uint64
}

func (f *peakFile) Write(p []byte) (int, error) {
	if f.writes++; f.writes%16 == 0 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		f.heap = max(f.heap, stats.HeapAlloc)
	}
	return len(p), nil
}

func (f *peakFile) Seek(int64, int) (int64, error) { return 0, nil }

// 400 turns, 50 MB of float samples, hold no more than 1 MB above what 10 turns hold.
func TestComposeMemoryDoesNotGrow(t *testing.T) {
	data := wavBytes(t, syllables(16000, 1.3, 0.3, 1))
	live := func(n int) uint64 {
		var turns []TurnSource
		for i := range n {
			turns = append(turns, source(i, string(rune('a'+i%3)), data))
		}
		var dst peakFile
		if _, err := Compose(&dst, turns, DefaultComposeOptions(), Provenance{}); err != nil {
			t.Fatal(err)
		}
		return dst.heap
	}
	few, many := live(10), live(400)
	t.Logf("10 turns %d KB, 400 turns %d KB", few>>10, many>>10)
	if many > few+1<<20 {
		t.Errorf("live memory went from %d to %d bytes with 40 times the turns", few, many)
	}
}

// Real synthesis in three voices, judged by ffmpeg: the clip and every speaker.
func TestComposeSpeechAgainstFFmpeg(t *testing.T) {
	tool(t, "ffmpeg")
	lines := []struct{ speaker, voice, text string }{
		{"Ann", "slt", "I can't believe you did that. After everything I have done for you!"},
		{"Ben", "rms", "No."},
		{"Ben", "rms", "I never said that, and you know it. You always twist my words."},
		{"Cid", "kal", "Calm down, both of you. It is late."},
		{"Ann", "slt", "If you loved me, you would not ask me these questions."},
	}
	var turns []TurnSource
	for i, line := range lines {
		data, err := os.ReadFile(flite(t, line.voice, line.text))
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, source(i, line.speaker, data))
	}
	timeline, data := compose(t, turns, DefaultComposeOptions())
	path := filepath.Join(t.TempDir(), "clip.wav")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	lufs, peak := ffmpegLevel(t, path)
	t.Logf("clip: %.2f LUFS, %.2f dBTP; timeline %.2f, %.2f", lufs, peak, timeline.LUFS, timeline.TruePeak)
	near(t, "clip", lufs, -23, 1)
	near(t, "clip in the timeline", timeline.LUFS, lufs, 0.1)
	near(t, "true peak in the timeline", timeline.TruePeak, peak, 0.3)
	if peak > -1 {
		t.Errorf("true peak %.2f dBTP", peak)
	}
	clip := decoded(t, data)
	for _, s := range timeline.Speakers {
		all := PCM{Rate: clip.Rate}
		for _, turn := range timeline.Turns {
			if turn.Speaker == s.Speaker {
				all.Samples = append(all.Samples, clip.Samples[turn.StartSample:turn.EndSample]...)
			}
		}
		lufs, _ := ffmpegLevel(t, wavFile(t, all))
		t.Logf("%s: %.2f LUFS, timeline %.2f, gain %.2f dB", s.Speaker, lufs, s.LUFS, s.GainDB)
		near(t, "speaker "+s.Speaker, lufs, -23, 1)
		near(t, "speaker in the timeline", s.LUFS, lufs, 0.1)
	}
}
