package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// speechManip returns the path of a file of the paper's annotations, which are no
// part of the project (nobody has licensed them) and lie beside it where they are
// present.
func speechManip(t *testing.T, m annotation.Modality) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", "speechmentalmanip", fmt.Sprintf("annotations_%s_compiled.csv", m))
	if _, err := os.Stat(path); os.IsNotExist(err) {
		t.Skipf("%s is not here: the paper's annotations are not part of the project", path)
	}
	return path
}

// agreementJSON runs the command and reads its JSON into result.
func agreementJSON(t *testing.T, result any, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{out: &out, err: &errs, in: strings.NewReader(""), lookup: func(string) (string, bool) { return "", false }}
	if code := a.run(t.Context(), append([]string{"annotation", "agreement", "--json"}, args...)); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), result); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
}

func requireValue(t *testing.T, what string, c coefficient, want float64, items int, tolerance float64) {
	t.Helper()
	if !c.Value.Defined || math.Abs(c.Value.Value-want) > tolerance || c.Items != items {
		t.Errorf("%s = %+v on %d items, want %v on %d", what, c.Value, c.Items, want, items)
	}
}

// The paper's data, computed independently before.
func TestAgreementOfThePapersData(t *testing.T) {
	for _, c := range []struct {
		modality      annotation.Modality
		group         string
		alpha         float64
		items, fleiss int
		kappa         float64 // Fleiss'
	}{
		{annotation.Text, "", 0.3189764041, 20, 0, 0},
		{annotation.Audio, "", 0.2868457300, 20, 0, 0},
		{annotation.Text, "B,F,G,H", 0.5260416667, 10, 10, 0.5138888889},
		{annotation.Audio, "B,C,F,H", 0.4215686275, 20, 10, 0.5138888889},
		{annotation.Audio, "B,F,G,H", 0.2857142857, 10, 10, 0.2673992673},
		{annotation.Text, "B,C,F,H", math.NaN(), 20, 10, 0.3265993266},
	} {
		t.Run(fmt.Sprintf("%s %s", c.modality, c.group), func(t *testing.T) {
			args := []string{"--annotations", speechManip(t, c.modality), "--draws", "50"}
			if c.group != "" {
				args = append(args, "--annotators", c.group)
			}
			var got modalityAgreement
			agreementJSON(t, &got, args...)
			if !math.IsNaN(c.alpha) {
				requireValue(t, "alpha", got.Alpha, c.alpha, c.items, 1e-9)
			}
			if c.fleiss > 0 {
				requireValue(t, "Fleiss", got.Fleiss, c.kappa, c.fleiss, 1e-9)
			} else if got.Fleiss.Value.Defined || got.Fleiss.Value.Reason == "" {
				t.Errorf("Fleiss of incomplete items = %+v, want undefined", got.Fleiss)
			}
			if (got.PostHoc != "") != (c.group != "") {
				t.Errorf("post hoc: %q", got.PostHoc)
			}
			if (got.Alpha.Interval != nil) != (c.items >= 20) {
				t.Errorf("interval %+v of %d items", got.Alpha.Interval, c.items)
			}
		})
	}
}

func TestCohenOfThePapersData(t *testing.T) {
	for m, pairs := range map[annotation.Modality][]struct {
		a, b  string
		want  float64
		items int
	}{
		annotation.Text:  {{"A", "B", 0.3814, 20}, {"F", "H", 0.7826, 10}, {"B", "D", -0.0870, 10}},
		annotation.Audio: {{"A", "D", 0.6000, 10}, {"A", "E", -0.2000, 10}, {"B", "H", 0.6154, 10}},
	} {
		var got modalityAgreement
		agreementJSON(t, &got, "--annotations", speechManip(t, m), "--draws", "0")
		if len(got.Cohen) != 28 {
			t.Errorf("%s: %d pairs of 8 annotators, want 28", m, len(got.Cohen))
		}
		for _, want := range pairs {
			found := false
			for _, p := range got.Cohen {
				if p.A == want.a && p.B == want.b {
					found = true
					requireValue(t, fmt.Sprintf("%s %s-%s", m, p.A, p.B), p.coefficient, want.want, want.items, 5e-5)
				}
			}
			if !found {
				t.Errorf("%s: no pair %s-%s", m, want.a, want.b)
			}
		}
	}
}

