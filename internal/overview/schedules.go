package overview

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"
)

// Schedules adds up what became of the namespace's schedules.
type Schedules struct {
	Active  int `json:"active"`
	Paused  int `json:"paused"`
	Taken   int `json:"actions_taken"`
	Skipped int `json:"actions_skipped"` // as the one before still ran
	Missed  int `json:"actions_missed"`  // while Temporal was away for longer than the catch-up window
}

func (s Source) schedules(ctx context.Context) (Schedules, error) {
	var sum Schedules
	entries, err := s.Client.ScheduleClient().List(ctx, client.ScheduleListOptions{})
	if err != nil {
		return sum, fmt.Errorf("list schedules: %w", err)
	}
	for entries.HasNext() {
		entry, err := entries.Next()
		if err != nil {
			return sum, fmt.Errorf("list schedules: %w", err)
		}
		if entry.Paused {
			sum.Paused++
		} else {
			sum.Active++
		}
		described, err := s.Client.ScheduleClient().GetHandle(ctx, entry.ID).Describe(ctx)
		if err != nil {
			continue // it was deleted meanwhile
		}
		sum.Taken += described.Info.NumActions
		sum.Skipped += described.Info.NumActionsSkippedOverlap
		sum.Missed += described.Info.NumActionsMissedCatchupWindow
	}
	return sum, nil
}
