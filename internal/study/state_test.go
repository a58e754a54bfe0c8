package study

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// begun is a study of a plan, none of whose batches is back.
func begun(t *testing.T, p Plan) State {
	t.Helper()
	s := Study{ID: "s", Design: design(t, p), Rules: DefaultRules()}
	s.Rules.MinVotes = p.MinVotes
	for _, truth := range p.Truths {
		s.Items = append(s.Items, Item{Truth: truth, Seconds: 10})
	}
	for range p.Checks {
		s.Items = append(s.Items, Item{Expected: annotation.Yes, Seconds: 10})
	}
	return NewState(s)
}

// small is a study of few items in text: every item is in one batch, which has votes
// annotators.
func small(t *testing.T, items, annotators, votes int) State {
	t.Helper()
	p := plan()
	p.Modalities, p.Batches, p.Overlap, p.MinVotes = both[:1], items, 0, votes
	p.Truths, p.Annotators = p.Truths[:items], p.Annotators[:annotators]
	return begun(t, p)
}

// give ends an open assignment with a label for each item; "" is none.
func give(s *State, number int, label func(annotator string, item int) annotation.Label) {
	e := s.Assignments[number]
	var judgments []Judgment
	for _, item := range e.Items {
		if l := label(e.Annotator, item); l != "" {
			judgments = append(judgments, Judgment{Item: item, Label: l})
		}
	}
	s.Done(Done{Assignment: number, Labels: Labels(e.Assignment, judgments), How: Finished, Ended: noon})
}

// run lets a study go on until nothing is open, batches ending in an order drawn by
// seed.
func run(s *State, seed uint64, label func(annotator string, item int) annotation.Label) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for {
		s.Advance()
		var open []int
		for i, e := range s.Assignments {
			if e.Status == Open {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return
		}
		give(s, open[rng.IntN(len(open))], label)
	}
}

// fickle answers by annotator and item, the same each time.
func fickle(annotator string, item int) annotation.Label {
	sum := item * 7
	for _, c := range annotator {
		sum += int(c) * 31
	}
	if rand.New(rand.NewPCG(uint64(sum), 3)).IntN(2) == 0 {
		return annotation.No
	}
	return annotation.Yes
}

// Whatever the order in which batches come back, every item is decided by the same
// people, and as the protocol says.
func TestStudyResolvesEveryTie(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"same items": func(*Plan) {},
		"disjoint":   func(p *Plan) { p.Repeat, p.Checks = Disjoint, 9 },
		"four votes": func(p *Plan) { p.MinVotes = 4 },
	} {
		t.Run(name, func(t *testing.T) {
			p := plan()
			change(&p)
			first := begun(t, p)
			run(&first, 1, fickle)
			if first.Stage != Complete {
				t.Fatalf("the study is %s", first.Stage)
			}
			again := begun(t, p)
			run(&again, 2, fickle)
			if diff := cmp.Diff(first.Outcomes(), again.Outcomes()); diff != "" {
				t.Errorf("another order gives other outcomes:\n%s", diff)
			}
			checkOutcomes(t, &first, p)
		})
	}
}

func checkOutcomes(t *testing.T, s *State, p Plan) {
	t.Helper()
	adjudicated := 0
	for _, o := range s.Outcomes() {
		voters, reviewers := people(s, o)
		switch {
		case !o.Closed || o.Short || o.Yes+o.No < p.MinVotes || len(voters) != o.Yes+o.No:
			t.Errorf("%+v of %v", o, voters)
		case o.Yes != o.No && (o.Adjudication != NotNeeded || len(reviewers) > 0 || (o.Label == vote.Yes) != (o.Yes > o.No)):
			t.Errorf("a majority: %+v, adjudicated by %v", o, reviewers)
		case o.Yes == o.No:
			adjudicated++
			agree := max(o.ForYes, o.ForNo) == 2 && o.ForYes+o.ForNo <= 3
			if o.Adjudication != Adjudicated || !agree || (o.Label == vote.Yes) != (o.ForYes > o.ForNo) || len(reviewers) != o.ForYes+o.ForNo {
				t.Errorf("a tie: %+v, adjudicated by %v", o, reviewers)
			}
		}
		for _, who := range reviewers {
			if slices.Contains(voters, who) {
				t.Errorf("%s votes on item %d in %s and adjudicates it", who, o.Item, o.Modality)
			}
		}
	}
	if adjudicated == 0 {
		t.Error("nothing was adjudicated")
	}
}

