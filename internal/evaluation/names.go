package evaluation

import (
	"fmt"
	"regexp"
)

// Task queues. Work that needs a resource has a queue of its own, so that a
// worker takes only what its machine can do.
const (
	QueueMain  = "speechmanip" // workflows and light activities
	QueueAudio = "audio"       // composition, recognition, measurements
)

// SpeechQueue is the queue of one synthesizer's calls, e.g. "speech-flite".
func SpeechQueue(synthesizer string) string { return "speech-" + synthesizer }

// DetectQueue is the queue of one pool of detectors on one kind of accelerator,
// e.g. "detect-cpu-baseline" or "detect-gpu-h100-qwen25omni".
func DetectQueue(accelerator, pool string) string {
	return fmt.Sprintf("detect-%s-%s", accelerator, pool)
}

// Names that starter and workflows share.
const (
	QueryProgress  = "progress" // of Evaluate and EvaluateChunk: Progress
	QuerySettings  = "settings" // of Evaluate: Settings
	SignalProgress = "progress" // EvaluateChunk to Evaluate: Progress of the chunk
	SignalBlocked  = "blocked"  // up the tree: Blocked
	SignalPause    = "pause"    // down the tree, and from the operator: Pause
	SignalResume   = "resume"   // down the tree, and from the operator: Resume
	SignalGrant    = "grant"    // Evaluate to EvaluateChunk: Cost that it may take beyond what it had
)

// Search attributes, all of type Keyword.
const (
	AttributeEvaluation = "Evaluation"
	AttributeDataset    = "Dataset"
	AttributeDetector   = "Detector"
	AttributeModel      = "Model"
	AttributeModality   = "Modality"
	AttributeVerdict    = "Verdict"
	AttributeRegression = "Regression" // of a schedule's firing: a Regression
)

// SearchAttributes are the attributes that a namespace must know.
func SearchAttributes() []string {
	return []string{
		AttributeEvaluation, AttributeDataset, AttributeDetector,
		AttributeModel, AttributeModality, AttributeVerdict, AttributeRegression,
	}
}

var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CheckID refuses an evaluation id that can't be part of keys and workflow ids.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return fmt.Errorf("evaluation id %q: use 1 to 63 lower-case letters, digits, '.', '_' or '-', beginning with a letter or digit", id)
	}
	return nil
}

// WorkflowID is the workflow id of an evaluation.
func WorkflowID(evaluation string) string { return evaluation }

// ChunkWorkflowID is the workflow id of one chunk.
func ChunkWorkflowID(evaluation string, chunk int) string {
	return fmt.Sprintf("%s/chunk-%05d", evaluation, chunk)
}

// ExemplarWorkflowID is the workflow id of one exemplar's rendering.
func ExemplarWorkflowID(evaluation, dialogue string) string {
	return evaluation + "/exemplar-" + EncodeID(dialogue)
}

// DialogueWorkflowID is the workflow id of one dialogue; castingNumber is its
// item's. No dialogue's encoded id is a chunk's, because a chunk's has no "d-"
// before it.
func DialogueWorkflowID(evaluation, dialogue string, castingNumber int) string {
	return evaluation + "/d-" + FileName(dialogue, castingNumber)
}
