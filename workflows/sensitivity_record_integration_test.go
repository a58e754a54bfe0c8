//go:build integration && linux

package workflows

import (
	"context"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// AskVariant answers YES, but for one item that can't be asked about.
func (f *fakes) AskVariant(_ context.Context, task activities.VariantTask) (activities.VariantResult, error) {
	if task.Item == 2 {
		return activities.VariantResult{}, temporal.NewNonRetryableApplicationError("the clip is too long", "clip_too_long", nil)
	}
	return activities.VariantResult{Variant: evaluation.Variant{Vote: vote.VoteYes, Method: "greedy"}, Made: true}, nil
}

// recordSensitivity saves the history of a measurement of more items than are
// asked about at once.
func (r *recorder) recordSensitivity(t *testing.T, folder string) {
	t.Helper()
	in := SensitivityInput{Sensitivity: ref("s"), Items: sensitivityWidth + 1, Variations: []string{"own setting", "option order ba"}, DetectQueue: r.plan.DetectQueue}
	if err := r.run(t, "sensitivity/whole", Sensitivity, in); err != nil {
		t.Errorf("the measurement ended with %v", err)
	}
	r.save(t, folder, "sensitivity-completed", "sensitivity/whole")
}
