package chat

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// sampling is a request's chain of samplers.
type sampling struct {
	order             []string
	temperature       float64
	topK              int // 0 or less keeps all
	topP, minP        float64
	choices           []string // "" constrains nothing
	rejects           bool     // sample first, mask only where the grammar refuses
	logprobsAfterMask bool
}

// vllmOrder and llamaOrder are the servers' own orders.
var (
	vllmOrder  = []string{"temperature", "min_p", "top_k", "top_p"}
	llamaOrder = []string{"top_k", "top_p", "min_p", "temperature"}
)

// step draws one token's place. shown are the log probabilities that the server
// reports.
func (s sampling) step(logits []float64, generated string, rng *rand.Rand) (chosen int, shown []float64) {
	shown = logProbabilities(logits)
	if s.choices == nil {
		return s.draw(logits, rng), shown
	}
	masked := make([]float64, len(logits))
	for i, l := range logits {
		masked[i] = l
		if !s.allowed(generated, vocabulary[i]) {
			masked[i] = math.Inf(-1)
		}
	}
	if s.logprobsAfterMask {
		shown = logProbabilities(masked)
	}
	if s.rejects {
		if i := s.draw(logits, rng); s.allowed(generated, vocabulary[i]) {
			return i, shown
		}
	}
	return s.draw(masked, rng), shown
}

func (s sampling) allowed(generated string, t token) bool {
	if t.id == end {
		return slices.Contains(s.choices, generated)
	}
	return slices.ContainsFunc(s.choices, func(c string) bool { return strings.HasPrefix(c, generated+t.text) })
}

// draw applies the chain and draws from what is left.
func (s sampling) draw(logits []float64, rng *rand.Rand) int {
	place := make([]int, len(logits))
	for i := range place {
		place[i] = i
	}
	slices.SortStableFunc(place, func(a, b int) int {
		switch {
		case logits[a] > logits[b]:
			return -1
		case logits[a] < logits[b]:
			return 1
		}
		return 0
	})
	if s.temperature == 0 {
		return place[0]
	}
	sorted := make([]float64, len(place))
	for i, p := range place {
		sorted[i] = logits[p]
	}
	for _, sampler := range s.order {
		sorted = s.apply(sampler, sorted)
	}
	u := rng.Float64()
	for i, p := range softmax(sorted) {
		if u < p {
			return place[i]
		}
		u -= p
	}
	return place[0]
}

// apply runs one sampler over logits in falling order.
func (s sampling) apply(sampler string, logits []float64) []float64 {
	probabilities := softmax(logits)
	keep := len(logits)
	switch sampler {
	case "temperature":
		for i := range logits {
			logits[i] /= s.temperature
		}
	case "top_k":
		if s.topK > 0 {
			keep = min(keep, s.topK)
		}
	case "top_p":
		sum := 0.0
		for i, p := range probabilities {
			sum += p
			if sum >= s.topP {
				keep = i + 1
				break
			}
		}
	case "min_p":
		keep = 1
		for keep < len(logits) && probabilities[keep] >= s.minP*probabilities[0] {
			keep++
		}
	}
	return logits[:keep]
}

func logProbabilities(logits []float64) []float64 {
	out := softmax(logits)
	for i, p := range out {
		out[i] = math.Log(p)
	}
	return out
}
