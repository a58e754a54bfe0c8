package vote

import "math/big"

// DecideAnalytic returns the verdict that more than half of all draws of the
// passes would have, and the probability of YES, where each pass says YES with
// the probability yes and else NO. Without such a verdict it is UNRESOLVED: of an
// odd number of passes that decide by majority, only where both are equally
// likely. The outcome counts no votes: none are drawn.
//
// The sums are exact, so that every processor decides the same; only the
// returned probability is rounded, to the nearest.
func DecideAnalytic(yes Nano, r Rules) (Outcome, Nano) {
	p := big.NewInt(int64(min(max(yes, 0), One)))
	q := new(big.Int).Sub(big.NewInt(int64(One)), p)
	n := int64(max(r.Passes, 0))
	whole := power(big.NewInt(int64(One)), n)
	mass := map[Verdict]*big.Int{Yes: new(big.Int), No: new(big.Int), Unresolved: new(big.Int)}
	for k := range n + 1 {
		term := new(big.Int).Binomial(n, k)
		term.Mul(term, power(p, k)).Mul(term, power(q, n-k))
		v := verdict(int(k), int(n-k), r)
		mass[v].Add(mass[v], term)
	}
	out := Outcome{Verdict: Unresolved}
	for _, v := range []Verdict{Yes, No} {
		if twice := new(big.Int).Lsh(mass[v], 1); twice.Cmp(whole) > 0 {
			out.Verdict = v
		}
	}
	scaled := new(big.Int).Mul(mass[Yes], big.NewInt(2*int64(One)))
	scaled.Add(scaled, whole).Div(scaled, new(big.Int).Lsh(whole, 1)) // nearest, half up
	return out, Nano(scaled.Int64())
}

func power(base *big.Int, exponent int64) *big.Int {
	return new(big.Int).Exp(base, big.NewInt(exponent), nil)
}
