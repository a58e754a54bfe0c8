//go:build integration && linux

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
)

// afterRetention deletes from Temporal what its retention would, all workflows of
// evaluation first, and then lists, describes and reports it as before.
func (r *rig) afterRetention(t *testing.T, first report.Report) {
	c := r.temporal(t)
	defer c.Close()
	root := evaluation.WorkflowID("first")
	listed, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowId = '%s' OR WorkflowId STARTS_WITH '%[1]s/'", root), PageSize: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(listed.Executions); n < first.Items {
		t.Fatalf("%d workflows of %d dialogues", n, first.Items)
	}
	for _, found := range listed.Executions {
		if _, err := c.WorkflowService().DeleteWorkflowExecution(t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: r.stack.Namespace, WorkflowExecution: found.Execution,
		}); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, time.Minute, "Temporal to forget them", func() bool {
		_, err := c.WorkflowService().DescribeWorkflowExecution(t.Context(), &workflowservice.DescribeWorkflowExecutionRequest{
			Namespace: r.stack.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: root},
		})
		var forgotten *serviceerror.NotFound
		return errors.As(err, &forgotten)
	})

	all := fmt.Sprintf("%d of %[1]d dialogues recorded", first.Items)
	if status := r.starter(t, "status", "first"); !strings.Contains(status, "evaluation first: stored, "+all) {
		t.Errorf("status:\n%s", status)
	}
	if list := r.starter(t, "list"); !strings.Contains(list, "first") {
		t.Errorf("list:\n%s", list)
	}
	built := decode(t, r.starter(t, "report", "first", "--format", "json"))
	if diff := cmp.Diff(verdicts(first), verdicts(built)); diff != "" || built.N != first.N {
		t.Errorf("n %d, was %d; verdicts (-before +after):\n%s", built.N, first.N, diff)
	}
	if _, errOut, err := r.try(t, "evaluate", "--id", "first"); err == nil || !strings.Contains(errOut, "another --id") {
		t.Errorf("its id is free again: %v, %q", err, errOut)
	}
}
