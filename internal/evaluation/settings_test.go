package evaluation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettings(t *testing.T) {
	spec := Spec{
		Dataset:   Dataset{Name: "a|`b`\n# c.csv"},
		Speech:    Speech{Synthesizer: "flite"},
		Detection: Detection{Detector: "chat", ModelName: strings.Repeat("m", 300), Modality: "audio", Passes: PassesReuse},
		Limits:    DefaultLimits(),
		Budget:    Budget{Calls: 9, Money: 1_500_000},
		Prices:    Prices{Currency: "USD"},
	}
	spec.Rules.Name, spec.Rules.Votes, spec.Rules.Passes = "paper", "sampled", 5
	want := "| | |\n|---|---|\n| dataset | `a??b??# c` |\n| synthesizer | `flite` |\n| detector | `chat` |\n| model | `" + strings.Repeat("m", 200) + "…` |\n" +
		"| modality | `audio` |\n| rules | `paper` |\n| votes | `sampled, 5 passes, stored ones: reuse` |\n| quality | `on` |\n" +
		"| at once | `4 chunks of 200 dialogues, 16 dialogues in each` |\n| budget | `9 calls` |\n| budget | `1.50 USD` |\n"
	if diff := cmp.Diff(want, spec.Settings().Markdown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	spec.Dataset.Clips, spec.Quality.Off = true, true
	if s := spec.Settings(); s.Synthesizer != "" || s.Quality != "off" {
		t.Errorf("of given clips: %+v", s)
	}
}
