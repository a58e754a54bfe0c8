package audio

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childEnv makes the test binary compose the WAV files named in it and exit, so that a
// benchmark can read the processor time and memory of a composition in a process of its own.
const childEnv = "SPEECHMANIP_COMPOSE_CHILD"

func TestMain(m *testing.M) {
	if files := os.Getenv(childEnv); files != "" {
		if err := composeFiles(strings.Split(files, string(os.PathListSeparator))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// composeFiles composes all but the last path, alternating two speakers, into the last.
func composeFiles(paths []string) error {
	last := len(paths) - 1
	var turns []TurnSource
	for i, path := range paths[:last] {
		turns = append(turns, TurnSource{Turn: i, Speaker: string(rune('a' + i%2)), Open: func() (io.ReadCloser, error) { return os.Open(path) }})
	}
	dst, err := os.Create(paths[last])
	if err != nil {
		return err
	}
	defer dst.Close()
	_, err = Compose(dst, turns, DefaultComposeOptions(), Provenance{Software: "benchmark"})
	return err
}

const benchTurns = 60

// speechTurns is a dialogue of 60 turns as 16 kHz WAV files; seconds is their length.
func speechTurns(b *testing.B) (paths []string, seconds float64) {
	b.Helper()
	lines := []string{
		flite(b, "slt", "I can't believe you did that. After everything I have done for you, you walk away and leave me alone."),
		flite(b, "rms", "I never said that, and you know it. You always twist my words until nothing is left of them."),
	}
	dir := b.TempDir()
	for i := range benchTurns {
		data, err := os.ReadFile(lines[i%2])
		if err != nil {
			b.Fatal(err)
		}
		p, _, err := Decode(data)
		if err != nil {
			b.Fatal(err)
		}
		seconds += p.Seconds()
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("turn%02d.wav", i)))
		if err := os.WriteFile(paths[i], data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return paths, seconds
}

// usage is the processor time and the peak resident memory in MB of one command.
func usage(b *testing.B, cmd *exec.Cmd) (time.Duration, float64) {
	b.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		b.Fatalf("%v\n%s", err, errs.Bytes())
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
}

// ffmpegArgs is the same work for ffmpeg, with one advantage: it is given the gains, so it
// measures once and needs no second pass.
func ffmpegArgs(paths []string, out string) []string {
	args := []string{"-v", "error", "-nostats", "-y", "-threads", "1", "-filter_threads", "1", "-filter_complex_threads", "1"}
	var graph, inputs strings.Builder
	for i, path := range paths {
		args = append(args, "-threads", "1", "-i", path)
		fmt.Fprintf(&graph, "[%d:a]aresample=24000,volume=-3.5dB,apad=pad_dur=0.2[t%d];", i, i)
		fmt.Fprintf(&inputs, "[t%d]", i)
	}
	fmt.Fprintf(&graph, "%sconcat=n=%d:v=0:a=1,ebur128=peak=true:framelog=verbose[out]", inputs.String(), len(paths))
	return append(args, "-filter_complex", graph.String(), "-map", "[out]", "-threads", "1", "-c:a", "pcm_s16le", out)
}

// BenchmarkComposeVsFFmpeg compares processor time, so that other load on the machine
// counts little, and peak resident memory on one core: decode, resample, loudness with true
// peak, gain, join. A ratio above 1 means that Compose is faster.
func BenchmarkComposeVsFFmpeg(b *testing.B) {
	ffmpeg := tool(b, "ffmpeg")
	paths, seconds := speechTurns(b)
	dir := b.TempDir()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var ours, theirs time.Duration
	var ourMB, theirMB float64
	for b.Loop() {
		files := strings.Join(append(paths[:len(paths):len(paths)], filepath.Join(dir, "ours.wav")), string(os.PathListSeparator))
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), childEnv+"="+files, "GOMAXPROCS=1")
		cpu, mb := usage(b, cmd)
		ours, ourMB = ours+cpu, max(ourMB, mb)

		cpu, mb = usage(b, exec.Command(ffmpeg, ffmpegArgs(paths, filepath.Join(dir, "theirs.wav"))...))
		theirs, theirMB = theirs+cpu, max(theirMB, mb)
	}
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(n*seconds/ours.Seconds(), "x-realtime")
	b.ReportMetric(n*seconds/theirs.Seconds(), "ffmpeg-x-realtime")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "ratio")
	b.ReportMetric(ourMB, "MB-resident")
	b.ReportMetric(theirMB, "ffmpeg-MB-resident")
}

// BenchmarkCompose composes the same dialogue in this process, for profiles.
func BenchmarkCompose(b *testing.B) {
	paths, seconds := speechTurns(b)
	out := filepath.Join(b.TempDir(), "clip.wav")
	b.ReportAllocs()
	for b.Loop() {
		if err := composeFiles(append(paths[:len(paths):len(paths)], out)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(seconds*float64(b.N)/b.Elapsed().Seconds(), "x-realtime")
}

func BenchmarkParts(b *testing.B) {
	p := syllables(44100, 10, 0.8, 1)
	data := wavBytes(b, p)
	for name, work := range map[string]func(){
		"decode WAV": func() { Decode(data) },
		"resample":   func() { Resample(p, 24000) },
		"measure":    func() { Measure(p) },
		"encode":     func() { EncodeWAV(&Buffer{}, p, nil) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				work()
			}
			b.ReportMetric(10*float64(b.N)/b.Elapsed().Seconds(), "x-realtime")
		})
	}
}

// BenchmarkDecodeMP3 shows what MP3 turns cost in addition.
func BenchmarkDecodeMP3(b *testing.B) {
	p := syllables(44100, 5, 0.8, 1)
	path := filepath.Join(b.TempDir(), "x.mp3")
	output(b, "ffmpeg", "-v", "error", "-i", wavFile(b, p), "-b:a", "128k", path)
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(5*float64(b.N)/b.Elapsed().Seconds(), "x-realtime")
}
