package evaluation

import (
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Actions returns what Temporal Cloud is expected to bill for a dialogue of so many
// spoken turns, of which nothing is stored and whose verdict is a YES: in actions,
// without retries, and without what evaluation and chunk take (a few a chunk).
func Actions(spec Spec, turns int) int {
	n := 2 + 2 // a child's start; plan and record, which are local
	if spec.SearchAttributes {
		n++ // the verdict
	}
	if spec.Heard() {
		if !spec.Dataset.Clips {
			n += turns + 1 // and the clip
		}
		if !spec.Quality.Off || spec.Detection.Modality == detect.ASR {
			n += 2 // the clip is recognised and measured
		}
	}
	passes, orders := spec.Rules.Passes, 1
	if spec.Rules.Votes == vote.VotesAnalytic {
		passes = 1
	}
	if spec.Detection.OptionOrder == OrderBoth {
		orders = 2
	}
	quotes := 1 // an empty one is asked for again, rarely
	return n + len(spec.Detection.Modalities())*(orders*(1+passes)+1+quotes)
}
