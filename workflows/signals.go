package workflows

import "go.temporal.io/sdk/workflow"

// onSignal has a selector hand every signal of a name to a handler.
func onSignal[T any](ctx workflow.Context, selector workflow.Selector, name string, handle func(T)) {
	selector.AddReceive(workflow.GetSignalChannel(ctx, name), func(c workflow.ReceiveChannel, _ bool) {
		var value T
		c.Receive(ctx, &value)
		handle(value)
	})
}

// signal tells another workflow of the tree something. Whether it arrives is not
// waited for: one that has ended needs it no more.
func signal(ctx workflow.Context, id, name string, value any) {
	workflow.SignalExternalWorkflow(ctx, id, "", name, value)
}

// signalParent does nothing where there is no parent.
func signalParent(ctx workflow.Context, name string, value any) {
	if parent := workflow.GetInfo(ctx).ParentWorkflowExecution; parent != nil {
		signal(ctx, parent.ID, name, value)
	}
}
