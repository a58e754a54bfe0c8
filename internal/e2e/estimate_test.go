//go:build integration && linux

package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// estimate is what estimate --json prints, as far as it is compared.
type estimate struct {
	Turns      int `json:"turns"`
	Characters int `json:"characters"`
	Stored     *struct {
		Clips      int     `json:"clips"`
		Turns      int     `json:"turns"`
		Characters int     `json:"characters"`
		Seconds    float64 `json:"clip_seconds"`
	} `json:"stored"`
	NotChecked string `json:"stored_not_checked"`
	Total      struct {
		Calls int `json:"calls"`
	} `json:"total"`
}

func (r *rig) estimate(t *testing.T, args ...string) estimate {
	t.Helper()
	var e estimate
	out := r.starter(t, append([]string{"estimate", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatalf("estimate prints no JSON: %v\n%s", err, out)
	}
	return e
}

// An estimate is what the evaluation then takes, and nothing of it afterwards.
func TestEstimateMeetsTheEvaluation(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	dialogues := []string{"--ids", "s001,s002,s003"}
	e := r.estimate(t, dialogues...)
	if e.Stored != nil || !strings.Contains(e.NotChecked, "no worker on queue") {
		t.Errorf("without workers: %+v", e)
	}
	r.worker(t)
	before := r.estimate(t, dialogues...)
	if before.NotChecked != "" || before.Stored == nil || before.Stored.Turns != 0 {
		t.Errorf("before: %+v (%s)", before.Stored, before.NotChecked)
	}
	usage := r.evaluate(t, dialogues...).Usage
	if usage.TurnsMade != before.Turns || usage.Characters != before.Characters {
		t.Errorf("%d turns, %d characters were spoken; estimated %d, %d", usage.TurnsMade, usage.Characters, before.Turns, before.Characters)
	}
	after := r.estimate(t, dialogues...)
	if after.Stored == nil || after.Stored.Clips != 3 || after.Stored.Turns != after.Turns || after.Stored.Characters != after.Characters || after.Stored.Seconds <= 0 {
		t.Errorf("after: %+v of %+v (%s)", after.Stored, after, after.NotChecked)
	}
	if saved := before.Total.Calls - after.Total.Calls; saved != before.Turns {
		t.Errorf("%d calls fewer than before, want %d", saved, before.Turns)
	}
}
