//go:build integration && linux

package e2e

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/compare"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
)

// TestReevaluateAndCompare judges the clips of one evaluation again, by the same
// detector and by two others, and compares what they say.
func TestReevaluateAndCompare(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	worker := r.worker(t)
	base := r.evaluate(t, "--id", "base", "--limit", "6")
	if base.N != 6 || len(base.Failures) != 0 {
		t.Fatalf("n %d, failures %v", base.N, base.Failures)
	}
	again := func(args ...string) report.Report {
		t.Helper()
		return decode(t, r.starter(t, append([]string{"reevaluate", "base", "--json"}, args...)...))
	}

	// Afresh: nothing is spoken, every pass is made, and the clips are measured as
	// they were, turn by turn.
	fresh := again("--id", "fresh")
	if u := fresh.Usage; u.TurnsMade+u.TurnsStored+u.ClipsMade != 0 || u.ClipsStored != 6 || u.PassesMade == 0 || u.PassesStored != 0 {
		t.Errorf("usage afresh: %+v", u)
	}
	for i, d := range fresh.Dialogues {
		was := base.Dialogues[i]
		if d.ID != was.ID || d.Clip != was.Clip || d.Timeline != was.Timeline || d.Clip.IsZero() || d.Timeline.IsZero() || d.Verdict != was.Verdict {
			t.Errorf("%q: %+v, was %+v", d.ID, d.Verdict, was.Verdict)
		}
		if diff := cmp.Diff(was.Casting, d.Casting); diff != "" || len(d.Casting) == 0 {
			t.Errorf("%q: casting (-was +now):\n%s", d.ID, diff)
		}
		if diff := cmp.Diff(was.Quality, d.Quality); diff != "" || d.Quality == nil || len(d.Quality.Turns) == 0 {
			t.Errorf("%q: quality (-was +now):\n%s", d.ID, diff)
		}
	}
	if fresh.Settings.Spec.Dataset.From != "base" {
		t.Errorf("clips from %q", fresh.Settings.Spec.Dataset.From)
	}
	for _, detector := range []string{"duration", "majority"} {
		other := again("--id", detector, "--detector", "baseline-"+detector, "--quality", "off")
		if u := other.Usage; other.N != 6 || len(other.Failures) != 0 || u.TurnsMade+u.ClipsMade+u.Recognized != 0 || u.ClipsStored != 6 {
			t.Errorf("%s: n %d, failures %v, usage %+v", detector, other.N, other.Failures, u)
		}
	}
	// Dialogues that were only read have no clips to hear.
	r.evaluate(t, "--id", "read", "--limit", "2", "--modality", "text", "--quality", "off")
	if _, errOut, err := r.try(t, "reevaluate", "read", "--modality", "audio"); err == nil || !strings.Contains(errOut, "its text alone was judged") {
		t.Errorf("clips of a text evaluation: %v, %s", err, errOut)
	}
	if _, errOut, err := r.try(t, "reevaluate", "base", "--prompt", "few-shot"); err == nil || !strings.Contains(errOut, "baseline-cascade reads no prompt") {
		t.Errorf("a prompt of a baseline: %v, %s", err, errOut)
	}

	// From here on the store is enough.
	worker.stop(t)
	r.env = append(r.env, "TEMPORAL_ADDRESS=127.0.0.1:1")
	same := compared(t, r.starter(t, "compare", "base", "fresh", "--format", "json", "--fail-on-regression", "recall:0.5"))
	if same.Paired != 6 || len(same.Flips) != 0 || same.Evaluations[1].SameClips != 6 {
		t.Errorf("%d paired, flips %v, %+v", same.Paired, same.Flips, same.Evaluations[1])
	}
	if len(same.Settings) != 1 || same.Settings[0].Name != "spec.detection.passes" {
		t.Errorf("settings that differ: %+v", same.Settings)
	}
	all := compared(t, r.starter(t, "compare", "base", "duration", "majority", "--format", "json"))
	if len(all.Tests) != 4 || len(all.Flips) == 0 || len(all.Flips[0].Outcomes) != 3 {
		t.Errorf("%d tests, flips %+v", len(all.Tests), all.Flips)
	}
	text := r.starter(t, "compare", "base", "majority")
	page := r.starter(t, "compare", "base", "majority", "--format", "html")
	for _, want := range []string{"majority against base", "baseline-majority", all.Flips[0].ID} {
		if !strings.Contains(text, want) || !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s\nor not in the page of %d bytes", want, text, len(page))
		}
	}
	// The majority never says YES: all that was found is lost.
	out, errOut, err := r.try(t, "compare", "base", "majority", "--fail-on-regression", "recall:0")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(errOut, "starter: REGRESSION: recall went from 1.000 to 0.000") || !strings.Contains(out, "REGRESSION") {
		t.Errorf("ended with %v:\n%s%s", err, out, errOut)
	}
	if _, errOut, err := r.try(t, "compare", "base", "nobody"); err == nil || !strings.Contains(errOut, `no evaluation "nobody"`) {
		t.Errorf("%v, %s", err, errOut)
	}
}

// TestReevaluateFewShot shows the exemplars of an evaluation again, with the clips
// they had, or none.
func TestReevaluateFewShot(t *testing.T) {
	t.Parallel() // it waits more than it works
	seen := &asked{solutions: map[string]bool{}, questions: map[string]bool{}}
	server := httptest.NewServer(chat.New(chat.Options{Dialect: chat.VLLM, Model: "tiny", Script: seen.note}))
	defer server.Close()
	r := newRig(t)
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+server.URL)
	r.worker(t, "--accelerator", "gpu-test", "--pool", "chat")
	base := r.evaluate(t, "--detector", "chat", "--prompt", "few-shot", "--accelerator", "gpu-test", "--pool", "chat", "--quality", "off", "--limit", "2", "--id", "few")
	before := len(seen.solutions)
	for name, test := range map[string]struct {
		args  []string
		shown int
	}{
		"the same":    {[]string{"--id", "few-again", "--option-order", "ba"}, len(base.Shown)},
		"without any": {[]string{"--id", "zero", "--prompt", "zero-shot"}, 0},
	} {
		got := decode(t, r.starter(t, append([]string{"reevaluate", "few", "--json"}, test.args...)...))
		u := got.Usage
		if got.N != base.N || len(got.Failures) != 0 || len(got.Shown) != test.shown || u.TurnsMade+u.TurnsStored+u.ClipsMade != 0 || u.PassesStored != 0 || u.PassesMade == 0 {
			t.Errorf("%s: n %d, failures %v, shown %v, usage %+v", name, got.N, got.Failures, got.Shown, u)
		}
	}
	if len(base.Shown) == 0 || len(seen.solutions) != before || !seen.questions["(A) NO"] {
		t.Errorf("shown %v, orders %v, questions %v", base.Shown, seen.solutions, seen.questions)
	}
	if _, errOut, err := r.try(t, "reevaluate", "zero", "--prompt", "few-shot"); err == nil || !strings.Contains(errOut, "showed 0 exemplars, prompt strategy few-shot shows 4") {
		t.Errorf("exemplars of an evaluation that showed none: %v, %s", err, errOut)
	}
	c := compared(t, r.starter(t, "compare", "few", "zero", "--format", "json"))
	if !slices.ContainsFunc(c.Settings, func(s compare.Setting) bool {
		return s.Name == "spec.detection.strategy" && slices.Equal(s.Values, []string{"few-shot", "zero-shot"})
	}) {
		t.Errorf("settings that differ: %+v", c.Settings)
	}
}

func compared(t *testing.T, text string) (c compare.Comparison) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%v\n%.500s", err, text)
	}
	return c
}
