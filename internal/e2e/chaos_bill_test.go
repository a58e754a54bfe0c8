//go:build integration && linux

package e2e

import simledger "github.com/speechmanip/speechmanip/internal/simulator/ledger"

// bill is what the providers were paid for.
type bill struct{ turns, answers []simledger.Entry }

// paidCalls counts paid calls, and how many of them were of a request that had been
// paid before: their first reply was destroyed on its way, or with its worker.
type paidCalls struct{ calls, again int }

func (p *providers) bill() bill {
	return bill{p.eleven.Ledger().Entries(), p.chat.Ledger().Entries()}
}

// since returns what was paid after an undisturbed evaluation of the same. What that
// asked more than once are the probes: every worker makes them.
func (p *providers) since(undisturbed bill) (turns, answers paidCalls) {
	now := p.bill()
	times := map[string]int{}
	for _, e := range undisturbed.answers {
		times[e.Key]++
	}
	turns = count(now.turns[len(undisturbed.turns):], func(string) bool { return true })
	answers = count(now.answers[len(undisturbed.answers):], func(key string) bool { return times[key] == 1 })
	return turns, answers
}

func count(entries []simledger.Entry, counts func(key string) bool) paidCalls {
	c, seen := paidCalls{}, map[string]bool{}
	for _, e := range entries {
		if !counts(e.Key) {
			continue
		}
		c.calls++
		if seen[e.Key] {
			c.again++
		}
		seen[e.Key] = true
	}
	return c
}
