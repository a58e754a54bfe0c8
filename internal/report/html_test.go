package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// markup is text that becomes markup, an attribute or a script wherever it is not
// escaped.
const markup = `"'><script>window.hacked=1</script><img src=x onerror="window.hacked=1">{{.}}javascript:window.hacked=1//` + hostile

// attacked has hostile markup wherever text comes from outside.
func attacked() report.Input {
	in := everything()
	in.Manifest.Spec.Note, in.Manifest.Spec.Dataset.Name = markup, markup
	in.Manifest.Spec.Detection.ModelName = markup
	in.Engines.Detector = detect.Identity{Detector: markup, Model: markup, Method: markup}
	in.Facts = []detect.Fact{{Name: markup, Value: markup}}
	in.Manifest.Exemplars = []evaluation.Excluded{{ID: markup + "0", Reason: markup}}
	r := found(judged(markup, dialogue.No, "YYYYY"), tactic.Anger, markup)
	r.Casting[0].Voice = markup
	r.Quality.Turns[0].Voice = markup
	r.Quality.WER = 0.9
	bad := failed(markup+"2", dialogue.Yes)
	bad.Failure = &evaluation.Failure{Stage: markup, Code: markup, Message: markup}
	in.Records = append(in.Records, r, bad)
	in.Manifest.Items += 2
	return in
}

func attackedMedia() report.Media {
	return report.Media{
		{ID: markup, Casting: 1}:    {Turns: []report.MediaTurn{{Speaker: markup, Text: markup}}, Audio: "javascript:window.hacked=1"},
		{ID: "a-found", Casting: 1}: {Turns: []report.MediaTurn{{Speaker: "Person1", Text: "Go on, You will regret it!", Start: 1, End: 2}, {Speaker: "Person2", Text: "No."}}, Audio: "clips/a.wav"},
	}
}

func TestHTMLEscapes(t *testing.T) {
	page := write(t, report.HTMLWriter(attackedMedia()), build(t, attacked()))
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts, want the page's own", n)
	}
	for _, bad := range []string{"<img", `src="javascript`, "\x1b", "\u202e", "\u009b"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;window.hacked") {
		t.Error("the hostile text is not shown at all")
	}
}

// The policy names the very style and script that are in the page.
func TestHTMLPolicy(t *testing.T) {
	page := write(t, report.WriteHTML, build(t, everything()))
	policy := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1])
	for _, element := range []string{"style", "script"} {
		inside := regexp.MustCompile(`(?s)<` + element + `>(.*?)</` + element + `>`).FindStringSubmatch(page)[1]
		sum := sha256.Sum256([]byte(inside))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %s", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "media-src") {
		t.Errorf("policy %q allows what the page doesn't have", policy)
	}
	if outside := regexp.MustCompile(`(?:src|href)="[^#"]`).FindString(page); outside != "" {
		t.Errorf("the page refers to something outside: %s", outside)
	}
}

