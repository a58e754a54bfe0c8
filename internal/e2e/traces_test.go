//go:build integration && linux

package e2e

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver keeps the spans that are sent to it by OTLP over HTTP.
type receiver struct {
	mu    sync.Mutex
	spans []*tracepb.Span
	wrong []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var export collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &export)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || request.URL.Path != "/v1/traces" {
		r.wrong = append(r.wrong, request.URL.Path)
	}
	for _, resource := range export.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// check wants a trace for each dialogue, with all that was done for it and nothing of
// another, and no span that holds one of the texts.
func (r *receiver) check(t *testing.T, texts []string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wrong) > 0 {
		t.Errorf("not OTLP: %v", r.wrong)
	}
	names, workflows := map[string][]string{}, map[string]map[string]bool{}
	for _, s := range r.spans {
		id := string(s.GetTraceId())
		names[id] = append(names[id], s.GetName())
		for _, a := range s.GetAttributes() {
			if value := a.GetValue().GetStringValue(); a.GetKey() == "temporalWorkflowID" && strings.Contains(value, "/d-") {
				if workflows[id] == nil {
					workflows[id] = map[string]bool{}
				}
				workflows[id][value] = true
			}
		}
		whole, err := proto.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if strings.Contains(string(whole), text) {
				t.Errorf("span %s holds %q", s.GetName(), text)
			}
		}
	}
	dialogues := 0
	for id, spans := range names {
		if !slices.Contains(spans, "StartChildWorkflow:EvaluateDialogue") {
			continue
		}
		dialogues++
		if len(workflows[id]) != 1 {
			t.Errorf("a trace follows %d dialogues: %v", len(workflows[id]), workflows[id])
		}
		stages := []string{"RunWorkflow:EvaluateDialogue"}
		for _, activity := range []string{"PlanDialogue", "SynthesizeTurn", "ComposeClip", "PrepareItem", "DetectPass", "SaveRecord"} {
			stages = append(stages, "RunActivity:"+activity)
		}
		engines := []string{"call flite", "call pocketsphinx", "call baseline-cascade", "RunActivity:RecognizeClip", "RunActivity:MeasureClip"}
		for workflow := range workflows[id] {
			if strings.HasPrefix(workflow, "paid/") {
				engines = []string{"call elevenlabs", "call chat"}
			}
		}
		for _, want := range append(stages, engines...) {
			if !slices.Contains(spans, want) {
				t.Errorf("%v has no span %s", workflows[id], want)
			}
		}
	}
	if dialogues != 4 {
		t.Errorf("%d dialogues have a trace, want 4", dialogues)
	}
}
