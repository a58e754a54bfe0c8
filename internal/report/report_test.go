package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/vote"
)

var update = flag.Bool("update", false, "write the golden files")

func build(t *testing.T, in report.Input) report.Report {
	t.Helper()
	r, err := report.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t *testing.T, writer report.Writer, r report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := writer(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", path, diff)
	}
}

func TestBuild(t *testing.T) {
	r := build(t, everything())
	if r.Items != 15 || r.Pending != 2 {
		t.Errorf("%d items, %d pending; want 15, 2", r.Items, r.Pending)
	}
	// Unseen, with truth, no exemplar: a b c d e f j k and the hostile one.
	if r.N != 9 || r.Failed.Yes != 1 || r.Confusion.Yes.Unresolved != 1 || r.Confusion.No.Yes != 2 {
		t.Errorf("n %d, failed %+v, confusion %+v", r.N, r.Failed, r.Confusion)
	}
	if diff := cmp.Diff([]report.VerdictCount{{Verdict: vote.Yes, Count: 1}}, r.Unlabelled); diff != "" {
		t.Errorf("unlabelled (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"h-seen", "i-copy"}, r.Seen.IDs); diff != "" || !r.Seen.Contaminated {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	if r.Seen.Result == nil || r.Seen.Result.N != 2 {
		t.Errorf("result on seen dialogues: %+v", r.Seen.Result)
	}
	var excluded []string
	for _, e := range r.Exemplars {
		excluded = append(excluded, e.ID)
	}
	if diff := cmp.Diff([]string{"exemplar-0", exemplar}, excluded); diff != "" {
		t.Errorf("exemplars (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]report.Flag{
		{ID: "j-misheard", Reason: "word error rate 0.75 is above 0.50"},
		{ID: "k-shrill", Reason: "turn 1: pitch 220 Hz is +12.0 semitones from voice rms's median"},
	}, r.Quality.Flagged); diff != "" {
		t.Errorf("flagged (-want +got):\n%s", diff)
	}
	for _, v := range r.Quality.Voices {
		if want := map[string]int{"rms": 1}[v.Voice]; v.Outliers != want {
			t.Errorf("voice %s has %d outliers, want %d", v.Voice, v.Outliers, want)
		}
	}
	if w := r.Quality.WithoutFlagged; w == nil || w.N != 7 {
		t.Errorf("without the flagged: %+v", w)
	}
	if diff := cmp.Diff(report.Passes{Constrained: 50, Fallback: 2, Invalid: 2, Missing: 1}, r.Passes); diff != "" {
		t.Errorf("passes, of the 11 dialogues that are judged and no exemplar (-want +got):\n%s", diff)
	}
	if len(r.Failures) != 1 || r.Failures[0].ID != "d-failed" {
		t.Errorf("failures: %+v", r.Failures)
	}
}

func TestText(t *testing.T) {
	text := write(t, report.WriteText, build(t, everything()))
	golden(t, "report.golden", text)
	lines(t, text)
}

func TestJSON(t *testing.T) {
	r := build(t, everything())
	text := write(t, report.WriteJSON, r)
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	collectKeys("", tree, paths)
	var keys []string
	for path := range paths {
		keys = append(keys, path)
	}
	slices.Sort(keys)
	golden(t, "report.keys", strings.Join(keys, "\n")+"\n")

	var back report.Report
	if err := json.Unmarshal([]byte(text), &back); err != nil {
		t.Fatal(err)
	}
	back.Result.Unlabelled = r.Result.Unlabelled // the report's own list stands in its place
	if back.Seen.Result != nil {
		back.Seen.Result.Unlabelled = r.Seen.Result.Unlabelled
	}
	if diff := cmp.Diff(r, back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("JSON reads back (-want +got):\n%s", diff)
	}
}

// collectKeys adds the path of every key below value; list elements share one.
// What has the shape of another part is left out below its own name.
func collectKeys(path string, value any, into map[string]bool) {
	if slices.Contains([]string{".seen.result", ".quality.without_flagged", ".baselines[].classification", ".classification.worst", ".classification.best"}, path) {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			into[path+"."+key] = true
			collectKeys(path+"."+key, below, into)
		}
	case []any:
		for _, below := range v {
			collectKeys(path+"[]", below, into)
		}
	}
}

func TestOrderOfRecordsDoesNotMatter(t *testing.T) {
	in := everything()
	want := build(t, in)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		shuffled := in
		shuffled.Records = slices.Clone(in.Records)
		rng.Shuffle(len(shuffled.Records), func(i, j int) {
			shuffled.Records[i], shuffled.Records[j] = shuffled.Records[j], shuffled.Records[i]
		})
		got := build(t, shuffled)
		for _, file := range report.Files() {
			if diff := cmp.Diff(write(t, file.Write, want), write(t, file.Write, got)); diff != "" {
				t.Fatalf("%s depends on the records' order:\n%s", file.Name, diff)
			}
		}
	}
}