func TestHTMLSays(t *testing.T) {
	page := html.UnescapeString(write(t, report.HTMLWriter(attackedMedia()), build(t, everything())))
	for _, want := range []string{
		"<b>n = 9</b>: 7 decided, 1 unresolved, 1 failed.",
		"0.061 to 0.792", "always YES", "majority",
		"Not finished: 2 dialogues",
		"Contaminated: the detector was trained or tuned on 2",
		"confounded with dialogue",
		"Reliability of the constrained p(A) at T = 1",
		"word error rate 0.75 is above 0.50",
		"Y\u00a00.600, Y\u00a00.600, Y\u00a00.600 fallback, N\u00a00.300",
		`data-s="wrong low"`,
		"Go on, <mark>You will regret it</mark>!",
		`data-from="1" data-to="2" class="evidence"`,
		`<audio controls preload="none" src="clips/a.wav">`,
		"spec.rules.sampling.top_p",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(strings.ToLower(page), "confidence interval") {
		t.Error("the page calls something confidence")
	}
}

// Of both modalities and option orders the page has the differences too.
func TestHTMLOfBoth(t *testing.T) {
	page := html.UnescapeString(write(t, report.WriteHTML, build(t, paid())))
	for _, want := range []string{"Gap between clip and text", "McNemar's exact p", "asked with the option letters in both orders", "exchanged on a second line", "by text YES"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// The page says when its links end, and lets clips in from the web only with such.
func TestHTMLOfLinks(t *testing.T) {
	until := time.Date(2026, 12, 1, 13, 5, 59, 0, time.FixedZone("", 3600))
	media := report.Media{{ID: "a-found", Casting: 1}: {Audio: "https://store.example/a.wav?X-Amz-Expires=60"}}
	r := build(t, everything())
	linked := html.UnescapeString(write(t, report.LinkedHTMLWriter(media, until), r))
	if !strings.Contains(linked, "links that end on 2026-12-01 12:05 UTC") || !strings.Contains(linked, "media-src https: http:") {
		t.Error("a page of links doesn't say when they end, or refuses them")
	}
	if beside := html.UnescapeString(write(t, report.HTMLWriter(media), r)); strings.Contains(beside, "links that end") || strings.Contains(beside, "https: http:") {
		t.Error("a page of clips beside it speaks of links, or lets others in")
	}
}

// Castings are told apart, and what the voices do is shown.
func TestHTMLOfCastings(t *testing.T) {
	page := html.UnescapeString(write(t, report.WriteHTML, full(t)))
	for _, want := range []string{
		"in each of its 2 castings", "a (casting 2)", "d (casting 1)</bdi>: synthesise turn 1", "Intervals are a bootstrap's over dialogues",
		"Each of 4 dialogues is compared with itself in 2 castings", "The verdict depends on the casting in 2 of 2 dialogues", "with the 2 open ones",
		"Share of YES with the voice as first speaker, minus with it as second", "Regression shown", "base (baseline)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// full has castings, and all that is added to a report: people, another truth, a
// prevalence, a schedule's look.
func full(t *testing.T) report.Report {
	t.Helper()
	r := build(t, twoCastings(
		rendered("a", dialogue.Yes, "slt rms", "YN"), rendered("b", dialogue.Yes, "rms slt", "NY"), rendered("c", dialogue.No, "slt rms", "N?"), rendered("d", dialogue.No, "slt rms", "xN"),
	))
	r.Scheduled = &evaluation.Outcome{Schedule: "nightly", Look: 3, Regression: evaluation.RegressionShown, Against: []evaluation.Against{
		{Evaluation: "base", Baseline: true, Checks: []score.Loss{{Metric: score.MetricRecall, N: 4, Before: score.Figure{Value: 0.75, Defined: true}, Shown: true}}},
	}}
	add(t, &r, study(map[string]string{"a": "YYN", "b": "NN", "c": "N", "d": "NY"}))
	return r
}

// add adds people, their consensus as a truth, and the paper's prevalence.
func add(t *testing.T, r *report.Report, people annotation.Set) {
	t.Helper()
	r.AddPeople(people, annotation.Rule{})
	r.AddTruths(report.ConsensusTruth("audio-consensus", "votes.csv", people.Consensus(annotation.Audio, annotation.Rule{})))
	prevalence, err := score.ParsePrevalence("250:90")
	if err != nil {
		t.Fatal(err)
	}
	r.Restate(prevalence)
}

// What is added to a report is on its page.
func TestHTMLOfAdditions(t *testing.T) {
	r := build(t, everything())
	add(t, &r, study(map[string]string{"a-found": "Y", "b-missed": "Y", "e-clean": "N", "f-alarm": "N", "j-misheard": "Y", "k-shrill": "N", hostile: "N"}))
	page := html.UnescapeString(write(t, report.WriteHTML, r))
	for _, want := range []string{
		`<th scope="col">people</th>`, "people, by audio", `key-mark3">people`, "Who were given the audio, beside the detector by audio",
		"Where 250:90 (0.735) are manipulative", "Where 3:4 (0.429) are manipulative",
		"audio-consensus, on what all decide", "The truths differ on 2",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// many is an evaluation as large as the whole data set.
func many(n int) report.Input {
	in := everything()
	in.Manifest.Items, in.Records, in.Seen = n, nil, detect.Seen{}
	rng := rand.New(rand.NewPCG(3, 4))
	options := tactic.Options()
	for i := range n {
		id, truth, pattern := fmt.Sprintf("854%05d", i), dialogue.Yes, make([]byte, 5)
		if rng.IntN(10) < 3 {
			truth = dialogue.No
		}
		p := rng.Float64()
		yes := 0
		for j := range pattern {
			if pattern[j] = 'N'; rng.Float64() < p {
				pattern[j] = 'Y'
				yes++
			}
		}
		r := judged(id, truth, string(pattern))
		for j := range r.Passes {
			r.Passes[j].PYes.P = vote.Nano(p * float64(vote.One))
		}
		if yes >= 3 {
			r = found(r, options[rng.IntN(len(options))], "and that is what you always say when it suits you")
		}
		r.ClipSeconds = 10 + 60*rng.Float64()
		if i%97 == 0 {
			r = misheard(r)
		}
		if i%211 == 0 {
			r = failed(id, truth)
		}
		in.Records = append(in.Records, r)
	}
	return in
}

// spoken is what was said in every dialogue, and when.
func spoken(in report.Input) report.Media {
	media := report.Media{}
	for _, r := range in.Records {
		one := report.DialogueMedia{Audio: "clips/" + r.ID + ".wav"}
		for i := range 7 { // MentalManip's dialogues have 6.6 turns and 528 bytes in the mean
			start := 3.25 * float64(i)
			one.Turns = append(one.Turns, report.MediaTurn{Speaker: "Person1", Text: strings.Repeat("what ", 14) + "it is", Start: start, End: start + 3})
		}
		media[r.Rendition()] = one
	}
	return media
}

// TestHTMLSize keeps the page of the whole data set small enough to be mailed.
func TestHTMLSize(t *testing.T) {
	in := many(2915)
	r := build(t, in)
	page := write(t, report.WriteHTML, r)
	if len(page) > 5_000_000 {
		t.Errorf("the page of 2,915 dialogues has %d bytes, want at most 5 MB", len(page))
	}
	played := write(t, report.HTMLWriter(spoken(in)), r)
	if len(played) > 5_000_000 {
		t.Errorf("with what was said it has %d bytes, want at most 5 MB", len(played))
	}
	t.Logf("%d bytes, %d with what was said", len(page), len(played))
}

// TestWritePages writes the pages that the browser's tests open, where asked to.
func TestWritePages(t *testing.T) {
	dir := os.Getenv("REPORT_PAGES")
	if dir == "" {
		t.Skip("set REPORT_PAGES to a folder to write pages for make test-browser")
	}
	large := many(2915)
	for name, text := range map[string]string{
		"small.html":    write(t, report.HTMLWriter(attackedMedia()), build(t, everything())),
		"attacked.html": write(t, report.HTMLWriter(attackedMedia()), build(t, attacked())),
		"both.html":     write(t, report.WriteHTML, build(t, paid())),
		"full.html":     write(t, report.WriteHTML, full(t)),
		"large.html":    write(t, report.HTMLWriter(spoken(large)), build(t, large)),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "clips"), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "clips", "a.wav"), silence(3), 0o644); err != nil {
		t.Fatal(err)
	}
}

// silence returns a WAV file of 8,000 samples a second, 8 bits each.
func silence(seconds int) []byte {
	n := uint32(8000 * seconds)
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, 36+n)...)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, n)
	return append(b, bytes.Repeat([]byte{128}, int(n))...)
}
