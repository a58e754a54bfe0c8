package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// Cost is what the calls of an evaluation's records took, by its own prices.
type Cost struct {
	evaluation.Cost
	Currency string `json:"currency,omitempty"` // "" when no prices were given: then no money is known
	Credits  int    `json:"credits"`            // of the synthesizer, as it says it billed them
	// Budget is the one that the evaluation began with, Over what was taken beyond
	// it: a budget admits dialogues by their estimates. Estimated is the most that
	// all of them were expected to take, where a budget is set.
	Budget    evaluation.Budget `json:"budget,omitzero"`
	Over      evaluation.Cost   `json:"over,omitzero"`
	Estimated evaluation.Cost   `json:"estimated,omitzero"`
}

func price(u evaluation.Usage, spec evaluation.Spec) Cost {
	c := Cost{Cost: spec.Prices.Cost(u), Currency: spec.Prices.Currency, Credits: u.Credits, Budget: spec.Budget}
	bound := spec.Budget.Bound()
	c.Over.Calls = max(0, c.Calls-bound.Calls)
	c.Over.Money = max(0, c.Money-bound.Money)
	return c
}

// Took is how long an evaluation took, its waits and pauses included.
type Took struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Seconds float64   `json:"seconds"`
}

// took returns nil while the evaluation goes on, and where clocks disagree.
func took(started time.Time, e evaluation.Ended) *Took {
	if started.IsZero() || e.Ended.Before(started) {
		return nil
	}
	return &Took{Started: started, Ended: e.Ended, Seconds: e.Ended.Sub(started).Seconds()}
}

// String says it for people.
func (t Took) String() string {
	return fmt.Sprintf("%s, from %s to %s, waits and pauses included", t.Ended.Sub(t.Started).Round(time.Second),
		t.Started.UTC().Format(time.RFC3339), t.Ended.UTC().Format(time.RFC3339))
}

// amount writes money with at least two decimals and no further zeros.
func amount(currency string, m evaluation.Micros) string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	decimals := fmt.Sprintf("%06d", m%1_000_000)
	return fmt.Sprintf("%s %s%d.%s%s", printable(currency), sign, m/1_000_000, decimals[:2], strings.TrimRight(decimals[2:], "0"))
}

func (t *text) cost(u evaluation.Usage, c Cost) {
	credits := ""
	if c.Credits > 0 {
		credits = fmt.Sprintf(", %d %s as billed", c.Credits, plural(c.Credits, "credit"))
	}
	money := "no prices given"
	if c.Currency != "" {
		money = amount(c.Currency, c.Money)
	}
	t.prose("Cost: %d %s (%d turns spoken, %d requests to the detector)%s; %s",
		c.Calls, plural(c.Calls, "call"), u.TurnsMade, u.Questions, credits, money)
	if bound := c.Budget.Calls; bound > 0 {
		t.prose("Budget: %d %s, estimated at most %d; %d made%s", bound, plural(bound, "call"), c.Estimated.Calls, c.Calls, over(c.Over.Calls > 0, fmt.Sprint(c.Over.Calls)))
	}
	if bound := c.Budget.Money; bound > 0 {
		t.prose("Budget: %s, estimated at most %s; %s taken%s", amount(c.Currency, bound), amount(c.Currency, c.Estimated.Money), amount(c.Currency, c.Money), over(c.Over.Money > 0, amount(c.Currency, c.Over.Money)))
	}
}

func over(is bool, much string) string {
	if !is {
		return ""
	}
	return ": " + much + " over, as the bound is on estimates and a resumption may have raised it"
}
