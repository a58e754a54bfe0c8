package check

import (
	"slices"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// scaledObject is the part of KEDA's that is used here. KEDA's own types would bring
// in all of KEDA; `make test-infra` holds the files against its CRD.
type scaledObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ScaleTargetRef struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		MinReplicaCount int `json:"minReplicaCount"`
		MaxReplicaCount int `json:"maxReplicaCount"`
		PollingInterval int `json:"pollingInterval"`
		CooldownPeriod  int `json:"cooldownPeriod"`
		Advanced        struct {
			HPA struct {
				Behavior autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior"`
			} `json:"horizontalPodAutoscalerConfig"`
		} `json:"advanced"`
		Triggers []struct {
			Type     string            `json:"type"`
			Metadata map[string]string `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}

// temporalMetadata are the names that KEDA 2.21's temporal scaler reads, as they stand
// in the tags of its pkg/scalers/temporal_scaler.go; those ending in FromEnv name a
// variable of the scaled container.
var temporalMetadata = []string{
	"endpointFromEnv", "namespaceFromEnv", "enableTLS", "taskQueue", "queueTypes", "targetQueueSize",
	"includeRunningWorkflowCount", "workflowTaskQueueForCount",
}

// check compares a scaler with the deployment that it scales, which polls queue.
func (s scaledObject) check(t *testing.T, d appsv1.Deployment, queue string) {
	t.Helper()
	if queue == "" {
		t.Fatalf("scaler %s scales no worker", s.Name)
	}
	if len(s.Spec.Triggers) != 1 || s.Spec.Triggers[0].Type != "temporal" {
		t.Fatalf("scaler %s: want one trigger, temporal", s.Name)
	}
	given := s.Spec.Triggers[0].Metadata
	for name := range given {
		if !slices.Contains(temporalMetadata, name) {
			t.Errorf("scaler %s: KEDA knows no %q", s.Name, name)
		}
	}
	kind := "activity"
	if queue == evaluation.QueueMain {
		kind = "workflow"
	}
	if given["taskQueue"] != queue || given["queueTypes"] != kind {
		t.Errorf("scaler %s watches %s of %s, its worker polls %s of %s", s.Name, given["queueTypes"], given["taskQueue"], kind, queue)
	}
	if given["endpointFromEnv"] != "TEMPORAL_ADDRESS" || given["namespaceFromEnv"] != "TEMPORAL_NAMESPACE" {
		t.Errorf("scaler %s may look at another Temporal than its worker", s.Name)
	}
	if size, err := strconv.Atoi(given["targetQueueSize"]); err != nil || size < 1 {
		t.Errorf("scaler %s: targetQueueSize %q", s.Name, given["targetQueueSize"])
	}
	if s.Spec.MinReplicaCount > 0 {
		return
	}
	// KEDA's backlog leaves out what is being done.
	if kind == "workflow" || given["includeRunningWorkflowCount"] != "true" || given["workflowTaskQueueForCount"] != evaluation.QueueMain {
		t.Errorf("scaler %s stops the last %s in the middle of its work", s.Name, d.Name)
	}
}
