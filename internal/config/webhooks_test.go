package config

import (
	"strings"
	"testing"
)

func TestWebhooks(t *testing.T) {
	env := map[string]string{
		EnvWebhooks: "ci, on-call", WebhookURL("ci"): "https://ci.example/marked-token", WebhookKey("ci"): "marked-key",
		"SPEECHMANIP_WEBHOOK_ON_CALL_URL": "http://on-call.example", "SPEECHMANIP_WEBHOOK_ON_CALL_KEY": "other",
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	cfg, err := Load(lookup)
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Webhooks) != 2 || cfg.Webhooks["ci"].URL != "https://ci.example/marked-token" || cfg.Webhooks["on-call"].Key != "other" {
		t.Errorf("%d webhooks", len(cfg.Webhooks))
	}
	env[EnvWebhooks], env[WebhookURL("ci")], env[WebhookKey("on-call")] = "ci,on-call,Bad", "marked-token", ""
	_, err = Load(lookup)
	for _, want := range []string{"SPEECHMANIP_WEBHOOK_CI_URL", "SPEECHMANIP_WEBHOOK_ON_CALL_KEY", `"Bad"`} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "marked-") {
			t.Errorf("%q is not in %v, or a secret is", want, err)
		}
	}
}
