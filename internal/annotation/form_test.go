package annotation_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

const longText = "item,modality,annotator,label,time,truth\n" +
	"1,text,Anna,YES,2026-01-31T11:00:00Z,YES\n1,text,bo,NO,,YES\n2,text,bo,NO,,\n1,audio,Anna,NO,2026-02-01T08:00:00.5Z,YES\n3/x,audio,bo,YES,,NO\n"

// written is the set as the form has it.
func written(t *testing.T, s annotation.Set, how annotation.Writing) string {
	t.Helper()
	var out bytes.Buffer
	if err := annotation.Write(&out, s, how); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func readForm(t *testing.T, form annotation.Form, s annotation.Source) annotation.Set {
	t.Helper()
	set, err := annotation.ReadForm(form, s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRoundTrips(t *testing.T) {
	set := read(t, source("long.csv", longText))
	for _, form := range []annotation.Form{annotation.Long, annotation.LabelStudio, annotation.Potato} {
		text := written(t, set, annotation.Writing{Form: form, Truth: true})
		got := readForm(t, form, source("again", text))
		if diff := cmp.Diff(set, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", form, diff, text)
		}
	}
}

func TestWideRoundTrip(t *testing.T) {
	audio := "ID,MentalManip,A,B,Audio File Name,Dialogue\n1,1,0,1,1.mp3,\"Person1: Hm.\nPerson2: Ah.\"\n"
	for _, text := range []string{wideText, audio} {
		set := read(t, source("wide.csv", text))
		again := written(t, set, annotation.Writing{Form: annotation.Wide})
		if again != text {
			t.Errorf("written:\n%s\nread:\n%s", again, text)
		}
	}
}

// The paper's own files go through every form, and agreement sees the same votes.
func TestSharedRoundTrips(t *testing.T) {
	set := sharedSet(t)
	for _, form := range []annotation.Form{annotation.LabelStudio, annotation.Potato} {
		got := readForm(t, form, source("again", written(t, set, annotation.Writing{Form: form, Truth: true})))
		if diff := cmp.Diff(sorted(set), sorted(got)); diff != "" {
			t.Errorf("%s: %s", form, diff)
		}
	}
	for _, m := range set.Modalities() {
		got := read(t, source("wide.csv", written(t, set, annotation.Writing{Form: annotation.Wide, Modality: m})))
		if diff := cmp.Diff(sorted(set).Votes(m), sorted(got).Votes(m)); diff != "" {
			t.Errorf("wide, %s: %s", m, diff)
		}
	}
}

// sharedSet reads the paper's annotations, which are not part of the project.
func sharedSet(t *testing.T) annotation.Set {
	t.Helper()
	var sources []annotation.Source
	for _, name := range []string{"annotations_text_compiled.csv", "annotations_audio_compiled.csv"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "speechmentalmanip", name))
		if err != nil {
			t.Skip("real data is not here")
		}
		sources = append(sources, source(name, string(text)))
	}
	return read(t, sources...)
}

// sorted is the set with its annotations in an order that every form keeps.
func sorted(s annotation.Set) annotation.Set {
	s.Annotations = slices.Clone(s.Annotations)
	slices.SortFunc(s.Annotations, func(a, b annotation.Annotation) int {
		return slices.Compare([]string{a.Item, string(a.Modality), a.Annotator}, []string{b.Item, string(b.Modality), b.Annotator})
	})
	return s
}

// Without being told to, tasks hold neither truth nor, of audio, the text.
func TestTasksTellNothing(t *testing.T) {
	rows := `{"id":"1","file_name":"clips/1.wav","truth":"YES","verdict":"NO","turns":[{"speaker":"P1","text":"Hm."},{"speaker":"P2","text":"\"Ah\""}]}` + "\n"
	set := readForm(t, annotation.Metadata, source("metadata.jsonl", rows))
	want := `[
  {
    "data": {
      "item": "1",
      "modality": "text",
      "text": "P1: Hm.\nP2: \"Ah\""
    }
  },
  {
    "data": {
      "item": "1",
      "modality": "audio",
      "audio": "https://x/clips/1.wav"
    }
  }
]
`
	if got := written(t, set, annotation.Writing{Form: annotation.LabelStudio, AudioBase: "https://x/"}); got != want {
		t.Errorf("tasks:\n%s", got)
	}
	want = `{"id":"1:audio","audio":"clips/1.wav"}` + "\n"
	if got := written(t, set, annotation.Writing{Form: annotation.Potato, Modality: annotation.Audio}); got != want {
		t.Errorf("instances:\n%s", got)
	}
}

// What Label Studio gives back: numbers for annotators, cancelled annotations, other
// questions beside ours.
func TestReadLabelStudio(t *testing.T) {
	text := `[{"id": 7, "data": {"id": 85514414.0, "audio": "https://x/1.wav"}, "annotations": [
		{"id": 1, "completed_by": 10, "created_at": "2021-03-09T22:16:08.728353Z", "lead_time": 4.3, "result": [
			{"from_name": "note", "to_name": "audio", "type": "textarea", "value": {"text": ["hm"]}},
			{"from_name": "sure", "to_name": "audio", "type": "choices", "value": {"choices": ["a bit"]}},
			{"from_name": "label", "to_name": "audio", "type": "choices", "value": {"choices": ["YES"]}}]},
		{"id": 2, "completed_by": {"id": 11, "email": "a@example.com"}, "result": [
			{"from_name": "q", "to_name": "audio", "type": "choices", "value": {"choices": ["no"]}}]},
		{"id": 3, "completed_by": 12, "was_cancelled": true, "result": []}], "predictions": [{"result": []}]}]`
	got := readForm(t, annotation.LabelStudio, source("export.json", text))
	if len(got.Annotations) != 2 {
		t.Fatalf("%d annotations", len(got.Annotations))
	}
	if a := got.Annotations[0]; a.Item != "85514414" || a.Modality != annotation.Audio || a.Annotator != "user-10" || a.Label != annotation.Yes || a.Time.Year() != 2021 {
		t.Errorf("first: %+v", a)
	}
	if a := got.Annotations[1]; a.Annotator != "user-11" || a.Label != annotation.No || !a.Time.IsZero() {
		t.Errorf("second: %+v", a)
	}
}

// What potato writes: a file an annotator, in a folder of that name, and values of
// several kinds.
func TestReadPotato(t *testing.T) {
	text := `{"id": "9", "displayed_text": "Hm.", "label_annotations": {"manipulative": {"YES": "1"}}, "span_annotations": [], "behavioral_data": {}}
{"id": 10, "label_annotations": {"manipulative": {"YES": "false", "NO": true}}}

{"instance_id": "11", "user_id": "cy", "label_annotations": {"label": {"NO": "true"}, "sure": {"very": 2}}}
`
	got := readForm(t, annotation.Potato, source("out/anna/annotated_instances.jsonl", text))
	var votes []string
	for _, a := range got.Annotations {
		votes = append(votes, strings.Join([]string{a.Item, string(a.Modality), a.Annotator, string(a.Label)}, " "))
	}
	if diff := cmp.Diff([]string{"9 text anna YES", "10 text anna NO", "11 text cy NO"}, votes); diff != "" {
		t.Error(diff)
	}
	if got.Shown["9"].Text != "Hm." {
		t.Errorf("shown: %+v", got.Shown)
	}
}

func TestFormProblems(t *testing.T) {
	for _, c := range []struct {
		form annotation.Form
		text string
		want string
	}{
		{annotation.LabelStudio, `{}`, "f: task 1: the file is no JSON list of tasks"},
		{annotation.LabelStudio, `[1]`, "f: task 1: it is no task"},
		{annotation.LabelStudio, `[{"data":{"item":"1"}},{"data":{}}]`, "f: task 2: the item's name is empty"},
		{annotation.LabelStudio, `[{"data":{"item":"1","modality":"smell"}}]`, `f: task 1: "smell" is no modality`},
		{annotation.LabelStudio, `[{"data":{"item":"1"},"annotations":[{"completed_by":1,"result":[]}]}]`, "f: task 1: an annotation has 0 answers"},
		{annotation.LabelStudio, `[{"data":{"item":"1"},"annotations":[{"result":[{"type":"choices","value":{"choices":["YES"]}}]}]}]`, "f: task 1: the annotator's name is empty"},
		{annotation.LabelStudio, `[{"data":{"item":"1"},"annotations":[{"completed_by":1,"result":[{"type":"choices","value":{"choices":["Maybe"]}}]}]}]`, `f: task 1: "Maybe" is no label`},
		{annotation.Potato, "{\n", "f: line 1: it is no instance"},
		{annotation.Potato, `{"id":"1","label_annotations":{"label":{"YES":true}}}`, "f: line 1: whose judgment it is is not known"},
		{annotation.Potato, `{"id":"1","user_id":"a","label_annotations":{"label":{"YES":true,"NO":1}}}`, "f: line 1: 2 labels are chosen"},
		{annotation.Metadata, `{"id":"1"}` + "\n" + `{"id":"1"}`, "f: line 2: the item \"1\" is there more than once in text"},
		{annotation.Metadata, `[]`, "f: line 1: it is no row"},
	} {
		_, err := annotation.ReadForm(c.form, source("f", c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.form, c.text, err, c.want)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	both := read(t, source("long.csv", longText))
	named := func(name string) annotation.Set {
		return read(t, source("long.csv", "item,modality,annotator,label\n1,text,"+name+",YES\n"))
	}
	for _, c := range []struct {
		set  annotation.Set
		how  annotation.Writing
		want string
	}{
		{both, annotation.Writing{Form: annotation.Wide}, "a wide file is of one modality"},
		{both, annotation.Writing{Form: annotation.Metadata}, "only read"},
		{annotation.Set{}, annotation.Writing{Form: annotation.Long}, "no items"},
		{named("=cmd()"), annotation.Writing{Form: annotation.Long}, "formula"},
		{named("dialogue"), annotation.Writing{Form: annotation.Wide}, "another column's"},
		{named("Label"), annotation.Writing{Form: annotation.Wide}, "another column's"},
	} {
		if err := annotation.Write(&bytes.Buffer{}, c.set, c.how); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.how, err, c.want)
		}
	}
	if got := written(t, read(t, source("w.csv", "ID,A,Dialogue\n1,1,=1+1\n")), annotation.Writing{Form: annotation.Wide}); !strings.Contains(got, ",'=1+1\n") {
		t.Errorf("a formula is written as it is: %s", got)
	}
}

func FuzzReadForm(f *testing.F) {
	f.Add(uint8(0), []byte(`[{"data":{"item":"1","modality":"audio"},"annotations":[{"completed_by":{"id":1},"created_at":"2021-03-09T22:16:08Z","result":[{"type":"choices","value":{"choices":["YES"]}}]}]}]`))
	f.Add(uint8(1), []byte(`{"id":"1:text","user_id":"a","label_annotations":{"label":{"YES":"true"}}}`+"\n"+`{"id":2,"truth":"NO"}`))
	f.Add(uint8(2), []byte(`{"id":"1","truth":"YES","file_name":"a","turns":[{"speaker":"a","text":"b"}]}`))
	f.Add(uint8(3), []byte(longText))
	forms := []annotation.Form{annotation.LabelStudio, annotation.Potato, annotation.Metadata, annotation.Long}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		set, err := annotation.ReadForm(forms[int(which)%len(forms)], annotation.Source{Name: "f", Reader: bytes.NewReader(text)})
		if err != nil || len(set.Modalities()) == 0 {
			return
		}
		for _, form := range forms[:2] {
			out := written(t, set, annotation.Writing{Form: form, Truth: true})
			again := readForm(t, form, source("f", out))
			if diff := cmp.Diff(sorted(set).Annotations, sorted(again).Annotations); diff != "" {
				t.Fatalf("%s: %s\n%s", form, diff, out)
			}
		}
	})
}
