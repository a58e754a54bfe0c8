package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/score"
)

// paperTables are the tables in the layout of the paper: classification (its Table
// 3), tactics by truth (4 and 5), people against labels (6), and what a reader of
// these needs beside them.
func paperTables(r Report) []paperTable {
	modalities := r.Settings.Spec.Detection.Modalities()
	tables := modalityTables(r, modalities[0], r.Result, r.Measures)
	if m := r.Modalities; m != nil {
		tables = append(tables, modalityTables(r, detect.Text, m.Text.Result, m.Text.Measures)...)
		tables = append(tables, gapTable(m.Gaps))
	}
	if len(r.People) > 0 {
		tables = append(tables, labelTable(r.People))
	}
	if len(r.Tests) > 0 {
		tables = append(tables, testTable(r.Tests))
	}
	return tables
}

func modalityTables(r Report, modality detect.Modality, result score.Result, m Measures) []paperTable {
	tables := []paperTable{
		headlineTable(r, modality, result, m.Headline),
		classificationTable(modality, result),
	}
	for _, d := range m.AtPrevalence {
		tables = append(tables, prevalenceTable(modality, d))
	}
	return append(tables, tacticsTable(modality, dialogue.Yes, result.TacticsYes), tacticsTable(modality, dialogue.No, result.TacticsNo))
}

func headlineTable(r Report, modality detect.Modality, result score.Result, h Headline) paperTable {
	spec := r.Settings.Spec
	t := paperTable{
		Label: "headline-" + string(modality),
		Caption: fmt.Sprintf("What %s finds in %s, by %s: n = %d, of them %d UNRESOLVED and %d failed.",
			cmp.Or(spec.Detection.ModelName, r.Settings.Engines.Detector.Model, spec.Detection.Detector), spec.Dataset.Name, modality,
			result.N, result.Classification.Unresolved, result.Classification.Failed),
		Columns: []string{"Figure", "Value", "95% interval", "n", "Open wrong", "Open right", "Always YES", "Majority", "Duration", "People"},
		Notes:   []string{"Intervals are Wilson's; that of balanced accuracy puts both together (Zou and Donner)."},
	}
	if h.Method == score.MethodBootstrap {
		t.Notes[0] = "Intervals are a bootstrap's over dialogues, as some stand in several castings."
	}
	for _, row := range h.Rows {
		t.Rows = append(t.Rows, []string{
			strings.ReplaceAll(row.Name, "_", " "), t.figure(row.Value), t.interval(row.Low, row.High), strconv.Itoa(row.N),
			t.figure(row.Worst), t.figure(row.Best), t.figure(row.AlwaysYes), t.figure(row.Majority), t.figure(row.Duration), t.figure(row.People),
		})
	}
	t.Notes = append(t.Notes, r.Caveats[0])
	return t
}

func classificationTable(modality detect.Modality, result score.Result) paperTable {
	c := result.Classification
	t := paperTable{
		Label: "classification-" + string(modality),
		Caption: fmt.Sprintf("Classification by %s: of %d manipulative items %d were called YES and %d NO, of %d others %d and %d. Accuracy %s.",
			modality, result.Confusion.Yes.Decided(), result.Confusion.Yes.Yes, result.Confusion.Yes.No,
			result.Confusion.No.Decided(), result.Confusion.No.Yes, result.Confusion.No.No, tableWord(c.Accuracy)),
		Columns: []string{"Class", "Precision", "Recall", "F1", "Support"},
		Rules:   []int{2},
	}
	row := func(name string, precision, recall, f1 score.Figure, support string) {
		t.Rows = append(t.Rows, []string{name, t.figure(precision), t.figure(recall), t.figure(f1), support})
	}
	row("YES", c.Yes.Precision, c.Yes.Recall, c.Yes.F1, strconv.Itoa(c.Yes.Support))
	row("NO", c.No.Precision, c.No.Recall, c.No.F1, strconv.Itoa(c.No.Support))
	row("Macro avg.", c.Macro.Precision, c.Macro.Recall, c.Macro.F1, strconv.Itoa(c.Decided))
	row("Weighted avg.", c.Weighted.Precision, c.Weighted.Recall, c.Weighted.F1, strconv.Itoa(c.Decided))
	for _, b := range result.Baselines {
		if b.Undefined == "" {
			t.Notes = append(t.Notes, fmt.Sprintf("The baseline %s has accuracy %s and macro F1 %s on the same items.", b.Name, tableWord(b.Classification.Accuracy), tableWord(b.Classification.Macro.F1)))
		}
	}
	return t
}

