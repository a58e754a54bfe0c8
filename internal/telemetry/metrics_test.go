package telemetry

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
)

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func newMetrics(t *testing.T) *Metrics {
	t.Helper()
	m, err := NewMetrics(zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The names are what the dashboards and rules in infra ask for.
func TestSDKMetrics(t *testing.T) {
	m := newMetrics(t)
	sdk := m.SDK().WithTags(map[string]string{"namespace": "default", "task_queue": "detect-cpu-baseline@1a2b3c4d"})
	sdk.Counter("temporal_request").Inc(3)
	sdk.Gauge("temporal_num_pollers").Update(2)
	sdk.Timer("temporal_activity_execution_latency").Record(70 * time.Millisecond)
	text := scrape(t, m)
	for _, want := range []string{
		`temporal_request_total{namespace="default",task_queue="detect-cpu-baseline@own"} 3`,
		`temporal_num_pollers{namespace="default",task_queue="detect-cpu-baseline@own"} 2`,
		`temporal_activity_execution_latency_seconds_bucket{namespace="default",task_queue="detect-cpu-baseline@own",le="0.05"} 0`,
		`temporal_activity_execution_latency_seconds_bucket{namespace="default",task_queue="detect-cpu-baseline@own",le="0.1"} 1`,
		`temporal_request_failure_total{operation="RecordActivityTaskHeartbeat",status_code="NOT_FOUND"} 0`,
		`temporal_workflow_task_execution_failed_total{failure_reason="NonDeterminismError"} 0`,
		"go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "1a2b3c4d") {
		t.Error("a label names one process")
	}
	if t.Failed() {
		t.Log(text)
	}
}
