package main

import (
	"fmt"
)

// checkCastings refuses what --castings can't be.
func (r *request) checkCastings() error {
	switch {
	case r.castings < 1:
		return fmt.Errorf("--castings %d: must be at least 1", r.castings)
	case r.castings > 1 && r.clips != "":
		return fmt.Errorf("--castings %d with --clips: the clips are spoken already, by whom isn't known", r.castings)
	}
	return nil
}

// severalCastings is what the spec has: 0 for one, as it was before there could be
// more.
func (r *request) severalCastings() int {
	if r.castings == 1 {
		return 0
	}
	return r.castings
}

// checkPool refuses more castings than the pool has for a dialogue's speakers.
func (p *plan) checkPool() error {
	castings, pool := p.spec.Castings(), p.spec.Speech.Pool
	if castings == 1 {
		return nil
	}
	for _, d := range p.dialogues {
		if most := pool.Castings(len(d.Speakers())); most < castings {
			return usagef("--castings %d: dialogue %q has %d speakers, for whom voice pool %q has %d castings (%d voices, none of them twice for one speaker); use fewer castings, a pool with more voices (--voices), or leave the dialogue out",
				castings, d.ID, len(d.Speakers()), pool.Name, most, len(pool.Voices))
		}
	}
	return nil
}