// people are those who have judged an item, each once.
func people(s *State, o Outcome) (voters, reviewers []string) {
	for _, e := range s.Assignments {
		if e.Modality != o.Modality || !slices.Contains(e.Items, o.Item) {
			continue
		}
		if e.Round == 0 {
			voters = append(voters, e.Annotator)
		} else {
			reviewers = append(reviewers, e.Annotator)
		}
	}
	for _, names := range [][]string{voters, reviewers} {
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			panic(fmt.Sprint("somebody judges an item twice: ", names))
		}
	}
	return voters, reviewers
}

// Adjudicators take turns.
func TestAdjudicationRotates(t *testing.T) {
	p := plan()
	p.MinVotes, p.Overlap = 4, 0
	s := begun(t, p)
	run(&s, 1, func(annotator string, item int) annotation.Label {
		// Every item is a tie, resolved by the first two.
		for _, e := range s.Assignments {
			if e.Round > 0 && e.Annotator == annotator && slices.Contains(e.Items, item) {
				return annotation.Yes
			}
		}
		voters, _ := people(&s, Outcome{Item: item, Modality: annotation.Text})
		if slices.Index(voters, annotator)%2 == 0 {
			return annotation.Yes
		}
		return annotation.No
	})
	loads := map[int]bool{}
	for _, a := range s.Annotators {
		loads[s.reviews()[a.Name]] = true
	}
	// Four voters of eight leave four others, so that it can't be quite even.
	if lo, hi := bounds(loads); s.Stage != Complete || lo == 0 || hi-lo > 4 {
		t.Errorf("the study is %s; adjudicators have %d to %d items", s.Stage, lo, hi)
	}
}

// Batches come one after the other, and adjudication when all are back.
func TestStudyOpensOneByOne(t *testing.T) {
	s := small(t, 4, 4, 2)
	if open := s.Advance(); len(open) != 4 {
		t.Fatalf("%d assignments open, want one for each of 4", len(open))
	}
	desk := s.Desk("A01")
	if desk.Open == nil || desk.Workflow != "study/s/A01/"+desk.Open.Part() || desk.Waiting != 1 || !desk.Active || desk.Done != 0 {
		t.Errorf("%+v", desk)
	}
	if again := s.Advance(); len(again) != 0 {
		t.Errorf("open twice: %v", again)
	}
	give(&s, slices.IndexFunc(s.Assignments, func(e Entry) bool { return e.Annotator == "A01" }), fickle)
	if open := s.Advance(); len(open) != 1 || s.Assignments[open[0]].Annotator != "A01" {
		t.Errorf("after A01's first, %v opens", open)
	}
	if desk := s.Desk("A01"); desk.Done != 1 || desk.Waiting != 0 {
		t.Errorf("%+v", desk)
	}
	if desk := s.Desk("nobody"); desk.Active || desk.Open != nil {
		t.Errorf("%+v", desk)
	}
}

func TestDoneCountsOnce(t *testing.T) {
	s := small(t, 2, 2, 2)
	number := s.Advance()[0]
	yes := func(string, int) annotation.Label { return annotation.Yes }
	give(&s, number, yes)
	before := s.Outcomes()
	give(&s, number, func(string, int) annotation.Label { return annotation.No })
	s.Done(Done{Assignment: 99, Labels: "Y"})
	s.Done(Done{Assignment: -1, Labels: "Y"})
	s.Done(Done{Assignment: number + 1, Labels: "too long"})
	if diff := cmp.Diff(before, s.Outcomes()); diff != "" {
		t.Errorf("told again, it changes:\n%s", diff)
	}
}

