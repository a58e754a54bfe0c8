package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// Diagnose asks a worker of every queue what it finds there, side by side. It ends
// within half a minute whoever is absent.
func Diagnose(ctx workflow.Context, in evaluation.DiagnoseInput) (evaluation.Diagnosis, error) {
	futures := make([]workflow.Future, len(in.Queues))
	for i, queue := range in.Queues {
		futures[i] = diagnoseQueue(diagnoseOptions(ctx, queue), in.Spec, queue)
	}
	var out evaluation.Diagnosis
	for i, queue := range in.Queues {
		found := evaluation.QueueDiagnosis{Queue: queue}
		if err := futures[i].Get(ctx, &found.Examined); temporal.IsCanceledError(err) {
			return out, err
		} else if err != nil {
			found.Unserved = absent(err)
			found.Add("worker", "", diagnoseFailure(err))
		}
		out.Queues = append(out.Queues, found)
	}
	return out, nil
}

func diagnoseQueue(ctx workflow.Context, spec evaluation.Spec, queue string) workflow.Future {
	switch queue {
	case evaluation.QueueMain:
		return workflow.ExecuteActivity(ctx, (*activities.Records)(nil).DiagnoseStore)
	case evaluation.QueueAudio:
		return workflow.ExecuteActivity(ctx, (*activities.Clips)(nil).DiagnoseClips)
	case evaluation.SpeechQueue(spec.Speech.Synthesizer):
		return workflow.ExecuteActivity(ctx, (*activities.Speech)(nil).DiagnoseSpeech, spec.Speech.Pool)
	default:
		return workflow.ExecuteActivity(ctx, (*activities.Detection)(nil).DiagnoseDetector, spec)
	}
}

// diagnoseOptions are the only ones with a short ScheduleToStart, and with no second
// attempt: that nobody is there, or that it doesn't work, is the answer.
func diagnoseOptions(ctx workflow.Context, queue string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              queue,
		ScheduleToStartTimeout: 5 * time.Second,
		StartToCloseTimeout:    20 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                "diagnose " + queue,
	})
}

// absent reports whether no worker took an activity in time.
func absent(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}

func diagnoseFailure(err error) error {
	var timeout *temporal.TimeoutError
	var application *temporal.ApplicationError
	switch {
	case absent(err):
		return errors.New("no worker took the question within 5 s")
	case errors.As(err, &timeout):
		return errors.New("the worker took the question and gave no answer within 20 s: look at its log")
	case errors.As(err, &application):
		return errors.New(application.Message())
	}
	return err
}
