package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Figure is a number that may be undefined, with the reason. In JSON it is the
// number, or {"undefined": "reason"}; never NaN.
type Figure struct {
	Value   float64
	Defined bool
	Reason  string // why it is undefined
}

func defined(v float64) Figure { return Figure{Value: v, Defined: true} }

func undefined(reason string) Figure { return Figure{Reason: reason} }

// ratio returns part/whole, undefined for the reason when whole is 0.
func ratio(part, whole int, reason string) Figure {
	if whole == 0 {
		return undefined(reason)
	}
	return defined(float64(part) / float64(whole))
}

type undefinedJSON struct {
	Undefined *string `json:"undefined"`
}

// MarshalJSON writes the number or the reason.
func (f Figure) MarshalJSON() ([]byte, error) {
	switch {
	case f.Defined && !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0):
		return json.Marshal(f.Value)
	case f.Defined:
		f.Reason = "not a finite number"
	case f.Reason == "":
		f.Reason = "not computed"
	}
	return json.Marshal(undefinedJSON{&f.Reason})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Figure) UnmarshalJSON(data []byte) error {
	var value *float64
	if err := json.Unmarshal(data, &value); err == nil && value != nil {
		*f = defined(*value)
		return nil
	}
	var u undefinedJSON
	if err := json.Unmarshal(data, &u); err != nil {
		return fmt.Errorf("read a figure: %w", err)
	}
	if u.Undefined == nil {
		return errors.New(`read a figure: neither a number nor {"undefined": "reason"}`)
	}
	*f = undefined(*u.Undefined)
	return nil
}

// Rate is a share of n with its 95% Wilson interval.
type Rate struct {
	Hits  int    `json:"hits"`
	N     int    `json:"n"`
	Value Figure `json:"value"`
	Low   Figure `json:"low"`
	High  Figure `json:"high"`
}

// z95 is the normal quantile of a two-sided 95% interval.
const z95 = 1.959963984540054

// Wilson returns hits of n as a rate with its interval, undefined when n is 0.
// It takes 0 <= hits <= n.
func Wilson(hits, n int) Rate { return wilson(hits, n, z95) }

// wilson takes the normal quantile z of the interval.
func wilson(hits, n int, z float64) Rate {
	r := Rate{Hits: hits, N: n}
	if n == 0 {
		const reason = "no items"
		r.Value, r.Low, r.High = undefined(reason), undefined(reason), undefined(reason)
		return r
	}
	p, size := float64(hits)/float64(n), float64(n)
	shrink := 1 + z*z/size
	centre := (p + z*z/(2*size)) / shrink
	half := z * math.Sqrt(p*(1-p)/size+z*z/(4*size*size)) / shrink
	r.Value, r.Low, r.High = defined(p), defined(centre-half), defined(centre+half)
	// At the ends the formula gives exactly 0 or 1, but for rounding.
	if hits == 0 {
		r.Low.Value = 0
	}
	if hits == n {
		r.High.Value = 1
	}
	return r
}
