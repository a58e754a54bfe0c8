package evaluation

import (
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// The first is what the recorded history of a YES has; the others follow from it.
func TestActions(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*Spec)
		want   int
	}{
		"all of it":        {func(*Spec) {}, 3 + 16},
		"no quality gate":  {func(s *Spec) { s.Quality.Off = true }, 3 + 14},
		"no attributes":    {func(s *Spec) { s.SearchAttributes = false }, 3 + 15},
		"clips are there":  {func(s *Spec) { s.Dataset.Clips = true }, 15},
		"text":             {func(s *Spec) { s.Detection.Modality = detect.Text }, 13},
		"both modalities":  {func(s *Spec) { s.Detection.Modality = Both }, 3 + 16 + 8},
		"both orders":      {func(s *Spec) { s.Detection.OptionOrder = OrderBoth }, 3 + 16 + 6},
		"analytic":         {func(s *Spec) { s.Rules.Votes = vote.VotesAnalytic }, 3 + 12},
		"recognised words": {func(s *Spec) { s.Detection.Modality, s.Quality.Off = detect.ASR, true }, 3 + 16},
	} {
		spec := Spec{SearchAttributes: true, Rules: vote.Paper(), Detection: Detection{Modality: detect.Audio}}
		row.change(&spec)
		if got := Actions(spec, 3); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}
