package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// theClips are the paper's 24 clips with their dataset's labels, judged by what most
// annotators said of the text: real verdicts, with a tie among them, that another
// program can count too. They are no part of the project and lie beside it where they
// are present.
func theClips(t *testing.T) (report.Report, annotation.Set) {
	t.Helper()
	data := filepath.Join("..", "..", "..", "shared", "data")
	files, err := filepath.Glob(filepath.Join(data, "speechmentalmanip", "clips", "*.mp3"))
	if err != nil || len(files) == 0 {
		t.Skip("the paper's clips and annotations are not here: they are not part of the project")
	}
	open := func(name string) *os.File {
		f, err := os.Open(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	dataset, err := dialogue.ReadCSV(open("mentalmanip/mentalmanip_con.csv"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := annotation.Read(
		annotation.Source{Name: "text", Modality: annotation.Text, Reader: open("speechmentalmanip/annotations_text_compiled.csv")},
		annotation.Source{Name: "audio", Modality: annotation.Audio, Reader: open("speechmentalmanip/annotations_audio_compiled.csv")},
	)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]dialogue.Dialogue{}
	for _, d := range dataset.Dialogues {
		known[d.ID] = d
	}
	text := annotation.ByItem(set.Consensus(annotation.Text, annotation.Rule{}))
	in := report.Input{Manifest: evaluation.Manifest{Spec: everything().Manifest.Spec, Items: len(files)}}
	in.Manifest.Spec.Rules.ExemplarIDs = []string{"85514414", "85514416", "85514440", "85514449"} // those of the released scripts
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		id, cast, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".mp3"), "_composed_")
		pattern := map[vote.Verdict]string{vote.Yes: "YYYYY", vote.No: "NNNNN", vote.Unresolved: "YYNNI"}[text[id].Label]
		r := judged(id, known[id].Truth, pattern)
		r.Tactics, r.TextHash = known[id].Tactics, known[id].TextHash()
		r.ClipSeconds = float64(info.Size()) / 7000 // 56 kbit/s
		first, second, _ := strings.Cut(cast, "_")
		r.Casting[0].Voice, r.Casting[1].Voice = first, second
		in.Records = append(in.Records, r)
	}
	return build(t, in), set
}

// The figures were counted by a few lines of Python with its csv module.
func TestTheClips(t *testing.T) {
	r, set := theClips(t)
	r.AddPeople(set, annotation.Rule{})
	r.AddTruths(report.ConsensusTruth("audio-consensus", "audio.csv", set.Consensus(annotation.Audio, annotation.Rule{})))
	paper, err := score.ParsePrevalence("250:90")
	if err != nil {
		t.Fatal(err)
	}
	r.Restate(paper)

	if r.N != 20 || len(r.Exemplars) != 4 || r.Classification.Decided != 19 {
		t.Fatalf("n %d, exemplars %v, decided %d; want 20, 4, 19", r.N, r.Exemplars, r.Classification.Decided)
	}
	if c := r.Confusion; c.Yes != (score.Verdicts{Yes: 7, No: 1, Unresolved: 1}) || c.No != (score.Verdicts{Yes: 2, No: 9}) {
		t.Errorf("confusion %+v", c)
	}
	for _, row := range r.Headline.Rows {
		want := map[string][2]float64{"recall": {7. / 8, 5. / 8}, "specificity": {9. / 11, 5. / 11}, "balanced_accuracy": {(7./8 + 9./11) / 2, (5./8 + 5./11) / 2}}[row.Name]
		near(t, row.Name, row.Value, want[0])
		near(t, "people's "+row.Name, row.People, want[1])
	}
	audio := r.People[1]
	if audio.Scored != 19 || audio.Annotated != 19 || audio.SingleVote != 13 || audio.Compared != 19 || audio.Agree.Hits != 13 {
		t.Errorf("people by audio: %+v", audio)
	}
	if l := audio.LeaveOneOut; l.Agree != 22 || l.Votes != 30 || l.Unresolved != 3 || audio.DetectorAgree.Hits != 4 || audio.DetectorAgree.N != 6 {
		t.Errorf("leave one out %+v, detector %+v", l, audio.DetectorAgree)
	}
	// Of all 100 items, as the paper's Table 6 and its correction.
	for i, want := range []struct {
		table                [2][2]int
		agree, decided, open int
	}{{[2][2]int{{31, 19}, {9, 41}}, 72, 98, 2}, {[2][2]int{{28, 22}, {22, 28}}, 56, 100, 0}} {
		l := r.People[i].Labels
		if l.AsPaper.Table != want.table || l.Share.Hits != want.agree || l.Share.N != want.decided || l.Unresolved != want.open {
			t.Errorf("%s against labels: %+v", r.People[i].Modality, l)
		}
	}
	near(t, "precision at 250:90", r.AtPrevalence[1].Precision.Value, 7./8*250/(7./8*250+2./11*90))
	if f := r.AtPrevalence[1].Precision.Low; f.Defined || !strings.Contains(f.Reason, "fewer than 10") {
		t.Errorf("of nine manipulative clips there is an interval: %+v", f)
	}
	// The labels and the audio consensus differ on 9 of the 20.
	if truths := r.Truths[0]; truths.Common != 20 || truths.Same != 11 || len(truths.Disagreements) != 9 {
		t.Errorf("truths: common %d, same %d, %d disagreements", truths.Common, truths.Same, len(truths.Disagreements))
	}
	text := write(t, report.WriteText, r)
	lines(t, text)
	if !strings.Contains(strings.Join(textLines(text), "\n"), "people, by audio 0.526 0.540 0.625 0.455 ") {
		t.Error("people don't stand beside the baselines")
	}
	lines := textLines(write(t, report.WriteMarkdown, r))
	for _, want := range paperMarkdown["Table 6"] {
		if !strings.Contains(strings.Join(lines, "\n"), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("Table 6 lacks %q", want)
		}
	}
	t.Log("\n" + text)
}
