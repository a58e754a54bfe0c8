//go:build integration && linux

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
)

// TestSecretsStayWhereTheyAre evaluates with marked keys while both providers
// repeat them in errors, and then looks for them in everything that was written.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	const chatKey, codecKey = "marked-chat-key", "marked-codec-key-is-32-bytes-ok!"
	r := newRig(t)
	r.env = append(r.env, "SPEECHMANIP_LOG_LEVEL=debug")
	r.account(t, elevenlabs.Options{})
	r.env = append(r.env, "SPEECHMANIP_ELEVENLABS_URL="+echoing(t, r.lookup(t, "SPEECHMANIP_ELEVENLABS_URL"), "/v1/text-to-speech/", elevenKey))
	server := httptest.NewServer(chat.New(chat.Options{Dialect: chat.Llama, Model: "tiny", APIKey: chatKey}))
	defer server.Close()
	r.env = append(r.env, "SPEECHMANIP_CHAT_KEY="+chatKey, "SPEECHMANIP_CHAT_URL="+echoing(t, server.URL, "/v1/chat/completions", chatKey))
	roles := []string{"--synthesizer", "elevenlabs", "--accelerator", "gpu-test", "--pool", "chat"}
	w := r.worker(t, roles...)

	dataset := r.write(t, "secrets.csv", `ID,Dialogue,Manipulative,Technique,Vulnerability
good,"Person1: All is well.
Person2: So it is.",0,,
refused,"Person1: Please refuse this.
Person2: Why would I?",0,,
`)
	var said bytes.Buffer
	keep := func(args ...string) {
		out, errOut, err := r.try(t, args...)
		fmt.Fprintf(&said, "$ starter %s\n%s%s%v\n", strings.Join(args, " "), out, errOut, err)
	}
	flags := []string{"--synthesizer", "elevenlabs", "--detector", "chat", "--accelerator", "gpu-test", "--pool", "chat", "--dataset", dataset}
	keep(append([]string{"evaluate", "--id", "heard"}, flags...)...)
	keep(append([]string{"evaluate", "--id", "read", "--json", "--modality", "text"}, flags...)...)
	w.stop(t)
	r.env = append(r.env, codec.EnvKeys+"="+base64.StdEncoding.EncodeToString([]byte(codecKey)))
	encrypting := r.worker(t, roles...)
	keep(append([]string{"evaluate", "--id", "sealed", "--modality", "text"}, flags...)...)
	for _, id := range []string{"heard", "read", "sealed"} {
		keep("status", id, "--json")
		keep("report", id, "--format", "json")
	}
	written := map[string][]byte{"the starter's output": said.Bytes()}
	collectFiles(t, written, w.log, encrypting.log, filepath.Join(r.dir, "reports"))
	collectObjects(t, written, r)
	collectHistories(t, written, r)

	// What the providers said has arrived, else there was nothing to see.
	speechRefuses := "history of " + evaluation.DialogueWorkflowID("heard", "refused", 0)
	chatRefuses := "history of " + evaluation.DialogueWorkflowID("read", "refused", 0)
	for what, want := range map[string]string{
		"the starter's output": "Not with [redacted]", w.log: "Key [redacted] is odd",
		speechRefuses: "Not with [redacted], request [redacted]", chatRefuses: "Not with [redacted]",
	} {
		if !bytes.Contains(written[what], []byte(want)) {
			t.Errorf("no %q in %s:\n%.2000s", want, what, written[what])
		}
	}
	for what, data := range written {
		if strings.HasPrefix(what, "history of sealed") && bytes.Contains(data, []byte("Not with")) {
			t.Errorf("%s can be read without the payload key", what)
		}
	}
	for name, secret := range map[string]string{
		"ElevenLabs key": elevenKey, "chat key": chatKey, "payload key": codecKey,
		"S3 access key": r.stack.AccessKey, "S3 secret key": r.stack.SecretKey,
	} {
		for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret)), url.QueryEscape(secret)} {
			for what, data := range written {
				if bytes.Contains(data, []byte(form)) {
					t.Errorf("the %s is in %s", name, what)
				}
			}
		}
	}
	t.Logf("looked into %d files, objects and histories", len(written))
}

// echoing puts a proxy before a server. It answers the first request for a path, and
// those that speak of refusing, with an error that repeats the key.
func echoing(t *testing.T, server, path, key string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	forward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a body that breaks breaks the request below
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := func(status int, format string) {
			w.Header().Set("request-id", key)
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, format, key) // the client may be gone
		}
		switch {
		case !strings.HasPrefix(r.URL.Path, path):
			forward.ServeHTTP(w, r)
		case asked.Add(1) == 1:
			answer(http.StatusInternalServerError, `{"detail":{"status":"odd","message":"Key %[1]s is odd"},"error":{"message":"Key %[1]s is odd","code":500}}`)
		case bytes.Contains(body, []byte("efuse")):
			answer(http.StatusBadRequest, `{"detail":{"status":"refused","message":"Not with %[1]s"},"error":{"message":"Not with %[1]s","code":400}}`)
		default:
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// lookup returns a variable that the workers are given.
func (r *rig) lookup(t *testing.T, name string) string {
	t.Helper()
	value := ""
	for _, entry := range r.env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last one counts
		}
	}
	return value
}

func collectFiles(t *testing.T, written map[string][]byte, roots ...string) {
	t.Helper()
	for _, root := range roots {
		before := len(written)
		if err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			written[path], err = os.ReadFile(path)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if len(written) == before {
			t.Errorf("no file under %s", root)
		}
	}
}

func collectObjects(t *testing.T, written map[string][]byte, r *rig) {
	t.Helper()
	store, evaluations := r.archive(t).Store, 0
	for entry, err := range store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		ref, err := store.Stat(t.Context(), entry.Key)
		if err != nil {
			t.Fatal(err)
		}
		if written["object "+entry.Key], err = objectstore.Bytes(t.Context(), store, ref); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(entry.Key, "evaluations/") {
			evaluations++
		}
	}
	if evaluations == 0 {
		t.Error("no object of an evaluation")
	}
}

// collectHistories adds the events of every workflow as text, in which payloads are
// readable: they are JSON.
func collectHistories(t *testing.T, written map[string][]byte, r *rig) {
	t.Helper()
	temporal := r.temporal(t)
	defer temporal.Close()
	listed, err := temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{PageSize: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range listed.Executions {
		execution := found.Execution
		text := found.String()
		events := temporal.GetWorkflowHistory(t.Context(), execution.WorkflowId, execution.RunId, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			text += event.String()
		}
		written["history of "+execution.WorkflowId] = []byte(text)
	}
	if len(listed.Executions) < 12 {
		t.Errorf("%d workflows, want three evaluations with a chunk and two dialogues each", len(listed.Executions))
	}
}
