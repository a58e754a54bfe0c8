package chat_test

import (
	"errors"
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/fault"
	simchat "github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func TestVerbalize(t *testing.T) {
	yes := map[string]float64{"YES": 2, " yes": 1, "NO": 1.5, "A": 3}
	for name, test := range map[string]struct {
		words    map[string]float64
		strategy string
		want     vote.Vote
		p        float64 // of YES among the words
	}{
		"all spellings count":      {words: yes, want: vote.VoteYes, p: (probability(yes, "YES") + probability(yes, " yes")) / (1 - probability(yes, "A"))},
		"after the thoughts":       {words: yes, strategy: "chain-of-thought", want: vote.VoteYes, p: (probability(yes, "YES") + probability(yes, " yes")) / (1 - probability(yes, "A"))},
		"the margin is the rules'": {words: map[string]float64{"YES": 0, "NO": 0}, want: vote.VoteNo, p: 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			// The letters say the contrary: they are not asked for.
			_, url := serve(t, simchat.Options{Dialect: simchat.VLLM, Script: script{decideQuestion: {"B": 9, "A": 1}, verbalizeQuestion: test.words}.say})
			d := newDetector(t, url, func(c *chat.Config) {
				if test.strategy != "" {
					c.Strategy = test.strategy
				}
			})
			got, err := d.Verbalize(t.Context(), textItem("x"))
			if err != nil || got.Vote != test.want || got.Prompt == "" {
				t.Fatalf("%+v, %v; want %s", got, err, test.want)
			}
			checkMass(t, "p(YES)", got.PYes, test.p)
		})
	}
	_, url := serve(t, simchat.Options{Dialect: simchat.VLLM, NoLogprobs: true})
	_, err := newDetector(t, url, nil).Verbalize(t.Context(), textItem("x"))
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Permanent || f.Code != "no_logprobs" {
		t.Errorf("without logprobs: %v", err)
	}
}
