//go:build integration && linux

package e2e

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
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

// doctor runs doctor --json; it fails exactly when something is to be fixed. A worker has
// 5 s to take its question: on a busy machine it is asked again.
func (r *rig) doctor(t *testing.T, args ...string) (checkup, string) {
	t.Helper()
	out, errOut, err := "", "", error(nil)
	for range 5 {
		out, errOut, err = r.try(t, append([]string{"doctor", "--json"}, args...)...)
		if !strings.Contains(out, "no worker took the question") {
			break
		}
	}
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
	t.Parallel() // it waits more than it works
	r := newRig(t)

	// Nobody works yet: the workers are not asked, and every queue is named with the worker that it needs.
	u, _ := r.doctor(t)
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

// The providers behind the workers: the account, the server, and a server that
// doesn't hear. No key is printed.
func TestDoctorOfProviders(t *testing.T) {
	t.Parallel() // it waits more than it works
	const chatKey = "marked-chat-key"
	r := newRig(t)
	r.account(t, elevenlabs.Options{Quota: 1000})
	server := httptest.NewServer(chat.New(chat.Options{Dialect: chat.Llama, Model: "tiny", APIKey: chatKey}))
	defer server.Close()
	deaf := httptest.NewServer(chat.New(chat.Options{Dialect: chat.Llama, Model: "tiny", AudioUnheard: true}))
	defer deaf.Close()
	with := func(url, key string) *rig {
		other := *r
		other.env = append(slices.Clone(r.env), "SPEECHMANIP_CHAT_URL="+url, "SPEECHMANIP_CHAT_KEY="+key)
		return &other
	}
	with(server.URL, chatKey).worker(t, "--synthesizer", "elevenlabs", "--accelerator", "gpu-test", "--pool", "hears")
	with(deaf.URL, "").worker(t, "--roles", "detect", "--accelerator", "gpu-test", "--pool", "deaf")
	with(server.URL, "wrong-marked-key").worker(t, "--roles", "detect", "--accelerator", "gpu-test", "--pool", "shut")

	ask := func(pool string, args ...string) (checkup, string) {
		u, text := r.doctor(t, append([]string{"--synthesizer", "elevenlabs", "--detector", "chat", "--accelerator", "gpu-test", "--pool", pool}, args...)...)
		for _, secret := range []string{elevenKey, chatKey, "wrong-marked-key", r.stack.SecretKey} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: a key is printed: %s", pool, text)
			}
		}
		return u, text
	}
	u, text := ask("hears")
	if !u.OK {
		t.Errorf("all is well: %s", text)
	}
	if detail, ok := u.find(t, "speech-elevenlabs", "speech account"); !ok || !strings.Contains(detail, "0 of 1000 used, 1000 left") {
		t.Errorf("account: %v, %s", ok, detail)
	}
	if detail, ok := u.find(t, "detect-gpu-test-hears", "detector's dialect"); !ok || detail != "llama-server" {
		t.Errorf("dialect: %v, %s", ok, detail)
	}
	u, _ = ask("deaf")
	if detail, ok := u.find(t, "detect-gpu-test-deaf", "trial question"); ok || !strings.Contains(detail, "audio") {
		t.Errorf("a deaf server: %v, %s", ok, detail)
	}
	if u, text = ask("deaf", "--modality", "text"); !u.OK {
		t.Errorf("a deaf server can read: %s", text)
	}
	u, _ = ask("shut")
	if detail, ok := u.find(t, "detect-gpu-test-shut", "detector"); ok || !strings.Contains(detail, "401") {
		t.Errorf("a wrong key: %v, %s", ok, detail)
	}
}
