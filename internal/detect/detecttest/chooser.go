package detecttest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// chooserDraws is how many passes a distribution is compared with.
const chooserDraws = 100

// chooser tests a detector that tells the distribution behind its passes: they are
// drawn from it, and its label is that of a greedy pass.
func (s suite) chooser(t *testing.T) {
	d, item := s.ready(t)
	c, ok := d.(detect.Chooser)
	if !ok {
		t.Skip("it doesn't tell its distribution")
	}
	choice, err := c.Choose(t.Context(), item, paper)
	if refused := c.CheckChoose(t.Context(), paper); refused != nil {
		if fault.KindOf(refused) != fault.Permanent || err == nil || err.Error() != refused.Error() {
			t.Errorf("CheckChoose says %v, Choose %v", refused, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Choose(t.Context(), item, paper)
	if diff := cmp.Diff(choice, again); diff != "" || err != nil {
		t.Errorf("asked twice, two distributions, %v:\n%s", err, diff)
	}
	checkMass(t, "p(YES)", choice.PYes)
	if choice.Yes < 0 || choice.Yes > vote.One || choice.Method == "" {
		t.Fatalf("%+v: want a probability and how it was had", choice)
	}

	drawn := 0
	for seed := range int64(chooserDraws) {
		got := decide(t, d, item, detect.Pass{Seed: seed, Sampling: paper})
		if got.Method != vote.Constrained {
			t.Fatalf("seed %d: %+v, want a constrained vote", seed, got)
		}
		if got.Vote == vote.VoteYes {
			drawn++
		}
	}
	if !plausible(choice.Yes, drawn, chooserDraws) {
		t.Errorf("%d of %d passes say YES, the probability is %d", drawn, chooserDraws, choice.Yes)
	}

	greedy, err := c.Choose(t.Context(), item, vote.Sampling{Temperature: 0, TopP: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := map[vote.Vote]vote.Nano{vote.VoteYes: vote.One, vote.VoteNo: 0}
	if got := decide(t, d, item, detect.Pass{}); greedy.Yes != want[got.Vote] && greedy.Yes != vote.One/2 {
		t.Errorf("a greedy pass says %s, its probability of YES is %d", got.Vote, greedy.Yes)
	}
	if (greedy.Yes > vote.One/2) != (choice.Yes > vote.One/2) {
		t.Errorf("the greedy label's probability is %d, the sampled one's %d", greedy.Yes, choice.Yes)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Choose(ctx, item, paper); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want context.Canceled", err)
	}
}

// plausible reports whether so many of n draws may have the probability p: by the
// chi-squared quantile at 0.999 with one degree of freedom. Certain draws may not
// differ at all.
func plausible(p vote.Nano, drawn, n int) bool {
	want := float64(p) / float64(vote.One) * float64(n)
	off := float64(drawn) - want
	if p == 0 || p == vote.One {
		return off == 0
	}
	return off*off/want+off*off/(float64(n)-want) <= 10.83
}
