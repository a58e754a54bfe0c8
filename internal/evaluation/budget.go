package evaluation

import (
	"errors"
	"math"
)

// Micros is money in millionths of the price table's currency.
type Micros int64

// Cost is what calls took, or are expected to take.
type Cost struct {
	Calls int    `json:"calls"` // of the synthesizer and of the detector
	Money Micros `json:"money,omitempty"`
}

// Add returns both costs together.
func (c Cost) Add(other Cost) Cost { return Cost{c.Calls + other.Calls, c.Money + other.Money} }

// Sub returns what c has more than other.
func (c Cost) Sub(other Cost) Cost { return Cost{c.Calls - other.Calls, c.Money - other.Money} }

// Min returns the smaller of both, calls and money each.
func (c Cost) Min(other Cost) Cost { return Cost{min(c.Calls, other.Calls), min(c.Money, other.Money)} }

// Within reports whether c is at most bound in calls and in money.
func (c Cost) Within(bound Cost) bool { return c.Calls <= bound.Calls && c.Money <= bound.Money }

// Prices is what calls cost. Providers' prices differ by model and plan, so that
// nothing here is built in.
type Prices struct {
	Currency string `json:"currency,omitempty"` // e.g. "USD"; "" when no prices are known
	// MilliCredits is what the synthesizer bills for a character, in thousandths of
	// its credit, for estimates: the true cost is what it says it billed.
	MilliCredits int64  `json:"milli_credits_per_character,omitempty"`
	Credit       Micros `json:"per_credit,omitempty"`
	DetectorCall Micros `json:"per_detector_call,omitempty"`
}

// Cost returns what an evaluation's calls took.
func (p Prices) Cost(u Usage) Cost {
	return Cost{
		Calls: u.TurnsMade + u.Questions,
		Money: Micros(u.Credits)*p.Credit + Micros(u.Questions)*p.DetectorCall,
	}
}

// Speech returns what speaking so many turns and characters is expected to take.
func (p Prices) Speech(turns, characters int) Cost {
	credits := (int64(characters)*p.MilliCredits + 999) / 1000
	return Cost{Calls: turns, Money: Micros(credits) * p.Credit}
}

// Questions returns what asking the detector so often is expected to take.
func (p Prices) Questions(n int) Cost {
	return Cost{Calls: n, Money: Micros(n) * p.DetectorCall}
}

// Budget bounds an evaluation's cost; zero is no bound.
type Budget struct {
	Calls int    `json:"calls,omitempty"`
	Money Micros `json:"money,omitempty"`
}

// IsZero reports whether nothing is bounded.
func (b Budget) IsZero() bool { return b == Budget{} }

// Bound returns the budget as a cost: what isn't bounded is more than can be
// taken.
func (b Budget) Bound() Cost {
	bound := Cost(b)
	if b.Calls == 0 {
		bound.Calls = unbounded
	}
	if b.Money == 0 {
		bound.Money = unbounded
	}
	return bound
}

// unbounded can be added to itself a few times without overflow.
const unbounded = math.MaxInt64 / 8

// Validate refuses bounds that mean nothing.
func (b Budget) Validate(p Prices) error {
	var errs []error
	if b.Calls < 0 || b.Money < 0 {
		errs = append(errs, errors.New("budget: neither calls nor money can be negative"))
	}
	if b.Money > 0 && p.Currency == "" {
		errs = append(errs, errors.New("budget: a bound of money needs prices"))
	}
	return errors.Join(errs...)
}
