package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
)

// render makes sure that the dialogue's clip is stored: every turn is spoken in
// parallel, then the clip composed. A turn that fails for good fails the
// dialogue, never shortens the clip.
func (d *runningDialogue) render(ctx workflow.Context) error {
	d.record.Clip, d.record.Timeline = d.plan.Clip, d.plan.Timeline
	if !d.plan.Clip.IsZero() {
		d.record.Usage.ClipsStored++
		return nil
	}
	d.enter(ctx, fmt.Sprintf("synthesising %d turns", len(d.plan.Spoken)))
	if err := d.synthesize(ctx); err != nil {
		return err
	}
	d.enter(ctx, "composing the clip")
	var composed activities.ClipResult
	if err := workflow.ExecuteActivity(composeOptions(ctx), (*activities.Clips)(nil).ComposeClip, d.record.Task).Get(ctx, &composed); err != nil {
		return err
	}
	d.record.Clip, d.record.Timeline = composed.Clip, composed.Timeline
	d.record.Usage.ClipsMade++
	return nil
}

func (d *runningDialogue) synthesize(ctx workflow.Context) error {
	futures := make([]workflow.Future, len(d.plan.Spoken))
	for i, turn := range d.plan.Spoken {
		options := speechOptions(ctx, d.plan.SpeechQueue, turn)
		futures[i] = workflow.ExecuteActivity(options, (*activities.Speech)(nil).SynthesizeTurn, activities.TurnTask{Task: d.record.Task, Turn: turn})
	}
	// All are waited for, so that what is paid is stored, and every turn that
	// failed is named.
	var failed []error
	var stage string
	for i, future := range futures {
		var result activities.TurnResult
		if err := future.Get(ctx, &result); err != nil {
			failed = append(failed, err)
			stage += fmt.Sprintf(" %d", d.plan.Spoken[i])
			continue
		}
		d.record.Usage.Characters += result.Characters
		d.record.Usage.Credits += result.Credits
		if result.Made {
			d.record.Usage.TurnsMade++
		} else {
			d.record.Usage.TurnsStored++
		}
	}
	if len(failed) == 0 {
		return nil
	}
	d.stage = "synthesise turns" + stage
	for _, err := range failed {
		if temporal.IsCanceledError(err) {
			return err
		}
	}
	return errors.Join(failed...)
}
