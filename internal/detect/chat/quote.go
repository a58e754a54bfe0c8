package chat

import (
	"context"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/prompt"
)

// Quote asks once for the words that show the manipulation; the retry asks
// shorter. What comes is not checked against the dialogue: reports say whether
// it occurs there.
func (d *Detector) Quote(ctx context.Context, item detect.Item, req detect.QuoteRequest) (detect.Evidence, error) {
	p, err := d.read(ctx, item)
	if err != nil || p.Nothing != "" {
		return detect.Evidence{}, err
	}
	t, err := d.load(ctx, item)
	if err != nil {
		return detect.Evidence{}, err
	}
	stage := prompt.Quote
	if req.Attempt > 0 {
		stage = prompt.QuoteRetry
	}
	r, err := d.ask(ctx, p.Capabilities, t, question{stage: stage, tactic: req.Tactic, sampling: greedy, maxTokens: d.config.QuoteTokens})
	if err != nil {
		return detect.Evidence{}, err
	}
	return detect.Evidence{Quote: readQuote(r.text)}, nil
}

// readQuote returns "" for the ways to say that there is none.
func readQuote(text string) string {
	text = strings.TrimSpace(storable(text))
	switch strings.ToLower(strings.Trim(text, " .\"'*()[]“”")) {
	case "", "none", "no quote", "n/a":
		return ""
	}
	return text
}
