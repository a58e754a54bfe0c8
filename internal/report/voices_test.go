package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// rendered is a dialogue in two castings of its voices, with a verdict for each: "Y",
// "N", "?" for UNRESOLVED, "x" for a failure, " " for no record yet.
func rendered(id string, truth dialogue.Truth, voices, verdicts string) []evaluation.Record {
	a, b, _ := strings.Cut(voices, " ")
	var out []evaluation.Record
	for i, letter := range verdicts {
		r := judged(id, truth, map[rune]string{'Y': "YYYYY", 'N': "NNNNN", '?': "YYNNI", 'x': ""}[letter])
		r.CastingNumber = i + 1
		r.Clip.SHA256 += string(rune('1' + i))
		r.Casting = voice.Casting{{Speaker: "Person1", Voice: a}, {Speaker: "Person2", Voice: b}}
		if i == 1 {
			r.Casting[0].Voice, r.Casting[1].Voice = b, a
		}
		switch letter {
		case ' ':
			continue
		case 'x':
			r.Failure, r.Verdict = &evaluation.Failure{Stage: "synthesise turn 1", Code: "bad_text", Message: "no"}, vote.Outcome{}
		}
		out = append(out, r)
	}
	return out
}

func twoCastings(records ...[]evaluation.Record) report.Input {
	in := everything()
	in.Manifest.Spec.Speech.Castings = 2
	in.Manifest.Exemplars, in.Seen.IDs, in.Seen.TextHashes = nil, []string{"seen"}, nil
	in.Records = nil
	for _, r := range records {
		in.Records = append(in.Records, r...)
	}
	in.Manifest.Items = len(in.Records) + 1
	return in
}

func TestVoiceEffectsAreWithinDialogues(t *testing.T) {
	r := build(t, twoCastings(
		rendered("a", dialogue.Yes, "slt rms", "YN"), // YES when slt speaks first
		rendered("b", dialogue.Yes, "rms slt", "NY"), // again
		rendered("c", dialogue.No, "slt rms", "NN"),
		rendered("d", dialogue.Unknown, "awb slt", "YY"), // counts without truth too
		rendered("e", dialogue.Yes, "slt rms", "?Y"),
		rendered("f", dialogue.Yes, "slt rms", "xN"),
		rendered("g", dialogue.Yes, "slt rms", "Y "),    // no record of its second casting yet
		rendered("seen", dialogue.Yes, "slt rms", "YN"), // trained on
	))
	v := r.Voices
	if v == nil || v.Castings != 2 || v.Dialogues != 6 || v.Confounded != "" {
		t.Fatalf("voice effects %+v, want 6 dialogues in 2 castings", v)
	}
	if s := v.Steadiness; s.N != 4 || s.Open != 2 || s.Depends.Hits != 2 {
		t.Errorf("steadiness %+v, want 2 of 4 and 2 open", *s)
	}
	var names []string
	for _, e := range v.Effects {
		names = append(names, e.Voice)
		if e.Presence.N != 0 || e.Presence.Difference.Defined {
			t.Errorf("%s is in all castings of its dialogues: nothing can be said of its presence, not %+v", e.Voice, e.Presence)
		}
	}
	if diff := cmp.Diff([]string{"awb", "rms", "slt"}, names); diff != "" {
		t.Fatal(diff)
	}
	slt := v.Effects[2].Role
	if slt.N != 4 || slt.More != 2 || slt.Fewer != 0 || slt.Open != 2 || slt.Difference.Value != 0.5 {
		t.Errorf("slt speaks first: %+v, want 2 of 4 dialogues more and 2 open", slt)
	}
	// e: 0-1 or 1-1; f: 0-0 or 1-0.
	if slt.Lowest.Value != (2-1+0)/6.0 || slt.Highest.Value != (2+0+1)/6.0 {
		t.Errorf("bounds %v to %v", slt.Lowest, slt.Highest)
	}
}

// With several pairs of voices a voice's presence is told apart from its absence.
func TestVoicePresence(t *testing.T) {
	var records []evaluation.Record
	for i, letters := range []string{"YY", "NN"} {
		for _, r := range rendered("a", dialogue.Yes, []string{"slt rms", "awb kal"}[i], letters) {
			r.CastingNumber += 2 * i
			r.Clip.SHA256 += "of pair " + letters
			records = append(records, r)
		}
	}
	in := twoCastings(records)
	in.Manifest.Spec.Speech.Castings = 4
	for _, e := range build(t, in).Voices.Effects {
		want := map[string]float64{"slt": 1, "rms": 1, "awb": -1, "kal": -1}[e.Voice]
		if e.Presence.N != 1 || e.Presence.Difference.Value != want || e.Role.Difference.Value != 0 {
			t.Errorf("%s: presence %+v, role %+v", e.Voice, e.Presence, e.Role)
		}
	}
}

