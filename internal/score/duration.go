package score

import (
	"cmp"
	"fmt"
	"slices"
)

// byDuration judges each decided item by the length of its clip alone: YES from
// some length on, or up to it, whichever gives the best balanced accuracy on the
// clips of all other dialogues (leave one out: no clip has a say in its own
// verdict). Of few clips that is below chance where length tells nothing, as each
// clip's absence speaks against it; fitted is what the rule reaches that is chosen
// with all clips. It says why it can't, where it can't judge exactly the decided
// items.
func byDuration(items []Item) (c Confusion, fitted *Figure, reason string) {
	s := sampleDecided(items)
	if s.yes < 2 || s.no < 2 {
		return Confusion{}, nil, "fewer than two dialogues of one truth"
	}
	unknown := 0
	clips := make([]timed, len(s.items))
	for i, it := range s.items {
		clips[i] = timed{seconds: it.Seconds, unit: s.unit[i], yes: s.isYes(s.unit[i])}
		if !(it.Seconds > 0) {
			unknown++
		}
	}
	if unknown > 0 {
		return Confusion{}, nil, fmt.Sprintf("%d of %d decided items have no known length", unknown, len(clips))
	}
	slices.SortStableFunc(clips, func(a, b timed) int { return cmp.Compare(a.seconds, b.seconds) })
	rules := make([]lengthRule, s.yes+s.no)
	for unit := range rules {
		rules[unit] = bestRule(clips, unit)
	}
	all := bestRule(clips, -1)
	var own Confusion
	for _, clip := range clips {
		c.count(clip.yes, rules[clip.unit].saysYes(clip.seconds))
		own.count(clip.yes, all.saysYes(clip.seconds))
	}
	best := measure(own).BalancedAccuracy
	return c, &best, ""
}

func (c *Confusion) count(truth, verdict bool) {
	row := &c.No
	if truth {
		row = &c.Yes
	}
	if verdict {
		row.Yes++
	} else {
		row.No++
	}
}

// timed is a clip's length with its dialogue and truth.
type timed struct {
	seconds float64
	unit    int
	yes     bool
}

// lengthRule says YES of clips that are longer than a length, or of the others.
type lengthRule struct {
	above     float64
	otherwise bool
}

func (r lengthRule) saysYes(seconds float64) bool { return (seconds > r.above) != r.otherwise }

// bestRule returns the rule of the best balanced accuracy on the clips, sorted by
// length, of all dialogues but one; among equals the shortest length, and YES for
// longer clips.
func bestRule(clips []timed, without int) lengthRule {
	yes, no := 0, 0
	for _, c := range clips {
		switch {
		case c.unit == without:
		case c.yes:
			yes++
		default:
			no++
		}
	}
	best, most := lengthRule{}, 0
	consider := func(above float64, yesBelow, noBelow int) {
		// Recall plus specificity, times the counts of both truths.
		longer := (yes-yesBelow)*no + noBelow*yes
		for _, r := range []lengthRule{{above, false}, {above, true}} {
			gain := longer
			if r.otherwise {
				gain = 2*yes*no - longer
			}
			if gain > most {
				best, most = r, gain
			}
		}
	}
	yesBelow, noBelow := 0, 0
	consider(0, 0, 0)
	for i, c := range clips {
		switch {
		case c.unit == without:
		case c.yes:
			yesBelow++
		default:
			noBelow++
		}
		if i+1 == len(clips) || clips[i+1].seconds > c.seconds {
			consider(c.seconds, yesBelow, noBelow)
		}
	}
	return best
}
