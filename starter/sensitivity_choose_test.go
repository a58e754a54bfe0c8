package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
)

// finished stores an evaluation "e" of n dialogues in chunks of two, of which the
// first judged have records.
func finished(t *testing.T, n, judged int, detector string) archive.Archive {
	t.Helper()
	store := archive.Archive{Store: mem.New()}
	m := evaluation.Manifest{Spec: evaluation.Spec{ID: "e", Detection: evaluation.Detection{Detector: detector, Strategy: "zero-shot", Modality: evaluation.Both, Accelerator: "gpu", Pool: "p"}}, Created: time.Unix(0, 0)}
	var chunks []evaluation.Chunk
	for i := range n {
		if i%2 == 0 {
			chunks = append(chunks, evaluation.Chunk{})
		}
		chunk := &chunks[len(chunks)-1]
		chunk.Items = append(chunk.Items, evaluation.Item{ID: fmt.Sprint(i), Line: evaluation.Slice{Offset: int64(i)}})
	}
	if _, _, err := store.Create(t.Context(), m, chunks); err != nil {
		t.Fatal(err)
	}
	if _, err := objectstore.PutJSON(t.Context(), store.Store, evaluation.EnginesKey("e"), evaluation.Engines{}, objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range judged {
		clip := objectstore.Ref{Key: fmt.Sprint("clip", i)}
		if _, err := store.PutRecord(t.Context(), i/2, evaluation.Record{Evaluation: "e", ID: fmt.Sprint(i), Truth: dialogue.Yes, Clip: clip}); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func TestChooseItems(t *testing.T) {
	m, err := sensitivityRequest{id: "e", items: 99}.choose(t.Context(), finished(t, 3, 3, chatDetector))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range m.Items {
		got = append(got, fmt.Sprint(item.Item.ID, item.Item.Line.Offset, item.Clip.Key))
	}
	if diff := cmp.Diff([]string{"00clip0", "11clip1", "22clip2"}, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	// Of two modalities the clip's is asked about.
	if m.Modality != detect.Audio || m.Evaluation != "e" || m.Manifest.IsZero() || m.Engines.IsZero() || len(m.Variations) != 2 {
		t.Errorf("%+v", m.Sensitivity)
	}
	if queues := m.queues(); len(queues) != 2 || queues[1].name != "detect-gpu-p" {
		t.Errorf("%+v", queues)
	}
}

func TestChooseRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		n, judged int
		detector  string
		request   sensitivityRequest
		want      string
	}{
		"another evaluation": {1, 1, chatDetector, sensitivityRequest{id: "f", items: 1}, `no evaluation "f"`},
		"no prompt":          {1, 1, "baseline-cascade", sensitivityRequest{id: "e", items: 1}, "baseline-cascade, which reads no prompt"},
		"not finished":       {3, 2, chatDetector, sensitivityRequest{id: "e", items: 1}, "has judged 2 of 3 dialogues: wait for its end (`starter watch e`)"},
		"too much":           {251, 251, chatDetector, sensitivityRequest{id: "e", items: 251}, "251 dialogues in 2 variations are 502 questions, at most 500 fit: use a smaller --items"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.request.choose(t.Context(), finished(t, test.n, test.judged, test.detector))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
