package study

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Repeat says whether an annotator meets an item in both modalities.
type Repeat string

// The two designs. With the same items annotator and item are held fixed, and what is
// remembered of the first modality carries over; with disjoint ones nothing carries
// over, and modalities differ in their annotators.
const (
	SameItems Repeat = "same-items"
	Disjoint  Repeat = "disjoint"
)

// The most that a study takes: its State must fit into a workflow's input.
const (
	MaxItems     = 2000
	MaxBatch     = 200    // items of an assignment
	MaxJudgments = 20_000 // of all annotators in all modalities
	MaxOverlap   = 0.5
)

// Plan is what a leader asks for.
type Plan struct {
	Truths      []dialogue.Truth // of the items to vote on, by their numbers
	Checks      int              // attention checks, numbered after these
	Annotators  []string         // pseudonyms
	Modalities  []annotation.Modality
	Batches     int     // of each modality
	Overlap     float64 // share of the items that stand in two batches
	MinVotes    int
	BatchesEach int // of each annotator and modality; 0 is as many as MinVotes takes
	Repeat      Repeat
	Seed        uint64
}

// Design says who judges what, and in which order.
type Design struct {
	Modalities  []annotation.Modality `json:"modalities"`
	Annotators  []string              `json:"annotators"`  // in an order drawn by the seed
	Batches     [][]int               `json:"batches"`     // their items; the same in each modality
	Assignments []Assignment          `json:"assignments"` // by annotator, each one's in their order
	Repeat      Repeat                `json:"repeat"`
	Overlap     float64               `json:"overlap"`
	Seed        uint64                `json:"seed"`
}

// Assignment is one batch for one annotator.
type Assignment struct {
	Annotator string              `json:"annotator"`
	Modality  annotation.Modality `json:"modality"`
	Batch     int                 `json:"batch"`           // its number; of an adjudication the round's
	Round     int                 `json:"round,omitempty"` // 0: judging; from 1: adjudication
	Extra     int                 `json:"extra,omitempty"` // tells apart what others have left of one batch
	Items     []int               `json:"items"`           // in the order in which they are shown
}

// Part names the assignment among its annotator's, e.g. text-03 or audio-review-1.
func (a Assignment) Part() string {
	switch {
	case a.Round > 0:
		return fmt.Sprintf("%s-review-%d", a.Modality, a.Round)
	case a.Extra > 0:
		return fmt.Sprintf("%s-%02d-left-%d", a.Modality, a.Batch, a.Extra)
	}
	return fmt.Sprintf("%s-%02d", a.Modality, a.Batch)
}

// New draws a design. The same plan always gives the same one. Each batch has as many
// items, and as many of each truth, as any other, but for one; each annotator has as
// many batches, but for one; half of the annotators begin with the first modality.
func New(p Plan) (Design, error) {
	if err := p.check(); err != nil {
		return Design{}, err
	}
	rng := rand.New(rand.NewPCG(p.Seed, 0))
	d := Design{Modalities: p.Modalities, Annotators: slices.Clone(p.Annotators), Repeat: p.Repeat, Overlap: p.Overlap, Seed: p.Seed}
	d.Batches = p.batches(rng)
	rng.Shuffle(len(d.Annotators), func(i, j int) { d.Annotators[i], d.Annotators[j] = d.Annotators[j], d.Annotators[i] })
	first := rng.IntN(2)
	for i, name := range d.Annotators {
		d.Assignments = append(d.Assignments, p.assign(rng, d.Batches, name, i, first)...)
	}
	return d, d.check()
}

func (p Plan) check() error {
	n := len(p.Truths)
	switch {
	case n == 0 || n > MaxItems:
		return fmt.Errorf("a study of %d items: use 1 to %d", n, MaxItems)
	case len(p.Annotators) == 0 || len(p.Annotators) > annotation.MaxAnnotators:
		return fmt.Errorf("%d annotators: use 1 to %d", len(p.Annotators), annotation.MaxAnnotators)
	case len(p.Modalities) == 0:
		return fmt.Errorf("no modality")
	case p.Batches < 1 || p.Batches > n:
		return fmt.Errorf("%d batches of %d items: use 1 to %[2]d", p.Batches, n)
	case !(p.Overlap >= 0 && p.Overlap <= MaxOverlap):
		return fmt.Errorf("an overlap of %g: use 0 to %g", p.Overlap, MaxOverlap)
	case p.MinVotes < 1:
		return fmt.Errorf("%d votes an item: use at least 1", p.MinVotes)
	case p.Repeat != SameItems && p.Repeat != Disjoint:
		return fmt.Errorf("%.40q is no way to repeat items (valid: %s, %s)", p.Repeat, SameItems, Disjoint)
	case p.BatchesEach < 0:
		return fmt.Errorf("%d batches for each annotator: use at least 1", p.BatchesEach)
	case p.BatchesEach == 0 && p.MinVotes > len(p.Annotators):
		return fmt.Errorf("%d annotators can't give %d votes an item: each judges it once", len(p.Annotators), p.MinVotes)
	case p.BatchesEach > p.Batches:
		return fmt.Errorf("%d batches for each annotator, and there are %d", p.BatchesEach, p.Batches)
	}
	return nil
}

