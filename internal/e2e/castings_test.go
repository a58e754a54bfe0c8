//go:build integration && linux

package e2e

import (
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/report"
)

// TestCastings renders and judges dialogues in two castings, whose speakers exchange
// their voices; the first is the casting of an evaluation that has one.
func TestCastings(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	worker := r.worker(t)
	dialogues := []string{"--ids", "s001,s002,s003", "--detector", "baseline-duration", "--quality", "off"}
	two := r.evaluate(t, append([]string{"--id", "two", "--castings", "2"}, dialogues...)...)
	if two.Items != 6 || two.N != 6 || len(two.Failures) != 0 || two.Usage.ClipsMade != 6 || len(two.Dialogues) != 6 {
		t.Fatalf("%d items, n %d, failures %v, usage %+v", two.Items, two.N, two.Failures, two.Usage)
	}
	for i := 0; i < len(two.Dialogues); i += 2 {
		a, b := two.Dialogues[i], two.Dialogues[i+1]
		if a.ID != b.ID || a.CastingNumber != 1 || b.CastingNumber != 2 || a.Clip == b.Clip || a.Timeline == b.Timeline {
			t.Errorf("%q in casting %d and %q in casting %d, clips %s and %s", a.ID, a.CastingNumber, b.ID, b.CastingNumber, a.Clip.Key, b.Clip.Key)
		}
		if len(a.Casting) != 2 || len(b.Casting) != 2 || a.Casting[0].Voice != b.Casting[1].Voice || a.Casting[1].Voice != b.Casting[0].Voice {
			t.Errorf("%q: %v and %v exchange no voices", a.ID, a.Casting, b.Casting)
		}
	}
	if v := two.Voices; v == nil || v.Castings != 2 || v.Dialogues != 3 || v.Confounded != "" || v.Steadiness == nil || v.Steadiness.N != 3 || len(v.Effects) == 0 {
		t.Errorf("voice effects %+v", v)
	}
	one := r.evaluate(t, append([]string{"--id", "one"}, dialogues...)...)
	if u := one.Usage; u.TurnsMade != 0 || u.ClipsMade != 0 || u.ClipsStored != 3 || u.PassesMade != 0 {
		t.Errorf("one casting makes anew what two made: %+v", u)
	}
	if v := one.Voices; v == nil || !strings.Contains(v.Confounded, "confounded with dialogue") {
		t.Errorf("voice effects of one casting %+v", v)
	}
	again := decode(t, r.starter(t, "reevaluate", "two", "--json", "--id", "again", "--detector", "baseline-majority"))
	if u := again.Usage; again.N != 6 || len(again.Failures) != 0 || u.ClipsStored != 6 || u.TurnsMade+u.ClipsMade != 0 {
		t.Errorf("judged again: n %d, failures %v, usage %+v", again.N, again.Failures, u)
	}
	castings(t, again, two)

	// From here on the store is enough.
	worker.stop(t)
	r.env = append(r.env, "TEMPORAL_ADDRESS=127.0.0.1:1")
	if c := compared(t, r.starter(t, "compare", "two", "again", "--format", "json")); c.Paired != 6 || c.Evaluations[1].SameClips != 6 || len(c.LeftOut) != 0 {
		t.Errorf("two and again: %d paired, %+v, left out %v", c.Paired, c.Evaluations[1], c.LeftOut)
	}
	if c := compared(t, r.starter(t, "compare", "two", "one", "--format", "json")); c.Paired != 3 || c.Evaluations[1].SameClips != 3 || len(c.LeftOut) != 3 || c.LeftOut[0].CastingNumber != 2 || len(c.Flips) != 0 {
		t.Errorf("two and one: %d paired, %+v, left out %v, flips %v", c.Paired, c.Evaluations[1], c.LeftOut, c.Flips)
	}
	if text := r.starter(t, "report", "two"); !strings.Contains(text, "Voices, within 3 dialogues in 2 castings each") {
		t.Errorf("the text says nothing of voices:\n%s", text)
	}
	if rows := strings.Count(r.starter(t, "report", "two", "--format", "csv"), "\n"); rows != 7 {
		t.Errorf("%d rows, want a header and one a casting", rows)
	}
	_, errOut, err := r.try(t, append([]string{"evaluate", "--castings", "7"}, dialogues...)...)
	if err == nil || !strings.Contains(errOut, `voice pool "flite" has 6 castings`) {
		t.Errorf("more castings than the pool has: %v, %s", err, errOut)
	}
}

// castings checks that two evaluations have the same castings of the same dialogues.
func castings(t *testing.T, got, want report.Report) {
	t.Helper()
	for i, d := range got.Dialogues {
		was := want.Dialogues[i]
		if d.Rendition() != was.Rendition() || d.Clip != was.Clip || len(d.Casting) == 0 || d.Casting[0] != was.Casting[0] {
			t.Errorf("%v of %v, was %v of %v", d.Rendition(), d.Casting, was.Rendition(), was.Casting)
		}
	}
}
