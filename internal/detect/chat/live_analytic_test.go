package chat_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// The distribution is the one that the llama-server that LLAMA_SERVER_URL names
// draws from, for texts that its model is not of one mind about: against a
// thousand draws under the paper's sampling, and some where top-p cuts nothing,
// cuts more, and where the whole vocabulary may have to be asked for.
func TestLiveChoose(t *testing.T) {
	url := os.Getenv("LLAMA_SERVER_URL")
	if url == "" {
		t.Skip("LLAMA_SERVER_URL names no server")
	}
	d := newDetector(t, url, func(c *chat.Config) { c.Model = "" })
	for _, test := range []struct {
		sampling vote.Sampling
		n        int
	}{
		{vote.Paper().Sampling, 1000},
		{vote.Sampling{Temperature: 1, TopP: 1}, 150},
		{vote.Sampling{Temperature: 1, TopP: 0.8}, 150},
		{vote.Sampling{Temperature: 2, TopP: 0.9}, 150},
	} {
		t.Run(fmt.Sprintf("temperature %v, top-p %v", test.sampling.Temperature, test.sampling.TopP), func(t *testing.T) {
			item, choice := undecided(t, d, test.sampling)
			yes := draws(t, d, item, test.sampling, test.n)
			chi := chiSquare(choice.Yes, yes, test.n)
			t.Logf("p(YES) %d, drawn %d of %d, chi-square %.2f", choice.Yes, yes, test.n, chi)
			if chi > 10.83 {
				t.Error("the passes follow another distribution")
			}
		})
	}
}

// undecided returns a dialogue whose votes differ.
func undecided(t *testing.T, d *chat.Detector, sampling vote.Sampling) (detect.Item, detect.Choice) {
	t.Helper()
	for i := range 50 {
		item := textItem("x")
		item.Turns[0].Text = fmt.Sprintf("You owe me %d.", i)
		item = prepare(t, d, item)
		if choice := choose(t, d, item, sampling); choice.Yes > vote.One/5 && choice.Yes < vote.One*4/5 {
			return item, choice
		}
	}
	t.Fatalf("%+v: the model is of one mind about everything", sampling)
	return detect.Item{}, detect.Choice{}
}