func TestOneCastingIsConfounded(t *testing.T) {
	in := everything()
	r := build(t, in)
	if v := r.Voices; v == nil || v.Castings != 1 || !strings.Contains(v.Confounded, "confounded with dialogue") || len(v.Effects) > 0 || v.Steadiness != nil {
		t.Errorf("voice effects %+v of one casting", v)
	}
	for i := range in.Records {
		in.Records[i].Casting = nil // as of given clips
	}
	if v := build(t, in).Voices; v != nil {
		t.Errorf("voice effects %+v of unknown voices", v)
	}
}

// Castings have an entry of their own everywhere, and a record twice is still refused.
func TestCastingsAreTold(t *testing.T) {
	in := twoCastings(rendered("b", dialogue.Yes, "slt rms", "xx"), rendered("a", dialogue.Yes, "slt rms", "YN"))
	in.Records[1].Failure = nil
	r := build(t, in)
	var order []string
	for _, d := range r.Dialogues {
		order = append(order, d.ID+evaluation.CastingLabel(d.CastingNumber))
	}
	if diff := cmp.Diff([]string{"a (casting 1)", "a (casting 2)", "b (casting 1)", "b (casting 2)"}, order); diff != "" {
		t.Error(diff)
	}
	if r.N != 4 {
		t.Errorf("n is %d, want every casting", r.N)
	}
	if len(r.Failures) != 1 || r.Failures[0].CastingNumber != 1 {
		t.Errorf("failures %+v", r.Failures)
	}
	var text bytes.Buffer
	if err := report.WriteText(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"in each of its 2 castings", "b (casting 1): synthesise turn 1",
		"Voices, within 2 dialogues in 2 castings each (exploratory",
		"verdict depends on the casting: 1 of 1 decided in all castings", "1 not decided in all, with them 0.500 to 1.000",
		"no dialogue has castings with the voice and without it",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("the text does not say %q:\n%s", want, text.String())
		}
	}
	for line := range strings.Lines(text.String()) {
		if len([]rune(line)) > 101 {
			t.Errorf("a line of %d columns: %s", len([]rune(line)), line)
		}
	}
	in.Records[1].CastingNumber = 1
	if _, err := report.Build(in); err == nil || !strings.Contains(err.Error(), `two records of dialogue "b" (casting 1)`) {
		t.Errorf("a casting twice: %v", err)
	}
}

// The tables have a column of castings, which is empty where a dialogue has one, and
// the figures of several.
func TestCastingsInTables(t *testing.T) {
	r := build(t, twoCastings(rendered("a", dialogue.Yes, "slt rms", "YN"), rendered("b", dialogue.No, "slt rms", "NN")))
	for name, table := range map[string]struct {
		writer report.Writer
		last   string
		rows   int
	}{
		"dialogues": {report.WriteDialoguesCSV, "2", 5}, "passes": {report.WritePassesCSV, "2", 21},
	} {
		lines := strings.Split(strings.TrimSpace(write(t, table.writer, r)), "\r\n")
		if len(lines) != table.rows || !strings.HasSuffix(lines[0], ",casting") || !strings.HasSuffix(lines[1], ",1") || !strings.HasSuffix(lines[len(lines)-1], ","+table.last) {
			t.Errorf("%s: %d rows, %q ... %q", name, len(lines), lines[0], lines[len(lines)-1])
		}
	}
	if one := write(t, report.WriteDialoguesCSV, build(t, everything())); !strings.HasSuffix(strings.Split(one, "\r\n")[1], ",") {
		t.Errorf("the only casting is told: %s", strings.Split(one, "\r\n")[1])
	}
	figures := write(t, report.WriteFiguresCSV, r)
	for _, want := range []string{
		"\ncastings.verdict_depends,0.500000,", "\ncastings.flip_rate,0.500000,", "\nvoice.slt.first_against_second_speaker,0.500000,",
		"\nvoice.rms.present_against_absent,,,,0,no dialogue has castings with the voice and without it",
	} {
		if !strings.Contains(figures, want) {
			t.Errorf("the figures lack %q:\n%s", want, figures)
		}
	}
}

// A casting that is left out of a manifest doesn't take the dialogue's others along.
func TestOneCastingLeftOut(t *testing.T) {
	in := twoCastings(rendered("a", dialogue.Yes, "slt rms", "YN"))
	in.Records = in.Records[:1]
	in.Manifest.Exemplars = []evaluation.Excluded{{ID: "a", CastingNumber: 2, Reason: "no clip: it failed (bad_text)"}}
	r := build(t, in)
	if len(r.Dialogues) != 1 || len(r.Exemplars) != 1 {
		t.Errorf("%d dialogues and %d left out, want one each", len(r.Dialogues), len(r.Exemplars))
	}
	if v := r.Voices; v == nil || v.Confounded == "" {
		t.Errorf("voice effects %+v of one casting of two", v)
	}
}
