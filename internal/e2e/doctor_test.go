//go:build integration && linux

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// checkup is what doctor --json prints.
type checkup struct {
	OK     bool `json:"ok"`
	Checks []struct {
		Where  string `json:"where"`
		What   string `json:"what"`
		OK     bool   `json:"ok"`
		Detail string `json:"detail"`
	} `json:"checks"`
}

// doctor runs doctor --json; it fails exactly when something is to be fixed.
func (r *rig) doctor(t *testing.T, args ...string) (checkup, string) {
	t.Helper()
	out, errOut, err := r.try(t, append([]string{"doctor", "--json"}, args...)...)
	var u checkup
	if decodeErr := json.Unmarshal([]byte(out), &u); decodeErr != nil {
		t.Fatalf("doctor prints no JSON: %v\n%s%s", decodeErr, out, errOut)
	}
	if u.OK != (err == nil) {
		t.Fatalf("ok is %v, and doctor ended with %v\n%s", u.OK, err, errOut)
	}
	return u, out + errOut
}

// find returns the detail of one check, and whether it is OK.
func (u checkup) find(t *testing.T, where, what string) (string, bool) {
	t.Helper()
	for _, c := range u.Checks {
		if c.Where == where && c.What == what {
			return c.Detail, c.OK
		}
	}
	t.Fatalf("no check of %s at %s in %+v", what, where, u.Checks)
	return "", false
}

func TestDoctor(t *testing.T) {
	r := newRig(t)

	// Nobody works yet: said at once, and every queue with the worker that it needs.
	begun := time.Now()
	u, _ := r.doctor(t)
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("without workers it takes %s", took)
	}
	for _, what := range []string{"bucket", "store", "Temporal", "namespace", "search attributes"} {
		if detail, ok := u.find(t, "here", what); !ok {
			t.Errorf("%s: %s", what, detail)
		}
	}
	for queue, flags := range map[string]string{
		"speechmanip": "--roles workflows", "speech-flite": "--roles speech --synthesizer flite",
		"audio": "--roles audio", "detect-cpu-baseline": "--roles detect --accelerator cpu --pool baseline",
	} {
		if detail, ok := u.find(t, queue, "workers"); ok || !strings.Contains(detail, "worker "+flags) {
			t.Errorf("%s: %v, %s", queue, ok, detail)
		}
	}
	if detail, ok := u.find(t, "here", "the workers' own checks"); ok || !strings.Contains(detail, "speechmanip") {
		t.Errorf("%v, %s", ok, detail)
	}

	// A worker for workflows alone can tell that the others are missing.
	few := r.worker(t, "--roles", "workflows")
	u, _ = r.doctor(t)
	if detail, ok := u.find(t, "speechmanip", "store"); !ok {
		t.Errorf("store of the workflows' worker: %s", detail)
	}
	if detail, ok := u.find(t, "audio", "workers"); ok {
		t.Errorf("audio has workers: %s", detail)
	}
	few.kill(t)

	// All is well with all roles.
	r.worker(t)
	u, text := r.doctor(t)
	if !u.OK {
		t.Errorf("with all workers: %s", text)
	}
	for queue, what := range map[string]string{"speech-flite": "speech engine", "audio": "recogniser", "detect-cpu-baseline": "detector"} {
		if detail, ok := u.find(t, queue, what); !ok || detail == "" {
			t.Errorf("%s at %s: %v, %q", what, queue, ok, detail)
		}
		if detail, ok := u.find(t, queue, "store"); !ok {
			t.Errorf("store at %s: %s", queue, detail)
		}
	}
	for entry, err := range r.archive(t).Store.List(t.Context(), "diagnosis/") {
		t.Errorf("%q stays in the store (%v)", entry.Key, err)
	}

	// A wrong key here: named, without the key, and the rest is checked all the same.
	wrong := *r
	wrong.env = append(slices.Clone(r.env), "SPEECHMANIP_S3_SECRET_KEY=a-wrong-key-that-is-marked")
	u, text = wrong.doctor(t)
	if detail, ok := u.find(t, "here", "bucket"); ok || detail == "" {
		t.Errorf("a wrong key: %v, %q", ok, detail)
	}
	if detail, ok := u.find(t, "audio", "store"); !ok {
		t.Errorf("the worker's own key: %s", detail)
	}
	for _, secret := range []string{"a-wrong-key-that-is-marked", r.stack.SecretKey} {
		if strings.Contains(text, secret) {
			t.Errorf("a key is printed: %s", text)
		}
	}
}
