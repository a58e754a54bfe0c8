package chat_test

import (
	"os"
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/detect/detecttest"
)

// The conformance suite against the llama-server that LLAMA_SERVER_URL names.
func TestLive(t *testing.T) {
	url := os.Getenv("LLAMA_SERVER_URL")
	if url == "" {
		t.Skip("LLAMA_SERVER_URL names no server")
	}
	caps, err := newDetector(t, url, func(c *chat.Config) { c.Model, c.NoPromptCache = "", true }).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", caps)
	if caps.Dialect != chat.Llama || caps.Choice == "" || !caps.Logprobs || caps.Prefill == "" || caps.Audio.PerBlock != 750 {
		t.Errorf("%+v: not what a llama-server can do", caps)
	}
	for name, item := range map[string]detect.Item{"audio": audioItem("one", noise(2, 7)), "text": textItem("two"), "asr": asrItem("three")} {
		t.Run(name, func(t *testing.T) {
			detecttest.Run(t, func(t *testing.T) detect.Detector {
				return newDetector(t, url, func(c *chat.Config) { c.Model, c.NoPromptCache = "", true })
			}, item)
		})
	}
}
