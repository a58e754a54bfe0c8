package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// SensitivityInput names what to ask: every item of a stored evaluation.Sensitivity
// in every variation.
type SensitivityInput struct {
	Sensitivity objectstore.Ref `json:"sensitivity"`
	Items       int             `json:"items"`
	Variations  []string        `json:"variations"` // their names
	DetectQueue string          `json:"detect_queue"`
}

// SensitivityResult has the answers by variation, then by item.
type SensitivityResult struct {
	Answers [][]SensitivityAnswer `json:"answers"`
	Made    int                   `json:"made"` // questions that were not in the store
}

// SensitivityAnswer is one answer, or why there is none.
type SensitivityAnswer struct {
	evaluation.Variant
	Failure string `json:"failure,omitempty"`
}

// sensitivityWidth bounds the questions at once: one measurement must leave a
// detector's workers time for evaluations.
const sensitivityWidth = 8

// Sensitivity asks for decisions again in other ways, one variation after the
// other: each has a detector of its own, of which workers keep a few. What only a
// person can help fails it: asked again, it goes on from what is stored.
func Sensitivity(ctx workflow.Context, in SensitivityInput) (SensitivityResult, error) {
	var out SensitivityResult
	if n := in.Items * len(in.Variations); n > evaluation.MaxSensitivity {
		return out, temporal.NewNonRetryableApplicationError(fmt.Sprintf("%d questions are more than %d", n, evaluation.MaxSensitivity), "bad_input", nil)
	}
	for variation, name := range in.Variations {
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("Variation %d of %d: %s. %d questions made so far.\n", variation+1, len(in.Variations), name, out.Made))
		answers := make([]SensitivityAnswer, 0, in.Items)
		for from := 0; from < in.Items; from += sensitivityWidth {
			var futures []workflow.Future
			for item := from; item < min(from+sensitivityWidth, in.Items); item++ {
				options := detectOptions(ctx, in.DetectQueue, fmt.Sprintf("%s, item %d", name, item))
				task := activities.VariantTask{Sensitivity: in.Sensitivity, Variation: variation, Item: item}
				futures = append(futures, workflow.ExecuteActivity(options, (*activities.Detection)(nil).AskVariant, task))
			}
			var stop error
			for _, future := range futures {
				var result activities.VariantResult
				err := future.Get(ctx, &result)
				if err != nil && stop == nil {
					stop = beyondHelp(err)
				}
				if result.Made {
					out.Made++
				}
				answers = append(answers, SensitivityAnswer{Variant: result.Variant, Failure: failureOf(err)})
			}
			if stop != nil {
				return out, stop
			}
		}
		out.Answers = append(out.Answers, answers)
	}
	return out, nil
}

// beyondHelp returns why an error ends the measurement; nil for one that an item
// has alone.
func beyondHelp(err error) error {
	if temporal.IsCanceledError(err) {
		return err
	}
	if reason, ok := pauseReason(err); ok {
		return temporal.NewNonRetryableApplicationError(reason.Message, reason.Code, nil)
	}
	return nil
}

func failureOf(err error) string {
	var application *temporal.ApplicationError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &application):
		return application.Message()
	}
	return err.Error()
}
