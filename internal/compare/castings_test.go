package compare_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/compare"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func inCasting(n int, r evaluation.Record) evaluation.Record {
	r.CastingNumber = n
	r.Clip.SHA256 += fmt.Sprint(n)
	return r
}

// A casting is compared with the same casting; the only one of an evaluation is the
// first of another.
func TestCastingsArePaired(t *testing.T) {
	two := func(in *report.Input) { in.Manifest.Spec.Speech.Castings = 2 }
	a := evaluated(t, "a", two,
		inCasting(1, judged("x", dialogue.Yes, vote.Yes)), inCasting(2, judged("x", dialogue.Yes, vote.No)),
		inCasting(1, judged("y", dialogue.Yes, vote.Yes)), inCasting(2, judged("y", dialogue.Yes, vote.Yes)))
	b := evaluated(t, "b", func(in *report.Input) {
		two(in)
		in.Manifest.Exemplars = []evaluation.Excluded{{ID: "y", CastingNumber: 2, Reason: "no clip: it failed (x)"}}
	},
		inCasting(1, judged("x", dialogue.Yes, vote.Yes)), inCasting(2, judged("x", dialogue.Yes, vote.Yes)),
		inCasting(1, judged("y", dialogue.Yes, vote.Yes)))
	one := evaluated(t, "one", nil, judged("x", dialogue.Yes, vote.No), judged("y", dialogue.Yes, vote.Yes))

	got, err := compare.Build([]report.Report{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if got.Paired != 3 || got.Evaluations[1].SameClips != 3 {
		t.Errorf("%d paired, %+v", got.Paired, got.Evaluations[1])
	}
	if diff := cmp.Diff([]evaluation.Excluded{{ID: "y", CastingNumber: 2, Reason: "left out of b"}}, got.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if len(got.Flips) != 1 || got.Flips[0].ID != "x" || got.Flips[0].CastingNumber != 2 {
		t.Errorf("flips %+v, want casting 2 of x", got.Flips)
	}
	var text, page strings.Builder
	if err := errors.Join(compare.WriteText(&text, got), compare.WriteHTML(&page, got)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"x (casting 2)", "y (casting 2): left out of b", "3 dialogues (castings of 2, each a dialogue here) are in all"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in the text or not in the page:\n%s", want, text.String())
		}
	}

	got, err = compare.Build([]report.Report{a, one})
	if err != nil {
		t.Fatal(err)
	}
	want := []evaluation.Excluded{{ID: "x", CastingNumber: 2, Reason: "not in one"}, {ID: "y", CastingNumber: 2, Reason: "not in one"}}
	if diff := cmp.Diff(want, got.LeftOut); diff != "" || got.Paired != 2 || got.Several != 0 {
		t.Errorf("%d paired, left out (-want +got):\n%s", got.Paired, diff)
	}
}
