//go:build integration && linux

package e2e

import (
	"strings"
	"testing"

	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/telemetry"
)

// showsInWebUI asks for what the Web UI shows of the finished evaluations "local" and
// "paid".
func showsInWebUI(t *testing.T, r *rig) {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: r.stack.Temporal, Logger: telemetry.SDK(zap.NewNop())})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	metadata, err := c.QueryWorkflow(t.Context(), "paid", "", "__temporal_workflow_metadata")
	if err != nil {
		t.Fatal(err)
	}
	var shown sdkpb.WorkflowMetadata
	if err := metadata.Get(&shown); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"**done**: 2 of 2 dialogues", "| YES | NO |", "dialogues an hour", "Cost: ", " USD"} {
		if !strings.Contains(shown.GetCurrentDetails(), want) {
			t.Errorf("the current details lack %q:\n%s", want, shown.GetCurrentDetails())
		}
	}
	described, err := c.DescribeWorkflow(t.Context(), "local", "")
	if err != nil {
		t.Fatal(err)
	}
	summary, err := described.GetStaticSummary()
	if err != nil || !strings.HasPrefix(summary, "2 dialogues of ") {
		t.Errorf("summary %q, %v", summary, err)
	}
	details, err := described.GetStaticDetails()
	if err != nil || !strings.Contains(details, "| detector | `baseline-cascade` |") {
		t.Errorf("details %v:\n%s", err, details)
	}
	value, err := c.QueryWorkflow(t.Context(), "local", "", evaluation.QuerySettings)
	if err != nil {
		t.Fatal(err)
	}
	var settings evaluation.Settings
	if err := value.Get(&settings); err != nil || settings.Detector != "baseline-cascade" || settings.Synthesizer != "flite" || settings.Passes != 5 {
		t.Errorf("settings %+v, %v", settings, err)
	}
}
