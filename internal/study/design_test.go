package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
)

var both = []annotation.Modality{annotation.Text, annotation.Audio}

// plan is of a hundred items, half of them YES, for eight people.
func plan() Plan {
	p := Plan{Modalities: both, Batches: 10, Overlap: 0.2, MinVotes: 3, Repeat: SameItems, Seed: 7}
	for i := range 100 {
		truth := dialogue.Yes
		if i%2 == 1 {
			truth = dialogue.No
		}
		p.Truths = append(p.Truths, truth)
	}
	for i := range 8 {
		p.Annotators = append(p.Annotators, fmt.Sprintf("A%02d", i+1))
	}
	return p
}

func design(t *testing.T, p Plan) Design {
	t.Helper()
	d, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDesignGivesEveryItemItsVotes(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"same items":    func(*Plan) {},
		"disjoint":      func(p *Plan) { p.Repeat = Disjoint },
		"no overlap":    func(p *Plan) { p.Overlap = 0 },
		"text only":     func(p *Plan) { p.Modalities = both[:1] },
		"five votes":    func(p *Plan) { p.MinVotes = 5 },
		"uneven":        func(p *Plan) { p.Truths = p.Truths[:97]; p.Annotators = p.Annotators[:7] },
		"one batch":     func(p *Plan) { p.Batches = 1 },
		"with checks":   func(p *Plan) { p.Checks = 3 },
		"all the votes": func(p *Plan) { p.MinVotes = 8 },
	} {
		t.Run(name, func(t *testing.T) {
			p := plan()
			change(&p)
			d := design(t, p)
			for _, m := range d.Modalities {
				for item, votes := range d.Votes(m, len(p.Truths)) {
					if votes < p.MinVotes {
						t.Errorf("item %d gets %d votes in %s", item, votes, m)
					}
				}
			}
			checkDesign(t, p, d)
		})
	}
}

// checkDesign holds for every design.
func checkDesign(t *testing.T, p Plan, d Design) {
	t.Helper()
	sizes, yes, load := map[int]bool{}, map[int]bool{}, map[string]int{}
	plain := p
	plain.Overlap = 0
	for _, own := range design(t, plain).Batches {
		n := 0
		for _, item := range own {
			if p.Truths[item] == dialogue.Yes {
				n++
			}
		}
		sizes[len(own)], yes[n] = true, true
	}
	for what, values := range map[string]map[int]bool{"sizes": sizes, "YES items": yes} {
		if lo, hi := bounds(values); hi-lo > 1 {
			t.Errorf("%s of batches differ by more than one: %d to %d", what, lo, hi)
		}
	}
	met := map[string]annotation.Modality{}
	for _, a := range d.Assignments {
		load[a.Annotator+" "+string(a.Modality)]++
		for _, item := range a.Items {
			key := fmt.Sprint(a.Annotator, " ", item)
			if p.Repeat == Disjoint && met[key] != "" && met[key] != a.Modality {
				t.Errorf("%s meets item %d in both modalities", a.Annotator, item)
			}
			met[key] = a.Modality
		}
		twice := slices.Clone(a.Items)
		slices.Sort(twice)
		if len(slices.Compact(twice)) != len(a.Items) {
			t.Errorf("%s %s has an item twice: %v", a.Annotator, a.Part(), a.Items)
		}
	}
	if len(load) != len(p.Annotators)*len(p.Modalities) {
		t.Errorf("%d annotators and modalities, want %d", len(load), len(p.Annotators)*len(p.Modalities))
	}
	loads := map[int]bool{}
	for _, n := range load {
		loads[n] = true
	}
	if lo, hi := bounds(loads); hi-lo > 1 {
		t.Errorf("the batches of annotators differ by more than one: %d to %d", lo, hi)
	}
}

func bounds(values map[int]bool) (lo, hi int) {
	lo = 1 << 30
	for v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// No annotator judges an item twice in a modality, however batches overlap.
func TestDesignShowsItemsOnce(t *testing.T) {
	p := plan()
	p.Overlap, p.MinVotes, p.Checks = 0.5, 6, 2
	seen := map[string]bool{}
	for _, a := range design(t, p).Assignments {
		for _, item := range a.Items {
			key := fmt.Sprint(a.Annotator, a.Modality, item)
			if seen[key] {
				t.Fatalf("%s has item %d twice in %s", a.Annotator, item, a.Modality)
			}
			seen[key] = true
		}
	}
}

func TestDesignIsDrawnBySeed(t *testing.T) {
	p := plan()
	first := design(t, p)
	if diff := cmp.Diff(first, design(t, p)); diff != "" {
		t.Errorf("the same plan gives another design:\n%s", diff)
	}
	p.Seed++
	if cmp.Equal(first.Assignments, design(t, p).Assignments) {
		t.Error("another seed gives the same assignments")
	}
	begins := map[annotation.Modality]int{}
	last := ""
	for _, a := range first.Assignments {
		if a.Annotator != last {
			begins[a.Modality]++
		}
		last = a.Annotator
	}
	if begins[annotation.Text] != 4 || begins[annotation.Audio] != 4 {
		t.Errorf("annotators begin with %v, want half of them with each", begins)
	}
}

// The paper's: one text and one audio batch for each of eight annotators.
func TestDesignBelowItsVotes(t *testing.T) {
	p := plan()
	p.BatchesEach, p.Overlap = 1, 0
	d := design(t, p)
	if len(d.Assignments) != 16 {
		t.Errorf("%d assignments, want 16", len(d.Assignments))
	}
	err := d.CheckVotes(len(p.Truths), 3)
	if err == nil || !strings.Contains(err.Error(), "100 of 100 items in text") {
		t.Errorf("%v", err)
	}
	if err := d.CheckVotes(len(p.Truths), 0); err != nil {
		t.Error(err)
	}
}

func TestDesignRefuses(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"a study of 0 items":                   func(p *Plan) { p.Truths = nil },
		"0 annotators":                         func(p *Plan) { p.Annotators = nil },
		"no modality":                          func(p *Plan) { p.Modalities = nil },
		"0 batches of 100":                     func(p *Plan) { p.Batches = 0 },
		"101 batches of 100":                   func(p *Plan) { p.Batches = 101 },
		"an overlap of 0.6":                    func(p *Plan) { p.Overlap = 0.6 },
		"0 votes an item":                      func(p *Plan) { p.MinVotes = 0 },
		"8 annotators can't give 9 votes":      func(p *Plan) { p.MinVotes = 9 },
		"11 batches for each annotator":        func(p *Plan) { p.BatchesEach = 11 },
		"is no way to repeat items":            func(p *Plan) { p.Repeat = "twice" },
		"too few for disjoint items":           func(p *Plan) { p.Repeat, p.MinVotes = Disjoint, 5 },
		"a batch of 201 items":                 func(p *Plan) { p.Truths = make([]dialogue.Truth, 201); p.Batches = 1 },
		"a study of 2001 items":                func(p *Plan) { p.Truths = make([]dialogue.Truth, 2001); p.Batches = 20 },
		"a study of 32000 judgments: at most":  func(p *Plan) { p.Truths = make([]dialogue.Truth, 2000); p.Batches, p.MinVotes, p.Overlap = 20, 8, 0 },
		"-1 batches for each annotator: use a": func(p *Plan) { p.BatchesEach = -1 },
	} {
		p := plan()
		change(&p)
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
