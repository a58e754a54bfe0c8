package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
)

// maxRemakes is more than the stages of a dialogue: each may find that what the one
// before it made is damaged.
const maxRemakes = 20

// remaking goes through a dialogue's stages, and again from the first where one finds
// lost what an earlier one makes: what isn't lost is found in the store. It gives up
// where that doesn't help.
func (d *runningDialogue) remaking(ctx workflow.Context, stages func() error) error {
	err := stages()
	for range maxRemakes {
		if !lost(err) || ctx.Err() != nil {
			break
		}
		before := failure(d.stage, err).Message
		d.forget()
		if err = stages(); err != nil && failure(d.stage, err).Message == before {
			break
		}
	}
	return err
}

// forget keeps what was made, as it was paid; what is found in the store is counted
// by the stages that go through.
func (d *runningDialogue) forget() {
	made := d.record.Usage
	made.TurnsStored, made.ClipsStored, made.RecognizedStored, made.PassesStored = 0, 0, 0, 0
	d.record = activities.RecordTask{Task: d.record.Task, Usage: made}
}

// lost reports whether nothing else failed than that something lost was to be read.
func lost(err error) bool {
	if err == nil {
		return false
	}
	for _, one := range apart(err) {
		var application *temporal.ApplicationError
		if !errors.As(one, &application) || application.Type() != activities.CodeLost {
			return false
		}
	}
	return true
}
