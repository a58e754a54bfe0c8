package vote

import (
	"cmp"
	"slices"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

// TacticPass is one tactic pass: the probabilities of the options in
// tactic.Options order, not renormalised, and, under DrawSample, the option that
// Draw gave for them when the pass was made and stored.
type TacticPass struct {
	Index  int           `json:"index"`
	Masses []Mass        `json:"masses"`
	Drawn  tactic.Tactic `json:"drawn,omitempty"`
}

// TacticLabel is what one tactic pass says.
type TacticLabel struct {
	Index      int           `json:"index"`
	Label      tactic.Tactic `json:"label"`      // "" when the pass can't say
	Top        tactic.Tactic `json:"top"`        // the most probable option, or the drawn one
	Second     tactic.Tactic `json:"second"`     // the best other one
	Margin     Nano          `json:"margin"`     // p(top) - p(second); below 0 when a less probable option was drawn
	Unobserved int           `json:"unobserved"` // options outside what the server returned: ranked last, never 0
	Unsure     bool          `json:"unsure"`     // one of those could have changed Label
}

// TacticOutcome is what a clip's tactic passes decide.
type TacticOutcome struct {
	Tactic    tactic.Tactic   `json:"tactic"` // "" when no pass could say
	Argmax    tactic.Tactic   `json:"argmax"` // the highest mean probability, whatever the rules
	Second    tactic.Tactic   `json:"second"` // the next highest
	Gain      Nano            `json:"gain"`   // mean p(argmax) - mean p(second); the least it can be when second was not observed
	Votes     int             `json:"votes"`  // passes that say Tactic, or one of Tied
	Tied      []tactic.Tactic `json:"tied,omitempty"`
	TieUnsure bool            `json:"tie_unsure,omitempty"` // the tie rule read a mean with an unobserved mass left out
	Unsure    int             `json:"unsure"`               // passes that an unobserved option could have changed
	Invalid   int             `json:"invalid"`              // passes that can't say
	Missing   int             `json:"missing"`              // passes that the rules ask for and nobody made
	Ignored   int             `json:"ignored"`              // passes whose index the rules don't know
	Passes    []TacticLabel   `json:"passes"`               // by index
}

// ScoredPasses returns one scoring counted as every pass that r asks for: under
// DrawScore all passes are equal, because scoring doesn't depend on sampling.
func ScoredPasses(masses []Mass, r Rules) []TacticPass {
	passes := make([]TacticPass, max(r.Passes, 0))
	for i := range passes {
		passes[i] = TacticPass{Index: i, Masses: masses}
	}
	return passes
}

// DecideTactic returns the tactic of a clip's tactic passes: the label that most
// of them say, ties by the rules. Their order doesn't matter; repeated and
// unknown indices are treated as in Decide.
func DecideTactic(passes []TacticPass, r Rules) TacticOutcome {
	var out TacticOutcome
	byIndex := make([]*TacticPass, max(r.Passes, 0))
	for _, p := range passes {
		if p.Index < 0 || p.Index >= len(byIndex) {
			out.Ignored++
			continue
		}
		if seen := byIndex[p.Index]; seen != nil && !sameTacticPass(*seen, p) {
			p.Masses, p.Drawn = nil, ""
		}
		byIndex[p.Index] = &p
	}

	var valid []TacticPass
	for _, p := range byIndex {
		if p == nil {
			out.Missing++
			continue
		}
		label := labelTactic(*p, r)
		out.Passes = append(out.Passes, label)
		if label.Unsure {
			out.Unsure++
		}
		if label.Label == "" {
			out.Invalid++
			continue
		}
		valid = append(valid, *p)
	}
	if len(valid) == 0 {
		return out
	}

	means := meanMasses(valid)
	order := rank(means, r.TacticOrder)
	out.Argmax, out.Second = tactic.Options()[order[0]], tactic.Options()[order[1]]
	out.Gain = means[order[0]].P - means[order[1]].high()
	out.elect(means, r)
	for _, t := range out.Tied {
		i := tactic.Index(t)
		out.TieUnsure = out.TieUnsure || slices.ContainsFunc(valid, func(p TacticPass) bool { return !p.Masses[i].Observed })
	}
	return out
}

func sameTacticPass(a, b TacticPass) bool {
	return a.Index == b.Index && a.Drawn == b.Drawn && slices.Equal(a.Masses, b.Masses)
}

// labelTactic applies the margin rule to one pass.
func labelTactic(p TacticPass, r Rules) TacticLabel {
	out := TacticLabel{Index: p.Index}
	options := tactic.Options()
	if len(p.Masses) != len(options) {
		return out
	}
	for _, m := range p.Masses {
		if !m.Observed {
			out.Unobserved++
		}
	}

	order := rank(p.Masses, r.TacticOrder)
	top := order[0]
	if r.TacticDraw == DrawSample {
		top = tactic.Index(p.Drawn)
	}
	if top < 0 || !p.Masses[top].Observed {
		return out
	}
	second := order[0]
	if second == top {
		second = order[1]
	}
	out.Top, out.Second = options[top], options[second]
	// Against a second that was not observed this is the least the margin can be.
	out.Margin = p.Masses[top].P - p.Masses[second].high()

	chosen := second
	if options[top] != tactic.None && out.Margin >= r.TacticMargin {
		chosen = top
	}
	out.Unsure = unsure(p.Masses, top, second, chosen, r)
	if p.Masses[chosen].Observed {
		out.Label = options[chosen]
	}
	return out
}

// unsure reports whether an option that was not observed could have been the
// second, and so the label, or could have come within the margin of the top.
func unsure(masses []Mass, top, second, chosen int, r Rules) bool {
	for i, m := range masses {
		if m.Observed || i == top {
			continue
		}
		if chosen == second && m.high() >= masses[second].low() {
			return true
		}
		if chosen == top && (m.high() >= masses[top].P || masses[top].P-m.high() < r.TacticMargin) {
			return true
		}
	}
	return false
}

// rank returns the options' places, the most probable first; observed ones come
// before those that were not, which go by their bound.
func rank(masses []Mass, rule OrderRule) []int {
	options := tactic.Options()
	order := make([]int, len(options))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if masses[a].Observed != masses[b].Observed {
			if masses[a].Observed {
				return -1
			}
			return 1
		}
		if c := cmp.Compare(masses[b].high(), masses[a].high()); c != 0 {
			return c
		}
		if rule == OrderName {
			return cmp.Compare(options[b], options[a])
		}
		return cmp.Compare(a, b)
	})
	return order
}

