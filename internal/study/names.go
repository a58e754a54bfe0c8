package study

import (
	"fmt"
	"regexp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// Names that the starter, the page and the workflows share.
const (
	// Of an assignment's workflow.
	UpdateJudge     = "judge"      // Judge in, Receipt out: one judgment; see Judge
	UpdateFinish    = "finish"     // Receipt out: the annotator gives the batch back, whole
	QueryAssignment = "assignment" // Progress
	SignalStop      = "stop"       // Stop: from the study
	SignalPause     = "pause"      // bool: from the study

	// Of the study's workflow.
	UpdateAdd    = "add"    // pseudonym in, Desk out
	UpdateRemove = "remove" // Remove in, Desk out
	UpdatePause  = "pause"  // bool in: true pauses, false resumes
	UpdateClose  = "close"  // Stage in: the one that no more is waited for
	QueryStatus  = "status" // Status
	QueryState   = "state"  // State, for exports
	QueryDesk    = "desk"   // pseudonym in, Desk out: what an annotator has to do
	SignalDone   = "done"   // Done: from an assignment, once
)

// Prefix is where the studies lie. People lie elsewhere: package people.
const Prefix = "annotations/"

// Key is where a Study lies.
func Key(id string) string { return Prefix + evaluation.EncodeID(id) + "/study.json" }

// StateKey is where the State lies that a study has ended with.
func StateKey(id string) string { return Prefix + evaluation.EncodeID(id) + "/state.json" }

// AllBatchesPrefix is where all that annotators have given back lies.
func AllBatchesPrefix(id string) string { return Prefix + evaluation.EncodeID(id) + "/batches/" }

// BatchesPrefix is where all that one annotator has given back lies.
func BatchesPrefix(id, annotator string) string {
	return AllBatchesPrefix(id) + evaluation.EncodeID(annotator) + "/"
}

// BatchKey is where a Batch lies.
func BatchKey(id string, a Assignment) string {
	return BatchesPrefix(id, a.Annotator) + a.Part() + ".json"
}

// WorkflowID is the workflow id of a study.
func WorkflowID(id string) string { return "study/" + id }

// AssignmentWorkflowID is the workflow id of an assignment. It names no item and no
// person.
func AssignmentWorkflowID(id string, a Assignment) string {
	return fmt.Sprintf("%s/%s/%s", WorkflowID(id), a.Annotator, a.Part())
}

var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CheckID refuses a study's id that can't be part of keys and workflow ids.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return fmt.Errorf("study id %q: use 1 to 63 lower-case letters, digits, '.', '_' or '-', beginning with a letter or digit", id)
	}
	return nil
}
