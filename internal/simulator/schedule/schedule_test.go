package schedule

import (
	"fmt"
	"testing"
)

type kind string

func TestShares(t *testing.T) {
	s := Schedule[kind]{Seed: 7, Rates: []Rate[kind]{{"reset", 0.1}, {"busy", 0.3}}}
	for name, pick := range map[string]func(int) kind{
		"by number":  s.Nth,
		"by request": func(n int) kind { return s.Request(fmt.Sprint("turn ", n), 0) },
		"by try":     func(n int) kind { return s.Request("the same turn", n) },
	} {
		const calls = 20000
		counts := map[kind]int{}
		for n := range calls {
			counts[pick(n)]++
		}
		// Five standard deviations are below 2% of the calls.
		for want, share := range map[kind]float64{"reset": 0.1, "busy": 0.3, "": 0.6} {
			if got := float64(counts[want]) / calls; got < share-0.02 || got > share+0.02 {
				t.Errorf("%s: %q in %.3f of the calls, want %.1f", name, want, got, share)
			}
		}
	}
}

func TestSeedDecides(t *testing.T) {
	one, other := Even(1, 0.5, kind("a"), "b"), Even(2, 0.5, kind("a"), "b")
	different := 0
	for n := range 100 {
		if one.Nth(n) != Even(1, 0.5, kind("a"), "b").Nth(n) {
			t.Fatalf("call %d changes from one reading to the next", n)
		}
		if one.Nth(n) != other.Nth(n) {
			different++
		}
	}
	if different < 20 {
		t.Errorf("two seeds differ in %d of 100 calls only", different)
	}
}

func TestEdges(t *testing.T) {
	at := Schedule[kind]{Rates: []Rate[kind]{{"always", 1}}, At: map[int]kind{3: "reset", 4: ""}}
	for n, want := range map[int]kind{2: "always", 3: "reset", 4: ""} {
		if got := at.Nth(n); got != want {
			t.Errorf("call %d: %q, want %q", n, got, want)
		}
	}
	for n := range 1000 {
		if got := (Schedule[kind]{}).Nth(n); got != "" {
			t.Fatalf("the empty schedule plans %q", got)
		}
		if got := Even(3, 1, kind("a"), "b").Nth(n); got == "" {
			t.Fatalf("call %d of a schedule that breaks all goes well", n)
		}
	}
}
