// Package actions counts what Temporal Cloud bills of a workflow's history.
//
// The rules are those of docs.temporal.io/cloud/actions as read in November 2026:
// check them before you trust a bill to them.
package actions

import (
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
)

// Count is how many actions a history has, by what they are for. Not in a history,
// and so not here: heartbeats that reach the server, queries, and the tenth that
// fairness adds to every action while a namespace has it enabled.
type Count struct {
	Starts          int `json:"starts"` // one; two of a child, which the server counts in its parent's history
	Activities      int `json:"activities"`
	LocalActivities int `json:"local_activities"` // workflow tasks that recorded some: all of one task count once
	Timers          int `json:"timers"`
	Signals         int `json:"signals"` // received: a signal counts once, not at its sender too
	Updates         int `json:"updates"`
	Attributes      int `json:"attributes"` // upserts of search attributes

	Retries int `json:"retries"` // of activities, on top of Total
}

// Total is the sum without retries: what an undisturbed workflow is billed.
func (c Count) Total() int {
	return c.Starts + c.Activities + c.LocalActivities + c.Timers + c.Signals + c.Updates + c.Attributes
}

// Add returns the sum of both.
func (c Count) Add(other Count) Count {
	c.Starts += other.Starts
	c.Activities += other.Activities
	c.LocalActivities += other.LocalActivities
	c.Timers += other.Timers
	c.Signals += other.Signals
	c.Updates += other.Updates
	c.Attributes += other.Attributes
	c.Retries += other.Retries
	return c
}

// Of counts the actions of one run, from all of its events.
func Of(events []*historypb.HistoryEvent) Count {
	var c Count
	marked := map[int64]bool{} // workflow tasks that recorded local activities
	for _, event := range events {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
			c.Starts++
			started := event.GetWorkflowExecutionStartedEventAttributes()
			if started.GetParentWorkflowExecution() != nil && started.GetContinuedExecutionRunId() == "" {
				c.Starts++ // its parent's intent
			}
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			c.Activities++
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			c.Retries += max(0, int(event.GetActivityTaskStartedEventAttributes().GetAttempt())-1)
		case enumspb.EVENT_TYPE_MARKER_RECORDED:
			if task := event.GetMarkerRecordedEventAttributes().GetWorkflowTaskCompletedEventId(); !marked[task] {
				marked[task] = true
				c.LocalActivities++
			}
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			c.Retries += int(event.GetWorkflowTaskCompletedEventAttributes().GetMeteringMetadata().GetNonfirstLocalActivityExecutionAttempts())
		case enumspb.EVENT_TYPE_TIMER_STARTED:
			c.Timers++
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
			c.Signals++
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
			c.Updates++
		case enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
			c.Attributes++
		}
	}
	return c
}
