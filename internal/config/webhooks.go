package config

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/speechmanip/speechmanip/internal/secret"
	"github.com/speechmanip/speechmanip/internal/webhook"
)

// EnvWebhooks names the webhooks that a worker with the role workflows can call, with
// commas between them. Each has two variables: WebhookURL and WebhookKey say which.
const EnvWebhooks = "SPEECHMANIP_WEBHOOKS"

var webhookName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// CheckWebhookName refuses a name that can't be part of a variable's.
func CheckWebhookName(name string) error {
	if !webhookName.MatchString(name) {
		return fmt.Errorf("webhook name %q: use 1 to 31 lower-case letters, digits or '-', beginning with a letter", name)
	}
	return nil
}

// WebhookURL is the variable that holds a webhook's address.
func WebhookURL(name string) string { return webhookVariable(name) + "_URL" }

// WebhookKey is the variable that holds the key that signs what it is sent.
func WebhookKey(name string) string { return webhookVariable(name) + "_KEY" }

func webhookVariable(name string) string {
	return "SPEECHMANIP_WEBHOOK_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// webhooks reads those that are named. No error repeats an address or a key.
func (r *reader) webhooks() map[string]webhook.Hook {
	out := map[string]webhook.Hook{}
	for _, name := range r.list(EnvWebhooks) {
		if err := CheckWebhookName(name); err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %w", EnvWebhooks, err))
			continue
		}
		hook := webhook.Hook{URL: secret.Text(r.text(WebhookURL(name), "")), Key: secret.Text(r.text(WebhookKey(name), ""))}
		if err := hook.Validate(); err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s names %q: set %s and %s: %w", EnvWebhooks, name, WebhookURL(name), WebhookKey(name), err))
		}
		out[name] = hook
	}
	return out
}
