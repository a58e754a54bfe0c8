package actions_test

import (
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkpb "go.temporal.io/api/sdk/v1"

	"github.com/speechmanip/speechmanip/internal/actions"
)

func event(kind enumspb.EventType) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: kind}
}

func started(parent bool, before string) *historypb.HistoryEvent {
	attributes := &historypb.WorkflowExecutionStartedEventAttributes{ContinuedExecutionRunId: before}
	if parent {
		attributes.ParentWorkflowExecution = &commonpb.WorkflowExecution{WorkflowId: "parent"}
	}
	e := event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED)
	e.Attributes = &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: attributes}
	return e
}

func marker(task int64) *historypb.HistoryEvent {
	e := event(enumspb.EVENT_TYPE_MARKER_RECORDED)
	e.Attributes = &historypb.HistoryEvent_MarkerRecordedEventAttributes{
		MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{WorkflowTaskCompletedEventId: task},
	}
	return e
}

func attempt(n int32) *historypb.HistoryEvent {
	e := event(enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED)
	e.Attributes = &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
		ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{Attempt: n},
	}
	return e
}

func localRetries(n uint32) *historypb.HistoryEvent {
	e := event(enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
	e.Attributes = &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
		WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{
			MeteringMetadata: &commonpb.MeteringMetadata{NonfirstLocalActivityExecutionAttempts: n},
			SdkMetadata:      &sdkpb.WorkflowTaskCompletedMetadata{},
		},
	}
	return e
}

func TestOf(t *testing.T) {
	for _, row := range []struct {
		name   string
		events []*historypb.HistoryEvent
		want   actions.Count
		total  int
	}{
		{"nothing", nil, actions.Count{}, 0},
		{"a client's start", []*historypb.HistoryEvent{started(false, "")}, actions.Count{Starts: 1}, 1},
		{"a child's start", []*historypb.HistoryEvent{started(true, "")}, actions.Count{Starts: 2}, 2},
		{"a child that continued as new", []*historypb.HistoryEvent{started(true, "earlier")}, actions.Count{Starts: 1}, 1},
		{"what a parent says of its child counts there", []*historypb.HistoryEvent{
			event(enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED), event(enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED),
		}, actions.Count{}, 0},
		{"activities and their retries", []*historypb.HistoryEvent{
			event(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED), attempt(1), event(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED), attempt(3),
		}, actions.Count{Activities: 2, Retries: 2}, 2},
		{"local activities count once a workflow task", []*historypb.HistoryEvent{marker(4), marker(4), marker(9)}, actions.Count{LocalActivities: 2}, 2},
		{"their retries", []*historypb.HistoryEvent{localRetries(2), localRetries(0)}, actions.Count{Retries: 2}, 0},
		{"the rest", []*historypb.HistoryEvent{
			event(enumspb.EVENT_TYPE_TIMER_STARTED), event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED),
			event(enumspb.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED),
			event(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED), event(enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES),
		}, actions.Count{Timers: 1, Signals: 1, Updates: 1, Attributes: 1}, 4},
	} {
		got := actions.Of(row.events)
		if got != row.want || got.Total() != row.total {
			t.Errorf("%s: %+v, total %d, want %+v, total %d", row.name, got, got.Total(), row.want, row.total)
		}
	}
	if sum := (actions.Count{Starts: 1, Retries: 2}).Add(actions.Count{Activities: 3, Retries: 1}); sum != (actions.Count{Starts: 1, Activities: 3, Retries: 3}) {
		t.Errorf("sum %+v", sum)
	}
}