// Table 6, with the tied items kept apart and as the paper counted them.
func TestTruthOfThePapersData(t *testing.T) {
	var text, audio modalityAgreement
	agreementJSON(t, &text, "--annotations", speechManip(t, annotation.Text), "--draws", "0")
	agreementJSON(t, &audio, "--annotations", speechManip(t, annotation.Audio), "--draws", "0")

	if got := text.Truth; got.Agree != 72 || got.Items != 98 || got.Unresolved != 2 || got.Table != [2][2]int{{31, 17}, {9, 41}} {
		t.Errorf("text: %+v", got)
	}
	if diff := cmp.Diff([]string{"85514429", "85514436"}, text.Truth.Open); diff != "" {
		t.Errorf("text: unresolved (-want +got):\n%s", diff)
	}
	paper := text.Truth.AsPaper
	if paper.Agree != 72 || paper.Items != 100 || paper.Table != [2][2]int{{31, 19}, {9, 41}} || math.Abs(paper.Kappa.Value-0.44) > 1e-9 {
		t.Errorf("text, as the paper: %+v", paper)
	}
	got := audio.Truth
	if got.Agree != 56 || got.Items != 100 || got.Unresolved != 0 || got.Table != [2][2]int{{28, 22}, {22, 28}} || math.Abs(got.Kappa.Value-0.12) > 1e-9 {
		t.Errorf("audio: %+v", got)
	}
	if fmt.Sprintf("%.2f %.2f", got.Share.Low.Value, got.Share.High.Value) != "0.46 0.65" {
		t.Errorf("audio: Wilson interval %+v", got.Share)
	}
	if diff := cmp.Diff(map[int]int{1: 80, 5: 10, 6: 10}, text.ItemsByVotes); diff != "" || text.Votes != 190 {
		t.Errorf("text: %d votes; items by votes (-want +got):\n%s", text.Votes, diff)
	}
}

// Both modalities at once, also from the long form, whose rows are made here.
func TestTextAgainstAudio(t *testing.T) {
	text, audio := speechManip(t, annotation.Text), speechManip(t, annotation.Audio)
	var wide, long agreementResult
	agreementJSON(t, &wide, "--annotations", text, "--annotations", "audio="+audio, "--draws", "200")

	p := wide.Paired
	if p == nil {
		t.Fatal("no paired part")
	}
	if v := p.Votes; v.N != 110 || v.Both != 42 || v.OnlyText != 9 || v.OnlyAudio != 24 || v.Neither != 35 || math.Abs(v.P.Value-0.0135) > 5e-5 {
		t.Errorf("votes: %+v", v)
	}
	if p.Items != 100 || p.SameVoters != 20 || p.Majority.N != 98 || p.Truth.N != 98 {
		t.Errorf("paired: %+v", p)
	}
	requireValue(t, "difference of alpha", p.AlphaDifference, 0.3189764041-0.2868457300, 20, 2e-10)

	var rows strings.Builder
	rows.WriteString("item,modality,annotator,label,time,truth\n")
	for _, m := range []annotation.Modality{annotation.Text, annotation.Audio} {
		file, err := os.Open(speechManip(t, m))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		set, err := annotation.Read(annotation.Source{Name: file.Name(), Reader: file})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range set.Annotations {
			fmt.Fprintf(&rows, "%s,%s,%s,%s,,%s\n", a.Item, a.Modality, a.Annotator, a.Label, set.Truth[a.Item])
		}
	}
	path := filepath.Join(t.TempDir(), "long.csv")
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	agreementJSON(t, &long, "--annotations", path, "--draws", "200")
	if diff := cmp.Diff(wide, long, cmp.AllowUnexported(percent{}, pair{}, reference{}, truthAgreement{})); diff != "" {
		t.Errorf("the long form gives something else (-wide +long):\n%s", diff)
	}
}