func prevalenceTable(modality detect.Modality, d score.Dependent) paperTable {
	t := paperTable{
		Label:   "prevalence-" + string(modality) + "-" + strings.NewReplacer(":", "-", ".", "-").Replace(d.Prevalence.Stated),
		Caption: fmt.Sprintf("Figures by %s that depend on the prevalence, at %s (%s manipulative).", modality, d.Prevalence.Stated, tableNumber(d.Prevalence.Share)),
		Columns: []string{"Figure", "Value", "95% interval"},
		Notes:   []string{"Intervals are a stratified bootstrap's."},
	}
	for _, row := range []struct {
		name string
		score.Estimate
	}{{"Precision", d.Precision}, {"Negative predictive value", d.NPV}, {"F1", d.F1}, {"Accuracy", d.Accuracy}, {"MCC", d.MCC}} {
		t.Rows = append(t.Rows, []string{row.name, t.figure(row.Value), t.interval(row.Low, row.High)})
	}
	return t
}

func tacticsTable(modality detect.Modality, truth dialogue.Truth, tactics score.TacticTable) paperTable {
	t := paperTable{
		Label:   fmt.Sprintf("tactics-%s-%s", modality, strings.ToLower(string(truth))),
		Caption: fmt.Sprintf("Predicted tactics by %s among the %d items of ground truth %s that were called YES.", modality, tactics.N, truth),
		Columns: []string{"Tactic", "Count", "%"},
	}
	for _, row := range tactics.Rows {
		t.Rows = append(t.Rows, []string{string(row.Tactic), strconv.Itoa(row.Count), fmt.Sprintf("%.2f", row.Percent)})
	}
	if n := tactics.Undetermined; n > 0 {
		t.Rows = append(t.Rows, []string{"undetermined", strconv.Itoa(n), fmt.Sprintf("%.2f", 100*float64(n)/float64(tactics.N))})
	}
	return t
}

// labelTable is the paper's Table 6.
func labelTable(people []People) paperTable {
	t := paperTable{
		Label:   "people",
		Caption: "People's consensus against the labels, ties as NO.",
		Columns: []string{"Modality, label", "YES", "NO", "Agreement", "Kappa"},
		Notes:   []string{},
	}
	for _, p := range people {
		l := p.Labels.AsPaper
		t.Rules = append(t.Rules, len(t.Rows))
		t.Rows = append(t.Rows,
			[]string{string(p.Modality) + ", YES", strconv.Itoa(l.Table[0][0]), strconv.Itoa(l.Table[0][1]), t.two(l.Share.Value), t.two(l.Kappa)},
			[]string{string(p.Modality) + ", NO", strconv.Itoa(l.Table[1][0]), strconv.Itoa(l.Table[1][1]), "", ""},
		)
		kept := p.Labels.Share
		t.Notes = append(t.Notes, fmt.Sprintf("%s: with %d UNRESOLVED kept apart, %d of %d agree (%s, 95%% interval %s).",
			p.Modality, p.Labels.Unresolved, kept.Hits, kept.N, tableWord(kept.Value), t.interval(kept.Low, kept.High)))
	}
	t.Rules = t.Rules[1:]
	return t
}

func gapTable(gaps score.Gaps) paperTable {
	t := paperTable{
		Label: "gap", Caption: "Audio minus text, of the dialogues decided by both.",
		Columns: []string{"Figure", "n", "Audio", "Text", "Difference", "95% interval"},
	}
	for _, row := range []struct {
		name string
		score.Gap
	}{{"recall", gaps.Recall}, {"specificity", gaps.Specificity}} {
		t.Rows = append(t.Rows, []string{row.name, strconv.Itoa(row.N), t.figure(row.First.Value), t.figure(row.Second.Value), t.figure(row.Difference), t.interval(row.Low, row.High)})
	}
	return t
}

func testTable(tests []Test) paperTable {
	t := paperTable{
		Label: "tests", Caption: "All confirmatory tests: exact McNemar, two-sided, with Holm's correction for all of them.",
		Columns: []string{"Comparison", "Truth", "n", "First alone", "Second alone", "p", "Holm"},
	}
	for _, test := range tests {
		t.Rows = append(t.Rows, []string{
			test.Name, string(test.Truth), strconv.Itoa(test.N), strconv.Itoa(test.OnlyFirst), strconv.Itoa(test.OnlySecond), t.p(test.P), t.p(test.Holm),
		})
	}
	return t
}