// slots are the batches that one modality's annotators have together: each has one.
func (p Plan) slots() int {
	if p.BatchesEach > 0 {
		return p.BatchesEach * len(p.Annotators)
	}
	return max(p.Batches*p.MinVotes, len(p.Annotators))
}

// batches deals the items out, each truth in turn, and has each batch share the first
// of the next one's.
func (p Plan) batches(rng *rand.Rand) [][]int {
	var order []int
	for _, truth := range []dialogue.Truth{dialogue.Yes, dialogue.No, dialogue.Unknown} {
		var of []int
		for item, is := range p.Truths {
			if is == truth {
				of = append(of, item)
			}
		}
		rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		order = append(order, of...)
	}
	own := make([][]int, p.Batches)
	for i, item := range order {
		own[i%p.Batches] = append(own[i%p.Batches], item)
	}
	for _, items := range own {
		rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	all := make([][]int, p.Batches)
	for b := range own {
		next := own[(b+1)%p.Batches]
		all[b] = slices.Clone(own[b])
		if p.Batches > 1 {
			all[b] = append(all[b], next[:int(p.Overlap*float64(len(next))+1e-9)]...)
		}
	}
	return all
}

// assign gives the i-th annotator neighbouring batches, so that of two modalities'
// neighbourhoods, half of the batches apart, neither reaches into the other.
func (p Plan) assign(rng *rand.Rand, batches [][]int, name string, i, first int) []Assignment {
	from, to := i*p.slots()/len(p.Annotators), (i+1)*p.slots()/len(p.Annotators)
	var all []Assignment
	checks := i
	for k := range p.Modalities {
		m := (k + i + first) % len(p.Modalities)
		shift := 0
		if p.Repeat == Disjoint {
			shift = m * p.Batches / len(p.Modalities)
		}
		var numbers []int
		for slot := from; slot < to; slot++ {
			numbers = append(numbers, (slot+shift)%p.Batches)
		}
		rng.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		seen := map[int]bool{}
		for _, b := range numbers {
			a := Assignment{Annotator: name, Modality: p.Modalities[m], Batch: b}
			given := batches[b]
			if p.Checks > 0 {
				given = append(slices.Clone(given), len(p.Truths)+checks%p.Checks)
				checks++
			}
			for _, item := range given {
				if !seen[item] { // two batches share items: an annotator judges them once
					a.Items = append(a.Items, item)
				}
				seen[item] = true
			}
			rng.Shuffle(len(a.Items), func(i, j int) { a.Items[i], a.Items[j] = a.Items[j], a.Items[i] })
			all = append(all, a)
		}
	}
	return all
}

// check refuses a design that is too large, or that shows an annotator in two
// modalities what it promised not to.
func (d Design) check() error {
	judgments := 0
	met := map[string]annotation.Modality{} // by annotator and item
	for _, a := range d.Assignments {
		if len(a.Items) > MaxBatch {
			return fmt.Errorf("a batch of %d items: use more batches, at most %d items are allowed in one", len(a.Items), MaxBatch)
		}
		judgments += len(a.Items)
		for _, item := range a.Items {
			key := fmt.Sprintf("%s %d", a.Annotator, item)
			other, ok := met[key]
			if ok && other != a.Modality && d.Repeat == Disjoint {
				return fmt.Errorf("%d batches are too few for disjoint items: %s would judge item %d in %s and in %s; "+
					"use more batches, more annotators, fewer votes, less overlap, or another number of attention checks", len(d.Batches), a.Annotator, item, other, a.Modality)
			}
			met[key] = a.Modality
		}
	}
	if judgments > MaxJudgments {
		return fmt.Errorf("a study of %d judgments: at most %d are allowed", judgments, MaxJudgments)
	}
	return nil
}
