package chat

import (
	"context"
	"strconv"

	"github.com/speechmanip/speechmanip/internal/detect"
)

var (
	_ detect.Prober       = (*Detector)(nil)
	_ detect.PrefixSharer = (*Detector)(nil)
)

// SharesPrefix reports whether every server reads the beginning that prompts have
// in common once.
func (d *Detector) SharesPrefix(ctx context.Context) (bool, error) {
	caps, err := d.capabilities(ctx)
	return caps.PrefixCache, err
}

// CheckModality refuses what no server can judge.
func (d *Detector) CheckModality(ctx context.Context, m detect.Modality) error {
	caps, err := d.capabilities(ctx)
	if err != nil {
		return err
	}
	return caps.Refuse(m)
}

// Facts returns what the probe found out, for every server alike.
func (d *Detector) Facts(ctx context.Context) ([]detect.Fact, error) {
	caps, err := d.capabilities(ctx)
	if err != nil {
		return nil, err
	}
	analytic := caps.choiceMethod()
	if why := d.noChoice(caps); why != "" {
		analytic = "not possible: " + why
	}
	facts := []detect.Fact{
		{Name: "dialect", Value: string(caps.Dialect)},
		{Name: "server", Value: caps.Server},
		{Name: "fingerprint", Value: caps.Fingerprint},
		{Name: "model", Value: printable(caps.Model)},
		{Name: "servers", Value: number(max(caps.Servers, 1), "")},
		{Name: "context", Value: number(caps.Context, " tokens")},
		{Name: "slots", Value: number(caps.Slots, "")},
		{Name: "constrained choice", Value: orNone(caps.Choice)},
		{Name: "decision method", Value: caps.decisionMethod()},
		{Name: "top logprobs", Value: strconv.Itoa(caps.TopLogprobs)},
		{Name: "tactic method", Value: caps.tacticMethod()},
		{Name: "analytic votes", Value: analytic},
		{Name: "prefill", Value: orNone(caps.Prefill)},
		{Name: "audio", Value: caps.Audio.rule()},
		{Name: "audio check", Value: caps.Audio.Why},
		{Name: "prefix cache", Value: yesNo(caps.PrefixCache)},
	}
	for _, note := range caps.Notes {
		facts = append(facts, detect.Fact{Name: "note", Value: printable(note)})
	}
	return facts, nil
}

func number(n int, unit string) string {
	if n == 0 {
		return "unknown"
	}
	return strconv.Itoa(n) + unit
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