// What an annotator leaves, those who are added take up.
func TestRemoveAndAdd(t *testing.T) {
	s := small(t, 6, 3, 3)
	open := s.Advance()
	stop, err := s.Remove(Remove{Annotator: "A02"})
	if err != nil || len(stop) != 1 || !slices.Contains(open, stop[0]) {
		t.Fatalf("stops %v, %v", stop, err)
	}
	if err := s.Add("A02"); err == nil {
		t.Error("A02 is added again")
	}
	if err := s.Add("A09"); err != nil {
		t.Fatal(err)
	}
	s.Done(Done{Assignment: stop[0], Labels: "-", How: Removed, Ended: noon})
	run(&s, 1, fickle)
	if s.Stage != Adjudicating && s.Stage != Complete {
		t.Errorf("the study is %s", s.Stage)
	}
	for _, o := range s.Outcomes() {
		if voters, _ := people(&s, o); o.Yes+o.No != 3 || o.Short || !slices.Contains(voters, "A09") {
			t.Errorf("%+v", o)
		}
	}
	if desk := s.Desk("A02"); desk.Active || desk.Open != nil || desk.Waiting != 0 {
		t.Errorf("%+v", desk)
	}
	if _, err := s.Remove(Remove{Annotator: "A77"}); err == nil {
		t.Error("nobody is removed")
	}
}

// An erased annotator's votes count no more, and are given anew.
func TestErase(t *testing.T) {
	s := small(t, 2, 3, 3)
	run(&s, 1, func(annotator string, item int) annotation.Label {
		if annotator == "A01" && item == 0 {
			return "" // lets the study wait
		}
		return annotation.Yes
	})
	if s.Stage != Judging || len(s.Short()) != 1 {
		t.Fatalf("the study is %s with %v", s.Stage, s.Short())
	}
	if _, err := s.Remove(Remove{Annotator: "A02", Erase: true}); err != nil {
		t.Fatal(err)
	}
	if o := s.Outcomes(); o[0].Yes != 1 || o[1].Yes != 2 || len(s.Short()) != 2 {
		t.Errorf("%+v", o)
	}
	for _, e := range s.Assignments {
		if e.Annotator == "A02" && strings.ContainsAny(e.Labels, "YN") {
			t.Errorf("kept: %+v", e)
		}
	}
	for _, name := range []string{"A08", "A09"} {
		if err := s.Add(name); err != nil {
			t.Fatal(err)
		}
	}
	run(&s, 2, func(string, int) annotation.Label { return annotation.Yes })
	if s.Stage != Complete || len(s.Short()) != 0 {
		t.Errorf("the study is %s with %+v", s.Stage, s.Outcomes())
	}
}

func TestCloseTakesWhatThereIs(t *testing.T) {
	s := small(t, 3, 3, 3)
	open := s.Advance()
	give(&s, open[0], func(string, int) annotation.Label { return annotation.Yes })
	s.Advance()
	if _, err := s.Close(Adjudicating); err == nil {
		t.Error("closes a stage that it isn't at")
	}
	stop, err := s.Close(Judging)
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range stop {
		give(&s, number, func(string, int) annotation.Label { return "" })
	}
	run(&s, 1, func(string, int) annotation.Label { return "" }) // adjudicators give nothing either
	if s.Stage != Adjudicating {
		t.Fatalf("the study is %s", s.Stage)
	}
	if _, err := s.Close(Adjudicating); err != nil {
		t.Fatal(err)
	}
	s.Advance()
	decided := 0
	for _, o := range s.Outcomes() {
		if !o.Short || o.Adjudication != Unresolvable && o.Label != vote.Yes {
			t.Errorf("%+v", o)
		}
		if o.Label == vote.Yes {
			decided++
		}
	}
	if s.Stage != Complete || decided != 1 {
		t.Errorf("the study is %s, %d decided", s.Stage, decided)
	}
	if _, err := s.Close(Complete); err == nil {
		t.Error("closes a study that is complete")
	}
	if err := s.Add("A09"); err == nil {
		t.Error("adds to a study that is complete")
	}
}

