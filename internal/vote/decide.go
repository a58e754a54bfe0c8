package vote

// Outcome is what a clip's passes decide, and how they came to it. Yes, No and
// Invalid count the passes that were there; each of them is Constrained, Parsed,
// Fallback or Invalid.
type Outcome struct {
	Verdict     Verdict `json:"verdict"`
	Yes         int     `json:"yes"`
	No          int     `json:"no"`
	Invalid     int     `json:"invalid"`          // passes without a usable vote; never a NO
	Missing     int     `json:"missing"`          // passes that the rules ask for and nobody made
	Ignored     int     `json:"ignored"`          // passes whose index the rules don't know
	Constrained int     `json:"constrained"`      // valid votes by the constrained answer
	Parsed      int     `json:"parsed,omitempty"` // valid votes read from free answers
	Fallback    int     `json:"fallback"`         // valid votes by the verbalizers' probabilities
	Margin      int     `json:"margin"`           // votes by which the leading side leads
}

// Decide returns the verdict of a clip's passes; their order doesn't matter. A
// pass counts once: repeated identically it is the same pass, repeated with
// another answer it is INVALID. Without any valid vote the verdict is
// UNRESOLVED under every rule.
func Decide(passes []Pass, r Rules) Outcome {
	var out Outcome
	byIndex := make([]*Pass, max(r.Passes, 0))
	for _, p := range passes {
		if p.Index < 0 || p.Index >= len(byIndex) {
			out.Ignored++
			continue
		}
		if seen := byIndex[p.Index]; seen != nil && *seen != p {
			p.Vote, p.Method = VoteInvalid, Failed
		}
		byIndex[p.Index] = &p
	}
	for _, p := range byIndex {
		out.count(p)
	}
	out.Margin = max(out.Yes-out.No, out.No-out.Yes)
	out.Verdict = verdict(out.Yes, out.No, r)
	return out
}

func (o *Outcome) count(p *Pass) {
	switch {
	case p == nil:
		o.Missing++
		return
	case p.Vote == VoteYes:
		o.Yes++
	case p.Vote == VoteNo:
		o.No++
	default:
		o.Invalid++
		return
	}
	switch p.Method {
	case Fallback:
		o.Fallback++
	case Parsed:
		o.Parsed++
	default:
		o.Constrained++
	}
}

func verdict(yes, no int, r Rules) Verdict {
	switch {
	case yes+no == 0:
		return Unresolved
	case r.Label == LabelPlurality && yes > no:
		return Yes
	case r.Label == LabelPlurality:
		return No
	case yes >= r.Quorum:
		return Yes
	case no >= r.Quorum:
		return No
	default:
		return Unresolved
	}
}

// DecideFallback returns the vote of a pass whose constrained answer was neither
// A nor B, from the summed probabilities of the YES and of the NO verbalizers:
// YES iff p(YES) > p(NO) + margin. A side that was not observed lies anywhere
// between 0 and its bound; the vote is INVALID when that could change it, and
// when neither side was observed.
func DecideFallback(yes, no Mass, r Rules) (Vote, Method) {
	if !yes.Observed && !no.Observed {
		return VoteInvalid, Failed
	}
	switch {
	case yes.low() > no.high()+r.FallbackMargin:
		return VoteYes, Fallback
	case yes.high() <= no.low()+r.FallbackMargin:
		return VoteNo, Fallback
	default:
		return VoteInvalid, Failed
	}
}

// low is the least that the probability can be.
func (m Mass) low() Nano {
	if m.Observed {
		return m.P
	}
	return 0
}

// high is the most that the probability can be. An unobserved mass without a
// bound may be anything.
func (m Mass) high() Nano {
	if !m.Observed && m.P <= 0 {
		return One
	}
	return m.P
}
