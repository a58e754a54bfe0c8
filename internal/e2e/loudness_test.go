//go:build integration && linux

package e2e

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

// checkLoudness measures every clip, and every speaker in it, with ffmpeg, and
// the gaps sample by sample.
func checkLoudness(t *testing.T, store archive.Archive, r report.Report) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed: infra/setup.sh --test installs it")
	}
	options := r.Settings.Spec.Compose
	gap := int(math.Round(options.GapSeconds * float64(options.Rate)))
	for _, d := range r.Dialogues {
		data, err := objectstore.Bytes(t.Context(), store.Store, d.Clip)
		if err != nil {
			t.Fatal(err)
		}
		timeline, err := objectstore.GetJSON[audio.Timeline](t.Context(), store.Store, d.Timeline)
		if err != nil {
			t.Fatal(err)
		}
		pcm, _, err := audio.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		checkLevel(t, d.ID, pcm, options)
		speakers := map[string][]float32{}
		for i, span := range timeline.Turns {
			if !slices.Contains(span.Flags, audio.FlagSilent) {
				speakers[span.Speaker] = append(speakers[span.Speaker], pcm.Samples[span.StartSample:span.EndSample]...)
			}
			if i == 0 {
				continue
			}
			from := timeline.Turns[i-1].EndSample
			if span.StartSample-from != gap {
				t.Errorf("%s: %d samples before turn %d, want %d", d.ID, span.StartSample-from, span.Turn, gap)
			}
			for _, s := range pcm.Samples[from:span.StartSample] {
				if s != 0 {
					t.Errorf("%s: the gap before turn %d is not silent", d.ID, span.Turn)
					break
				}
			}
		}
		for speaker, samples := range speakers {
			checkLevel(t, d.ID+" "+speaker, audio.PCM{Rate: pcm.Rate, Samples: samples}, options)
		}
	}
}

func checkLevel(t *testing.T, what string, pcm audio.PCM, options audio.ComposeOptions) {
	t.Helper()
	lufs, peak := ffmpegLevel(t, pcm)
	if math.Abs(lufs-options.TargetLUFS) > 1 {
		t.Errorf("%s: %.1f LUFS, target %.1f", what, lufs, options.TargetLUFS)
	}
	if peak > options.TruePeakCeiling {
		t.Errorf("%s: true peak %.1f dBTP, ceiling %.1f", what, peak, options.TruePeakCeiling)
	}
}

var (
	integrated = regexp.MustCompile(`(?s)Summary:.*?I:\s+(-?[\d.]+) LUFS`)
	truePeak   = regexp.MustCompile(`(?s)Summary:.*?Peak:\s+(-?[\d.]+) dBFS`)
)

func ffmpegLevel(t *testing.T, pcm audio.PCM) (lufs, peak float64) {
	t.Helper()
	var wav audio.Buffer
	if err := audio.EncodeWAV(&wav, pcm, nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "level.wav")
	if err := os.WriteFile(path, wav.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ffmpeg", "-nostats", "-hide_banner", "-i", path, "-filter_complex", "ebur128=peak=true", "-f", "null", "-").CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v\n%s", err, out)
	}
	return submatch(t, integrated, out), submatch(t, truePeak, out)
}

func submatch(t *testing.T, pattern *regexp.Regexp, text []byte) float64 {
	t.Helper()
	// The last one: ffmpeg may print a summary of a filter that it made and dropped.
	matches := pattern.FindAllSubmatch(text, -1)
	if len(matches) == 0 {
		t.Fatalf("ffmpeg printed no %s:\n%s", pattern, bytes.TrimSpace(text))
	}
	value, err := strconv.ParseFloat(string(matches[len(matches)-1][1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// write writes a file into the rig's folder.
func (r *rig) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