// Where nobody is left to adjudicate, the study waits for somebody to be added.
func TestAdjudicationWaitsForPeople(t *testing.T) {
	s := small(t, 1, 3, 2)
	votes := map[string]annotation.Label{}
	tie := func(annotator string, _ int) annotation.Label {
		if _, ok := votes[annotator]; !ok {
			votes[annotator] = []annotation.Label{annotation.Yes, annotation.No, annotation.Yes, annotation.No}[len(votes)]
		}
		return votes[annotator]
	}
	// Of three, all have a batch: the design gives everybody one. The third breaks the tie.
	run(&s, 1, tie)
	if o := s.Outcomes()[0]; s.Stage != Complete || o.Label != vote.Yes || o.Adjudication != NotNeeded {
		t.Fatalf("the study is %s: %+v", s.Stage, o)
	}
	votes = map[string]annotation.Label{}
	s = small(t, 1, 2, 2)
	run(&s, 1, tie)
	if s.Stage != Adjudicating || s.Outcomes()[0].Adjudication != Needed {
		t.Fatalf("the study is %s: %+v", s.Stage, s.Outcomes())
	}
	for i, name := range []string{"A07", "A08", "A09"} {
		if s.Stage == Complete {
			t.Errorf("complete after %d", i)
		}
		if err := s.Add(name); err != nil {
			t.Fatal(err)
		}
		run(&s, 1, func(annotator string, _ int) annotation.Label {
			return map[string]annotation.Label{"A07": annotation.Yes, "A08": annotation.No, "A09": annotation.No}[annotator]
		})
	}
	if o := s.Outcomes()[0]; s.Stage != Complete || o.Label != vote.No || o.ForYes != 1 || o.ForNo != 2 || o.Annotators() != 5 {
		t.Errorf("the study is %s: %+v", s.Stage, o)
	}
}

// A forced design is closed with the votes that it gives; an item with none is
// adjudicated.
func TestForcedDesign(t *testing.T) {
	p := plan()
	p.BatchesEach, p.Overlap = 1, 0
	s := begun(t, p)
	run(&s, 1, fickle)
	counts := map[int]int{}
	for _, o := range s.Outcomes() {
		counts[o.Yes+o.No]++
		if o.Short || o.Yes+o.No == 0 && o.Adjudication != Adjudicated || o.Yes+o.No == 1 && o.Adjudication != NotNeeded {
			t.Errorf("%+v", o)
		}
	}
	if s.Stage != Complete || counts[0] != 40 || counts[1] != 160 {
		t.Errorf("the study is %s, items by votes %v", s.Stage, counts)
	}
}

func TestStatusCounts(t *testing.T) {
	p := plan()
	p.Checks = 2
	s := begun(t, p)
	run(&s, 1, fickle)
	status := s.Status()
	for _, m := range status.Modalities {
		if m.Items != 100 || m.Closed != 100 || m.Yes+m.No != 100 || m.Short != 0 || m.Adjudicated[Adjudicated] == 0 || m.Adjudicated[Adjudicated]+m.Adjudicated[NotNeeded] != 100 {
			t.Errorf("%+v", m)
		}
	}
	judged := 0
	for _, a := range status.Annotators {
		judged += a.Judged
	}
	given := 0
	for _, a := range design(t, p).Assignments {
		given += len(a.Items)
	}
	if judged != given || len(status.Annotators) != 8 {
		t.Errorf("%d judged, the design has %d", judged, given)
	}
}
