package recognize_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/recognize"
)

func TestWER(t *testing.T) {
	tests := map[string]struct {
		said, heard string
		want        recognize.ErrorRate
	}{
		"equal":           {"you never listen", "you never listen", recognize.ErrorRate{Words: 3, Defined: true}},
		"substitution":    {"you never listen", "you ever listen", recognize.ErrorRate{Words: 3, Substitutions: 1, Rate: 1.0 / 3, Defined: true}},
		"deletion":        {"you never listen", "you listen", recognize.ErrorRate{Words: 3, Deletions: 1, Rate: 1.0 / 3, Defined: true}},
		"insertion":       {"you listen", "you do listen", recognize.ErrorRate{Words: 2, Insertions: 1, Rate: .5, Defined: true}},
		"all three":       {"a b c d e f", "x b d e f g", recognize.ErrorRate{Words: 6, Substitutions: 1, Deletions: 1, Insertions: 1, Rate: .5, Defined: true}},
		"nothing heard":   {"a b", "", recognize.ErrorRate{Words: 2, Deletions: 2, Rate: 1, Defined: true}},
		"more than said":  {"a", "b c d", recognize.ErrorRate{Words: 1, Substitutions: 1, Insertions: 2, Rate: 3, Defined: true}},
		"nothing said":    {"", "a b", recognize.ErrorRate{Insertions: 2}},
		"nothing at all":  {"", "", recognize.ErrorRate{}},
		"shifted by one":  {"a b c d e", "b c d e f", recognize.ErrorRate{Words: 5, Deletions: 1, Insertions: 1, Rate: .4, Defined: true}},
		"repeated phrase": {"no no no", "no", recognize.ErrorRate{Words: 3, Deletions: 2, Rate: 2.0 / 3, Defined: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := recognize.WER(strings.Fields(test.said), strings.Fields(test.heard))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
