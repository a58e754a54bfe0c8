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
// draws from: for texts that its model is not of one mind about, against a
// thousand draws under the paper's sampling, and fewer where all tokens may be
// drawn, a letter is cut off, and the whole vocabulary has to be asked for.
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
		{vote.Sampling{Temperature: 1, TopP: 0.5}, 150},
		{vote.Sampling{Temperature: 2, TopP: 0.9}, 150},
	} {
		sampling, n := test.sampling, test.n
		item, choice := undecided(t, d, sampling)
		yes := draws(t, d, item, sampling, n)
		chi := chiSquare(choice.Yes, yes, n)
		t.Logf("%+v: p(YES) %d, drawn %d of %d, chi-square %.2f", sampling, choice.Yes, yes, n, chi)
		if chi > 10.83 {
			t.Errorf("%+v: %d of %d draws are YES, the probability is %d: chi-square %.1f", sampling, yes, n, choice.Yes, chi)
		}
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
