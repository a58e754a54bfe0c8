package evaluation

import (
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func TestMostQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		want   Questions
	}{
		"a baseline":       {func(*Spec) {}, Questions{1, 5, 1, 2}},
		"prompted":         {func(s *Spec) { s.Detection.Strategy = "zero-shot" }, Questions{1, 5, 2, 2}},
		"four forms":       {func(s *Spec) { s.Detection.Strategy, s.Rules = "few-shot", vote.Released() }, Questions{1, 5, 5, 2}},
		"reasoning":        {func(s *Spec) { s.Detection.Strategy = "chain-of-thought" }, Questions{1, 15, 2, 2}},
		"both orders":      {func(s *Spec) { s.Detection.Strategy, s.Detection.OptionOrder = "zero-shot", OrderBoth }, Questions{2, 10, 2, 2}},
		"early stop":       {func(s *Spec) { s.Rules.Votes = vote.VotesEarlyStop }, Questions{1, 5, 1, 2}},
		"analytic":         {func(s *Spec) { s.Rules.Votes = vote.VotesAnalytic }, Questions{1, 1, 1, 2}},
		"both modalities":  {func(s *Spec) { s.Detection.Modality = Both }, Questions{2, 10, 2, 4}},
		"both and ordered": {func(s *Spec) { s.Detection.Modality, s.Detection.OptionOrder = Both, OrderBoth }, Questions{4, 20, 2, 4}},
		"no retries":       {func(s *Spec) { s.Rules.QuoteRetries = 0 }, Questions{1, 5, 1, 1}},
		"three passes":     {func(s *Spec) { s.Rules.Passes, s.Rules.Quorum = 3, 2 }, Questions{1, 3, 1, 2}},
	} {
		spec := Spec{Rules: vote.Paper(), Detection: Detection{Modality: detect.Audio}}
		c.change(&spec)
		if got := MostQuestions(spec); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	d := dialogue.Dialogue{ID: "d", Turns: []dialogue.Turn{
		{Speaker: "Person1", Text: "Café — now."},     // 10 as it is sent: "Café, now."
		{Speaker: "Person2", Text: "[sighs] ..."},     // wordless
		{Speaker: "Person1", Text: "I *never* lied."}, // 13: "I never lied."
	}}
	prices := Prices{Currency: "USD", MilliCredits: 500, Credit: 165, DetectorCall: 400}
	for name, c := range map[string]struct {
		change            func(*Spec)
		turns, characters int
		want              Cost
	}{
		// 23 characters at half a credit are 12 credits, rounded up.
		"audio": {func(*Spec) {}, 2, 23, Cost{Calls: 2 + 9, Money: 12*165 + 9*400}},
		"asr":   {func(s *Spec) { s.Detection.Modality = detect.ASR }, 2, 23, Cost{Calls: 11, Money: 12*165 + 9*400}},
		"both":  {func(s *Spec) { s.Detection.Modality = Both }, 2, 23, Cost{Calls: 2 + 18, Money: 12*165 + 18*400}},
		"text":  {func(s *Spec) { s.Detection.Modality = detect.Text }, 0, 0, Cost{Calls: 9, Money: 9 * 400}},
		"clips": {func(s *Spec) { s.Dataset.Clips = true }, 0, 0, Cost{Calls: 9, Money: 9 * 400}},
		"free":  {func(s *Spec) { s.Prices = Prices{} }, 2, 23, Cost{Calls: 11}},
	} {
		spec := Spec{Rules: vote.Paper(), Detection: Detection{Modality: detect.Audio}, Prices: prices}
		c.change(&spec)
		if turns, characters := Spoken(spec, d); turns != c.turns || characters != c.characters {
			t.Errorf("%s: %d turns, %d characters; want %d, %d", name, turns, characters, c.turns, c.characters)
		}
		if got := Estimate(spec, d); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestClipTokens(t *testing.T) {
	for seconds, want := range map[float64]AudioTokens{
		0:    {},
		0.1:  {VLLM: 3, LlamaServer: 752},
		29.9: {VLLM: 748, LlamaServer: 752},
		30:   {VLLM: 750, LlamaServer: 1502}, // the next block is begun
		100:  {VLLM: 2500, LlamaServer: 3002},
	} {
		if got := ClipTokens(seconds); got != want {
			t.Errorf("%v s: %+v, want %+v", seconds, got, want)
		}
	}
}

func TestHearing(t *testing.T) {
	d := dialogue.Dialogue{Turns: []dialogue.Turn{{Speaker: "a", Text: "0123456789"}, {Speaker: "b", Text: "..."}}}
	rate := Rate{PerSecond: 5}
	for name, c := range map[string]struct {
		change  func(*Spec)
		seconds float64
		hearing int
	}{
		"audio":    {func(*Spec) {}, 2, 10},
		"clips":    {func(s *Spec) { s.Dataset.Clips = true }, 2, 10},
		"asr":      {func(s *Spec) { s.Detection.Modality = detect.ASR }, 2, 0},
		"text":     {func(s *Spec) { s.Detection.Modality = detect.Text }, 0, 0},
		"both":     {func(s *Spec) { s.Detection.Modality = Both }, 2, 10},
		"baseline": {func(s *Spec) { s.Detection.Strategy = "" }, 2, 0},
	} {
		spec := Spec{Rules: vote.Paper(), Detection: Detection{Modality: detect.Audio, Strategy: "zero-shot"}}
		c.change(&spec)
		if got := rate.Seconds(spec, d); got != c.seconds {
			t.Errorf("%s: %v s, want %v", name, got, c.seconds)
		}
		if got := HearingQuestions(spec); got != c.hearing {
			t.Errorf("%s: %d questions carry the clip, want %d", name, got, c.hearing)
		}
	}
}
