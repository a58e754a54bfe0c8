package vote

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

// drawStream keeps this package's draws apart from other uses of the same seed.
const drawStream = 0x766f7465

// ErrNothingToDraw is Draw's error where no option has an observed probability
// above 0.
var ErrNothingToDraw = errors.New("draw an option: none has an observed probability above 0")

// Draw returns the place of one option, drawn from its probabilities: raised to
// 1/temperature first, then cut to the smallest set of the most probable ones
// that reaches top-p, then drawn with seed. Temperature 0 takes the most
// probable, the first of equals. The probabilities need not add up to 1. Options
// that were not observed are never drawn; without any other the error is
// ErrNothingToDraw.
//
// The same arguments give the same option on one processor; another may differ
// in the last bit of a power. So call it where a pass is made, and store what it
// gave.
func Draw(masses []Mass, s Sampling, seed int64) (int, error) {
	if err := s.Validate(); err != nil {
		return 0, err
	}
	var order []int
	for i, m := range masses {
		if m.Observed && m.P > 0 {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return 0, ErrNothingToDraw
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(masses[b].P, masses[a].P) })
	if s.Temperature == 0 {
		return order[0], nil
	}

	// Relative to the most probable one, so that no power underflows to nothing.
	weights := make([]float64, len(order))
	var total float64
	for k, i := range order {
		weights[k] = math.Pow(float64(masses[i].P)/float64(masses[order[0]].P), 1/s.Temperature)
		total += weights[k]
	}
	kept, sum := 0, 0.0
	for kept < len(weights) && (kept == 0 || sum < s.TopP*total) {
		sum += weights[kept]
		kept++
	}
	u := rand.New(rand.NewPCG(uint64(seed), drawStream)).Float64() * sum
	for k := range kept - 1 {
		if u < weights[k] {
			return order[k], nil
		}
		u -= weights[k]
	}
	return order[kept-1], nil
}

// DrawTactics returns a tactic pass for each seed, under DrawSample: its option
// drawn with Draw from one scoring, in tactic.Options order, by r's sampling.
// Where nothing can be drawn the passes can't say. Like Draw, call it where
// results are stored.
func DrawTactics(masses []Mass, r Rules, seeds []int64) ([]TacticPass, error) {
	options := tactic.Options()
	if len(masses) != len(options) {
		return nil, fmt.Errorf("draw tactics: %d probabilities for %d options", len(masses), len(options))
	}
	passes := make([]TacticPass, len(seeds))
	for i, seed := range seeds {
		passes[i] = TacticPass{Index: i, Masses: masses}
		switch drawn, err := Draw(masses, r.Sampling, seed); {
		case err == nil:
			passes[i].Drawn = options[drawn]
		case !errors.Is(err, ErrNothingToDraw):
			return nil, err
		}
	}
	return passes, nil
}
