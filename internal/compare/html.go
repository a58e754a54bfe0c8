package compare

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/score"
)

//go:embed page.html
var page string

// WriteHTML writes a comparison as one page that asks for nothing else. Text from
// outside is escaped by html/template.
func WriteHTML(w io.Writer, c Comparison) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"figure": figure, "signed": signed, "p": p, "interval": interval,
		"sentence": score.Loss.Sentence, "adjusted": adjusted, "truth": truthWord, "reasons": reasons, "orUnset": orUnset,
		"by": Side.by, "warnings": Side.warnings, "votes": Outcome.votes, "figures": Difference.figures,
		"casting": evaluation.CastingLabel, "castingsOf": castingsOf,
		"balanced": func(n named) bool { return n.balanced },
	}).Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, c)
}
