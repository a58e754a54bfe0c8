package chat_test

import (
	"context"
	"testing"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	simchat "github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// All questions about an item send its clip, which is read and encoded once where it
// can be told that it is the same.
func TestClipIsEncodedOnce(t *testing.T) {
	_, url := serve(t, simchat.Options{Dialect: simchat.VLLM})
	d := newDetector(t, url, nil)
	reads := 0
	decide := func(hash string, seed uint32) detect.Decision {
		t.Helper()
		item := audioItem("a", noise(1, seed))
		item.AudioHash = hash
		item.Audio = func(context.Context) (audio.PCM, error) {
			reads++
			return noise(1, seed), nil
		}
		answer, err := d.Decide(t.Context(), item, detect.Pass{Sampling: vote.Paper().Sampling})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	first := decide("one", 1)
	again := decide("one", 1)
	if reads != 1 || again != first {
		t.Errorf("%d reads; %+v, then %+v", reads, first, again)
	}
	if other := decide("other", 2); reads != 2 || other.PYes == first.PYes {
		t.Errorf("%d reads; another clip gives %+v", reads, other)
	}
	for range 2 {
		if before := reads; decide("", 1) != first || reads == before {
			t.Errorf("%d reads: not read again though its hash is unknown", reads)
		}
	}
}
