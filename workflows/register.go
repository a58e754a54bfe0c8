package workflows

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Register registers every workflow, each with what becomes of it when another
// version of the workers is deployed; without versions that means nothing.
//
// What ends within hours ends on the version that it began with: its code may
// change freely. What may outlive many versions follows the current one, so that a
// version is drained in hours: its code must replay old histories.
func Register(r worker.WorkflowRegistry) {
	pinned := workflow.RegisterOptions{VersioningBehavior: workflow.VersioningBehaviorPinned}
	r.RegisterWorkflowWithOptions(EvaluateChunk, pinned)
	r.RegisterWorkflowWithOptions(EvaluateDialogue, pinned)
	r.RegisterWorkflowWithOptions(RenderDialogue, pinned)

	follows := workflow.RegisterOptions{VersioningBehavior: workflow.VersioningBehaviorAutoUpgrade}
	r.RegisterWorkflowWithOptions(Evaluate, follows)
	r.RegisterWorkflowWithOptions(Limiter, follows)
	r.RegisterWorkflowWithOptions(Diagnose, follows)
	r.RegisterWorkflowWithOptions(Sensitivity, follows)
	r.RegisterWorkflowWithOptions(ScheduledEvaluation, follows)
	r.RegisterWorkflowWithOptions(Study, follows)
	r.RegisterWorkflowWithOptions(Assignment, follows)
}
