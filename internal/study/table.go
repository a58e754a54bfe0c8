package study

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// Votes returns how many votes the design gives each of the first items.
func (d Design) Votes(m annotation.Modality, items int) []int {
	votes := make([]int, items)
	for _, a := range d.Assignments {
		if a.Modality != m {
			continue
		}
		for _, item := range a.Items {
			if item < items {
				votes[item]++
			}
		}
	}
	return votes
}

// CheckVotes returns which items get too few votes.
func (d Design) CheckVotes(items, minVotes int) error {
	for _, m := range d.Modalities {
		few := 0
		votes := d.Votes(m, items)
		for _, n := range votes {
			if n < minVotes {
				few++
			}
		}
		if few > 0 {
			return fmt.Errorf("%d of %d items in %s get fewer than %d votes, one only %d: give each annotator more batches, or take more annotators",
				few, items, m, minVotes, slices.Min(votes))
		}
	}
	return nil
}

// WriteTable writes the design for a person.
func (d Design) WriteTable(w io.Writer, items int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "items\t%d\tin %d batches a modality, overlap %g, %s, seed %d\n", items, len(d.Batches), d.Overlap, d.Repeat, d.Seed)
	for _, m := range d.Modalities {
		votes := d.Votes(m, items)
		sum := 0
		for _, n := range votes {
			sum += n
		}
		fmt.Fprintf(t, "%s\t%d votes\tan item gets %d to %d, on average %.2f\n", m, sum, slices.Min(votes), slices.Max(votes), float64(sum)/float64(items))
	}
	if free := len(d.Annotators) - d.mostVotes(items); free < 3 {
		fmt.Fprintf(t, "adjudicators\t%d\tfor a tie on the item with the most votes: add annotators where it takes more than there are (2, or 3)\n", free)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "annotator\tjudgments\tbatches, in their order")
	for _, name := range d.Annotators {
		judgments, batches := 0, ""
		for _, a := range d.Assignments {
			if a.Annotator == name {
				judgments += len(a.Items)
				batches += " " + a.Part()
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%s\n", name, judgments, batches)
	}
	return t.Flush()
}

func (d Design) mostVotes(items int) int {
	most := 0
	for _, m := range d.Modalities {
		most = max(most, slices.Max(d.Votes(m, items)))
	}
	return most
}
