//go:build integration && linux

package e2e

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/simulator/chat"
)

// TestChatDetector evaluates part of the sample with a chat server behind the
// detect worker, here the simulated llama-server.
func TestChatDetector(t *testing.T) {
	t.Parallel() // it waits more than it works
	const key = "marked-secret-key"
	simulator := chat.New(chat.Options{Dialect: "llama-server", Model: "tiny", APIKey: key})
	server := httptest.NewServer(simulator)
	defer server.Close()

	r := newRig(t)
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+server.URL, "SPEECHMANIP_CHAT_KEY="+key)
	w := r.worker(t, "--accelerator", "gpu-test", "--pool", "chat")
	args := []string{"--detector", "chat", "--accelerator", "gpu-test", "--pool", "chat", "--quality", "off", "--limit", "3"}
	built := r.evaluate(t, append(args, "--id", "chat")...)
	if built.N != 3 || len(built.Failures) != 0 {
		t.Errorf("n %d, failures %v", built.N, built.Failures)
	}
	if d := built.Settings.Engines.Detector; d.Detector != "chat" || d.Dialect != "llama-server" || d.Model != "tiny" {
		t.Errorf("detector %+v", d)
	}
	for _, d := range built.Dialogues {
		if len(d.Passes) != 5 {
			t.Errorf("%s has %d passes", d.ID, len(d.Passes))
		}
	}
	// The same again asks nothing but the probe of a new worker would; this
	// worker has probed.
	before := simulator.Completions()
	again := r.evaluate(t, append(args, "--id", "again")...)
	if n := simulator.Completions() - before; n != 0 || again.Usage.PassesMade != 0 {
		t.Errorf("asked %d times again, %+v", n, again.Usage)
	}
	log, err := os.ReadFile(w.log)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"log": string(log), "report": r.starter(t, "report", "chat", "--format", "json")} {
		if strings.Contains(text, key) {
			t.Errorf("the key is in the %s", what)
		}
	}
}
