package vote

// Next returns the indices of the passes to make next, in rising order; none when
// enough are there. Under VotesEarlyStop these are first as many as can decide
// alone, then one at a time until the verdict is settled; else all that are
// missing. Passes that count for nothing in Decide count for nothing here.
func Next(passes []Pass, r Rules) []int {
	known := make([]bool, max(r.Passes, 0))
	made := 0
	for _, p := range passes {
		if p.Index >= 0 && p.Index < len(known) && !known[p.Index] {
			known[p.Index] = true
			made++
		}
	}
	wanted := len(known)
	if r.Votes == VotesEarlyStop {
		if Settled(passes, r) {
			return nil
		}
		wanted = max(r.decisive(), made+1)
	}
	var next []int
	for i := range known {
		if !known[i] && made+len(next) < wanted {
			next = append(next, i)
		}
	}
	return next
}

// decisive is how many equal votes decide whatever the other passes say.
func (r Rules) decisive() int {
	if r.Label == LabelQuorum {
		return r.Quorum
	}
	return r.Passes/2 + 1
}

// Settled reports whether the passes that are still missing can't change the
// verdict any more, whatever they say: then it is that of Decide.
func Settled(passes []Pass, r Rules) bool {
	out := Decide(passes, r)
	for yes := range out.Missing + 1 {
		for no := range out.Missing - yes + 1 { // the rest is INVALID
			if verdict(out.Yes+yes, out.No+no, r) != out.Verdict {
				return false
			}
		}
	}
	return true
}
