package study

import (
	"math/rand/v2"
	"slices"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Choose draws n items for a study, as many YES as NO as far as there are, those of
// unknown truth last. It returns their numbers in ascending order; all of them where
// there are fewer.
func Choose(truths []dialogue.Truth, n int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 1))
	groups := map[dialogue.Truth][]int{}
	for i, truth := range truths {
		groups[truth] = append(groups[truth], i)
	}
	for _, truth := range []dialogue.Truth{dialogue.Yes, dialogue.No, dialogue.Unknown} {
		of := groups[truth]
		rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	}
	yes, no := groups[dialogue.Yes], groups[dialogue.No]
	var drawn []int
	for len(yes)+len(no) > 0 {
		for _, of := range []*[]int{&yes, &no} {
			if len(*of) > 0 {
				drawn, *of = append(drawn, (*of)[0]), (*of)[1:]
			}
		}
	}
	drawn = append(drawn, groups[dialogue.Unknown]...)
	drawn = drawn[:min(n, len(drawn))]
	slices.Sort(drawn)
	return drawn
}