func TestCSV(t *testing.T) {
	r := build(t, everything())
	for _, test := range []struct {
		name   string
		write  report.Writer
		rows   int
		column string
	}{
		{"dialogues", report.WriteDialoguesCSV, 12, "quote"},
		{"passes", report.WritePassesCSV, 54, "id"},
	} {
		text := write(t, test.write, r)
		if lines := strings.Count(text, "\r\n"); lines != 1+test.rows || strings.Count(text, "\n") != lines || strings.Count(text, "\r") != lines {
			t.Errorf("%s: not one line a row, each ending in CRLF", test.name)
		}
		if at := strings.IndexFunc(text, func(c rune) bool { return c != '\r' && c != '\n' && !unicode.IsPrint(c) }); at >= 0 {
			t.Errorf("%s: holds %q, which can steer a terminal", test.name, text[at:at+1])
		}
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if len(rows) != 1+test.rows {
			t.Errorf("%s: %d rows, want a header and %d", test.name, len(rows), test.rows)
		}
		at := slices.Index(rows[0], test.column)
		if at < 0 {
			t.Fatalf("%s: no column %q in %v", test.name, test.column, rows[0])
		}
		carried := false
		for _, row := range rows[1:] {
			carried = carried || strings.HasPrefix(row[at], "'=HYPERLINK(")
			for i, cell := range row {
				if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
					t.Errorf("%s: %s %q is a formula", test.name, rows[0][i], cell)
				}
			}
		}
		if !carried {
			t.Errorf("%s: no %s holds the hostile text, disarmed", test.name, test.column)
		}
	}
}

func TestEmpty(t *testing.T) {
	in := report.Input{Manifest: evaluation.Manifest{Spec: everything().Manifest.Spec}}
	for name, records := range map[string][]evaluation.Record{
		"no records":  nil,
		"failed":      {failed("d-failed", dialogue.Yes)},
		"seen only":   {judged("h-seen", dialogue.Yes, "YYYYY")},
		"unlabelled":  {judged("g-unlabelled", dialogue.Unknown, "NNNNN")},
		"no decision": {judged("c-open", dialogue.No, "IIIII")},
	} {
		t.Run(name, func(t *testing.T) {
			in := in
			in.Seen = everything().Seen
			in.Manifest.Items, in.Records = len(records), records
			r := build(t, in)
			if r.Classification.Accuracy.Defined || r.Classification.Accuracy.Reason == "" {
				t.Errorf("accuracy %+v, want undefined with a reason", r.Classification.Accuracy)
			}
			for _, file := range report.Files() {
				text := write(t, file.Write, r)
				for line := range strings.Lines(text) {
					if n := utf8.RuneCountInString(line) - 1; n > 100 && strings.HasSuffix(file.Name, ".txt") {
						t.Errorf("%d columns, want at most 100: %s", n, line)
					}
				}
				if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
					t.Errorf("%s holds NaN or Inf:\n%s", file.Name, text)
				}
				if strings.HasSuffix(file.Name, ".json") && !json.Valid([]byte(text)) {
					t.Errorf("%s is no JSON:\n%s", file.Name, text)
				}
				if strings.HasSuffix(file.Name, ".json") && strings.Contains(text, ": null") {
					t.Errorf("%s holds null:\n%s", file.Name, text)
				}
			}
		})
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		add  evaluation.Record
		want string
	}{
		"another evaluation's record": {evaluation.Record{Evaluation: "other", ID: "z"}, "other"},
		"two records of one dialogue": {judged("a-found", dialogue.Yes, "NNNNN"), "a-found"},
	} {
		in := everything()
		in.Records = append(in.Records, test.add)
		_, err := report.Build(in)
		if err == nil || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: error %v, want one that names %q", name, err, test.want)
		}
	}
}

// A copy of an exemplar is one too: by its text, and by its clip.
func TestCopiesOfExemplars(t *testing.T) {
	in := everything()
	text, clip := judged("copied text", dialogue.Yes, "YYYYY"), judged("copied clip", dialogue.Yes, "YYYYY")
	text.TextHash = "text of " + exemplar
	for i := range in.Records {
		if in.Records[i].ID == exemplar {
			in.Records[i].Clip.SHA256 = "11"
		}
	}
	clip.Clip.SHA256 = "11"
	again := judged("exemplar-0", dialogue.Yes, "YYYYY") // in the manifest's list already
	in.Records = append(in.Records, text, clip, again)
	in.Manifest.Items = len(in.Records)

	want := build(t, everything())
	r := build(t, in)
	if diff := cmp.Diff([]evaluation.Excluded{
		{ID: "exemplar-0", Reason: "exemplar"},
		{ID: "copied clip", Reason: "same clip as an exemplar"},
		{ID: "copied text", Reason: "same text as an exemplar"},
		{ID: exemplar, Reason: "exemplar"},
	}, r.Exemplars); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Result, r.Result); diff != "" {
		t.Errorf("they change the figures (-without +with):\n%s", diff)
	}
	if spent := r.Usage.PassesMade - want.Usage.PassesMade; spent != 15 {
		t.Errorf("usage has %d passes of theirs, want the 15 that were made", spent)
	}
}
