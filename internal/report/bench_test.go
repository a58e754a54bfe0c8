package report_test

import (
	"fmt"
	"testing"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
)

// BenchmarkBuild builds the report on as many dialogues as MentalManip has.
func BenchmarkBuild(b *testing.B) {
	in := report.Input{Manifest: evaluation.Manifest{Spec: everything().Manifest.Spec, Items: 2915}}
	for i := range in.Manifest.Items {
		truth := dialogue.Yes
		if i%3 == 0 {
			truth = dialogue.No
		}
		r := judged(fmt.Sprintf("%05d", i), truth, []string{"YYYYY", "NNNNN", "YYNNN", "NNYYY"}[i*7%4])
		r.ClipSeconds = float64(i * 7919 % 1000)
		in.Records = append(in.Records, r)
	}
	for b.Loop() {
		if _, err := report.Build(in); err != nil {
			b.Fatal(err)
		}
	}
}