// meanMasses returns each option's mean over the passes that observed it; an
// option that none observed keeps its highest bound.
func meanMasses(passes []TacticPass) []Mass {
	means := make([]Mass, len(tactic.Options()))
	for i := range means {
		var sum, bound Nano
		var n int64
		for _, p := range passes {
			if m := p.Masses[i]; m.Observed {
				sum += m.P
				n++
			} else {
				bound = max(bound, m.high())
			}
		}
		if n > 0 {
			means[i] = Mass{P: sum / Nano(n), Observed: true}
		} else {
			means[i] = Mass{P: bound}
		}
	}
	return means
}

// elect sets the tactic that most passes say, ties by the rules.
func (o *TacticOutcome) elect(means []Mass, r Rules) {
	counts := make([]int, len(means))
	for _, p := range o.Passes {
		if p.Label != "" {
			counts[tactic.Index(p.Label)]++
		}
	}
	o.Votes = slices.Max(counts)
	var tied []tactic.Tactic
	for i, t := range tactic.Options() {
		if counts[i] == o.Votes {
			tied = append(tied, t)
		}
	}
	if len(tied) == 1 {
		o.Tactic = tied[0]
		return
	}
	o.Tied = tied
	o.Tactic = breakTie(tied, o.Passes, means, r)
}

// breakTie decides between labels, in inventory order, with equal votes.
func breakTie(tied []tactic.Tactic, passes []TacticLabel, means []Mass, r Rules) tactic.Tactic {
	mean := func(t tactic.Tactic) Nano { return means[tactic.Index(t)].P }
	named := slices.DeleteFunc(slices.Clone(tied), func(t tactic.Tactic) bool { return t == tactic.None })
	// MaxFunc keeps the first of equals: the earlier in the inventory.
	best := slices.MaxFunc(named, func(a, b tactic.Tactic) int { return cmp.Compare(mean(a), mean(b)) })

	if len(named) < len(tied) { // none is among them
		if r.NoneTie == NoneTieByGain && mean(best)-mean(tactic.None) >= r.NoneTieGain {
			return best
		}
		return tactic.None
	}
	if r.TacticTie == TieFirst {
		for _, p := range passes {
			if slices.Contains(tied, p.Label) {
				return p.Label
			}
		}
	}
	return best
}
