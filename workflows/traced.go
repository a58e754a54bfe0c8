package workflows

// Traced returns the types of the child workflows that are followed each in a trace
// of its own: a dialogue from its row to its verdict.
func Traced() []string { return []string{"EvaluateDialogue", "RenderDialogue"} }
