package workflows

import "go.temporal.io/sdk/worker"

// Register registers every workflow.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflow(Evaluate)
	r.RegisterWorkflow(EvaluateChunk)
	r.RegisterWorkflow(EvaluateDialogue)
	r.RegisterWorkflow(RenderDialogue)
	r.RegisterWorkflow(Limiter)
	r.RegisterWorkflow(Diagnose)
	r.RegisterWorkflow(Sensitivity)
}
