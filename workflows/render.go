package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// RenderResult is a dialogue's clip, and what it took.
type RenderResult struct {
	Clip  objectstore.Ref  `json:"clip"`
	Usage evaluation.Usage `json:"usage"`
}

// RenderDialogue renders one dialogue that is shown and not judged: an exemplar.
func RenderDialogue(ctx workflow.Context, task evaluation.Task) (RenderResult, error) {
	d := newDialogue(task)
	err := d.remaking(ctx, func() error {
		if err := d.planIt(ctx); err != nil {
			return err
		}
		return d.render(ctx)
	})
	return RenderResult{Clip: d.record.Clip, Usage: d.record.Usage}, err
}

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
	if err := d.one(ctx, func() workflow.Future {
		return workflow.ExecuteActivity(composeOptions(ctx), (*activities.Clips)(nil).ComposeClip, d.record.Task)
	}, &composed); err != nil {
		return err
	}
	d.record.Clip, d.record.Timeline = composed.Clip, composed.Timeline
	d.record.Usage.ClipsMade++
	return nil
}

func (d *runningDialogue) synthesize(ctx workflow.Context) error {
	var unspoken string
	err := d.do(ctx, d.plan.Spoken, func(turn int) workflow.Future {
		options := speechOptions(ctx, d.plan.SpeechQueue, turn)
		return workflow.ExecuteActivity(options, (*activities.Speech)(nil).SynthesizeTurn, activities.TurnTask{Task: d.record.Task, Turn: turn})
	}, func(turn int, f workflow.Future) error {
		var result activities.TurnResult
		if err := f.Get(ctx, &result); err != nil {
			if _, blocked := pauseReason(err); !blocked {
				unspoken += fmt.Sprintf(" %d", turn)
			}
			return err
		}
		d.record.Usage.Characters += result.Characters
		d.record.Usage.Credits += result.Credits
		if result.Made {
			d.record.Usage.TurnsMade++
		} else {
			d.record.Usage.TurnsStored++
		}
		return nil
	})
	if err != nil && unspoken != "" {
		d.stage = "synthesise turns" + unspoken
	}
	return err
}
