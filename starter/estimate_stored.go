package main

import (
	"context"
	"time"
)

// lookUp finds what of a plan is stored already. Where it can't, the second value
// says why.
func (a *app) lookUp(ctx context.Context, p plan) (*stored, string) {
	opening, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, _, err := a.openStore(opening); err != nil {
		return nil, err.Error()
	}
	return nil, "the speech engine's version is not known here"
}
