package baseline_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func TestReadIDs(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		want []string
	}{
		"lines":   {"7\n8.0\n\n 9 \n7\n", []string{"7", "8", "9"}},
		"csv":     {"\ufeffName,id\r\na,1.0\r\nb,\"2\"\r\nc\r\n", []string{"1", "2"}},
		"nothing": {"", nil},
	} {
		got, err := baseline.ReadIDs(strings.NewReader(test.file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzReadIDs(f *testing.F) {
	f.Add("ID,x\n1.0,\"a\nb\"\n")
	f.Add("1\n2\n")
	f.Add("\ufeff\"\n")
	f.Fuzz(func(t *testing.T, file string) {
		ids, err := baseline.ReadIDs(strings.NewReader(file))
		if err != nil {
			return
		}
		for i, id := range ids {
			if id == "" || slices.Contains(ids[:i], id) {
				t.Errorf("id %q is empty or repeated", id)
			}
		}
		var again bytes.Buffer
		w := csv.NewWriter(&again)
		_ = w.Write([]string{"ID"})
		for _, id := range ids {
			_ = w.Write([]string{id})
		}
		w.Flush()
		got, err := baseline.ReadIDs(&again)
		if err != nil || len(got) > len(ids) {
			t.Errorf("read again: %q, %v; want %q", got, err, ids)
		}
	})
}

// A model's file is untrusted: whatever Load takes must judge without panic.
func FuzzLoad(f *testing.F) {
	model, _, err := baseline.Train(context.Background(), baseline.TrainOptions{Dialogues: tiny()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(model.Encode())
	f.Add(bytes.Replace(model.Encode(), []byte("/1"), []byte("/2"), 1))
	f.Add([]byte(`{"format":"speechmanip-baseline/1"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, file []byte) {
		model, err := baseline.Load(file)
		if err != nil {
			return
		}
		again, err := baseline.Load(model.Encode())
		if err != nil || again.Hash() != model.Hash() {
			t.Fatalf("load again: %v", err)
		}
		item := items()[detect.Audio]
		for _, name := range model.Detectors() {
			d, err := baseline.New(model, name)
			if err != nil {
				t.Fatal(err)
			}
			decision, err := d.Decide(t.Context(), item, detect.Pass{})
			if err != nil || decision.PYes.P < 0 || decision.PYes.P > vote.One {
				t.Errorf("%s: %+v, %v", name, decision, err)
			}
		}
	})
}
