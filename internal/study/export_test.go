package study

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// exported is a study of two items and a check, of which A02 was erased.
func exported() Export {
	judged := func(who string, m annotation.Modality, round int, labels string) Batch {
		a := Assignment{Annotator: who, Modality: m, Batch: 1, Round: round, Items: []int{1, 2, 0}}
		b := Batch{Study: "s", Assignment: a, How: Finished}
		for i, item := range a.Items {
			switch labels[i] {
			case 'Y':
				b.Judgments = append(b.Judgments, Judgment{Item: item, Label: annotation.Yes, Millis: 4000, Time: noon.Add(time.Minute)})
			case 'N':
				b.Judgments = append(b.Judgments, Judgment{Item: item, Label: annotation.No, Heard: true, Changes: 2, Time: noon})
			}
		}
		return b
	}
	s := Study{ID: "s", Design: Design{Modalities: both}, Items: []Item{
		{ID: "a,1", Truth: dialogue.Yes, Clip: objectstore.Ref{Key: "clips/x.wav"}}, {ID: "2", Clip: objectstore.Ref{Key: "clips/y.wav"}}, {ID: "check", Expected: annotation.Yes},
	}}
	return Export{Study: s, Erased: []string{"A02"}, Batches: []Batch{
		judged("A03", annotation.Text, 0, "YYN"), judged("A01", annotation.Text, 0, "N--"), judged("A02", annotation.Text, 0, "YYY"),
		judged("A04", annotation.Text, 1, "YYY"), judged("A01", annotation.Audio, 0, "-NN"),
	}}
}

func written(t *testing.T, write func(*bytes.Buffer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestExports(t *testing.T) {
	e := exported()
	for name, c := range map[string]struct {
		write func(*bytes.Buffer) error
		want  string
	}{
		"long": {func(b *bytes.Buffer) error { return e.WriteLong(b, false) },
			"item,modality,annotator,label,truth\n\"a,1\",text,A03,NO,YES\n2,text,A01,NO,\n2,text,A03,YES,\n\"a,1\",audio,A01,NO,YES\n"},
		"private": {func(b *bytes.Buffer) error { return e.WriteLong(b, true) },
			"item,modality,annotator,label,truth,time,batch,millis,heard,changes\n" +
				"\"a,1\",text,A03,NO,YES,2026-05-01T12:00:00Z,text-01,0,true,2\n2,text,A01,NO,,2026-05-01T12:00:00Z,text-01,0,true,2\n" +
				"2,text,A03,YES,,2026-05-01T12:01:00Z,text-01,4000,false,0\n\"a,1\",audio,A01,NO,YES,2026-05-01T12:00:00Z,audio-01,0,true,2\n"},
		"wide": {func(b *bytes.Buffer) error { return e.WriteWide(b, annotation.Text) },
			"ID,MentalManip,A01,A03\n\"a,1\",1,,0\n2,,0,1\n"},
		"wide audio": {func(b *bytes.Buffer) error { return e.WriteWide(b, annotation.Audio) },
			"ID,MentalManip,A01,Audio File Name\n\"a,1\",1,0,x.wav\n2,,,y.wav\n"},
	} {
		if diff := cmp.Diff(c.want, written(t, c.write)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	batches := written(t, func(b *bytes.Buffer) error { return e.WriteBatches(b) })
	if strings.Count(batches, "\n") != 4 || strings.Contains(batches, "A02") || !strings.Contains(batches, `"round":1`) {
		t.Errorf("batches:\n%s", batches)
	}
	e.Study.Design.Modalities = both[:1]
	if err := e.WriteWide(&bytes.Buffer{}, annotation.Audio); err == nil {
		t.Error("a modality that the study hasn't is written")
	}
}

// What is written, annotation reads, and finds the same votes in both forms.
func TestExportsAreRead(t *testing.T) {
	e := exported()
	e.Study.Listening = true
	long := written(t, func(b *bytes.Buffer) error { return e.WriteLong(b, true) })
	sources := []annotation.Source{{Name: "long", Reader: strings.NewReader(long)}}
	read, err := annotation.Read(sources...)
	if err != nil {
		t.Fatal(err)
	}
	var wide []annotation.Source
	for _, m := range both {
		text := written(t, func(b *bytes.Buffer) error { return e.WriteWide(b, m) })
		wide = append(wide, annotation.Source{Name: string(m), Reader: strings.NewReader(text)})
	}
	other, err := annotation.Read(wide...)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range both {
		a, b := read.Votes(m), other.Votes(m)
		for _, votes := range a {
			for i := range votes {
				votes[i].Time = time.Time{}
			}
		}
		if diff := cmp.Diff(a, b); diff != "" || len(a) == 0 {
			t.Errorf("%s: long and wide differ:\n%s", m, diff)
		}
	}
	if diff := cmp.Diff(read.Truth, other.Truth); diff != "" {
		t.Errorf("truths differ:\n%s", diff)
	}
}

func TestExportConsensus(t *testing.T) {
	e := exported()
	outcomes := []Outcome{
		{Item: 0, Modality: annotation.Text, Label: "NO", Yes: 1, No: 2, Closed: true, Adjudication: NotNeeded, Decided: noon},
		{Item: 1, Modality: annotation.Text, Label: "YES", Yes: 1, No: 1, Closed: true, Short: true, Adjudication: Adjudicated, ForYes: 2, Decided: noon},
	}
	want := "item,modality,label,yes,no,closed,short,adjudication,for_yes,for_no,annotators,truth\n" +
		"\"a,1\",text,NO,1,2,true,false,none,0,0,3,YES\n2,text,YES,1,1,true,true,resolved,2,0,4,\n"
	if diff := cmp.Diff(want, written(t, func(b *bytes.Buffer) error { return e.WriteConsensus(b, outcomes, false) })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if private := written(t, func(b *bytes.Buffer) error { return e.WriteConsensus(b, outcomes, true) }); strings.Count(private, "2026-05-01T12:00:00Z") != 2 {
		t.Errorf("private:\n%s", private)
	}
}

func TestChoose(t *testing.T) {
	var truths []dialogue.Truth
	for i := range 50 {
		truths = append(truths, map[bool]dialogue.Truth{true: dialogue.No, false: dialogue.Yes}[i%5 == 0]) // 10 NO, 40 YES
	}
	truths = append(truths, dialogue.Unknown)
	count := func(drawn []int) (yes, no, unknown int) {
		for _, i := range drawn {
			switch truths[i] {
			case dialogue.Yes:
				yes++
			case dialogue.No:
				no++
			default:
				unknown++
			}
		}
		return yes, no, unknown
	}
	for n, want := range map[int][3]int{6: {3, 3, 0}, 20: {10, 10, 0}, 30: {20, 10, 0}, 51: {40, 10, 1}, 99: {40, 10, 1}} {
		yes, no, unknown := count(Choose(truths, n, 1))
		if got := [3]int{yes, no, unknown}; got != want {
			t.Errorf("%d drawn: %v, want %v", n, got, want)
		}
	}
	if diff := cmp.Diff(Choose(truths, 20, 1), Choose(truths, 20, 1)); diff != "" {
		t.Error("the same seed draws others")
	}
	if cmp.Equal(Choose(truths, 20, 1), Choose(truths, 20, 2)) {
		t.Error("another seed draws the same")
	}
}
