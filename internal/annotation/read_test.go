package annotation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
)

const wideText = "ID,MentalManip,A,B,Dialogue\n1,1,1,,\"Person1: Hm.\nPerson2: Ah.\"\n2,0,,0,x\n3,,,,x\n"

func read(t *testing.T, sources ...annotation.Source) annotation.Set {
	t.Helper()
	set, err := annotation.Read(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func source(name, text string) annotation.Source {
	return annotation.Source{Name: name, Reader: strings.NewReader(text)}
}

func TestReadWide(t *testing.T) {
	audio := "\xef\xbb\xbfid,MentalManip,B,A,Audio File Name\r\n1.0,1.0,0.0,1.0,1_composed_mark_ivanna.mp3\r\n"
	got := read(t, source("text.csv", wideText), source("audio.csv", audio))
	want := annotation.Set{
		Annotations: []annotation.Annotation{
			{Item: "1", Modality: annotation.Text, Annotator: "A", Label: annotation.Yes},
			{Item: "2", Modality: annotation.Text, Annotator: "B", Label: annotation.No},
			{Item: "1", Modality: annotation.Audio, Annotator: "B", Label: annotation.No},
			{Item: "1", Modality: annotation.Audio, Annotator: "A", Label: annotation.Yes},
		},
		Items: map[annotation.Modality][]string{annotation.Text: {"1", "2", "3"}, annotation.Audio: {"1"}},
		Truth: map[string]dialogue.Truth{"1": dialogue.Yes, "2": dialogue.No},
		Shown: map[string]annotation.Shown{"1": {Text: "Person1: Hm.\nPerson2: Ah.", Audio: "1_composed_mark_ivanna.mp3"}, "2": {Text: "x"}, "3": {Text: "x"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"A", "B"}, got.Annotators(annotation.Audio)); diff != "" {
		t.Errorf("annotators (-want +got):\n%s", diff)
	}
}

// A wide file may be said to be of audio; without a word it is of text.
func TestReadWideModality(t *testing.T) {
	for _, c := range []struct {
		header string
		said   annotation.Modality
		want   annotation.Modality
	}{
		{"ID,A", "", annotation.Text},
		{"ID,A", annotation.Audio, annotation.Audio},
		{"ID,A,audio file name", "", annotation.Audio},
		{"ID,A,audio file name", annotation.Audio, annotation.Audio},
	} {
		row := "7,1" + strings.Repeat(",", strings.Count(c.header, ",")-1)
		set := read(t, annotation.Source{Name: "a.csv", Modality: c.said, Reader: strings.NewReader(c.header + "\n" + row + "\n")})
		if diff := cmp.Diff([]annotation.Modality{c.want}, set.Modalities()); diff != "" {
			t.Errorf("%s said to be %q (-want +got):\n%s", c.header, c.said, diff)
		}
	}
}

func TestReadLong(t *testing.T) {
	text := "time,label,Item,annotator,modality,truth,batch\n" +
		"2026-01-31T12:00:00+01:00,yes,9.0,anna,Audio,NO,0\n" +
		",0,9,bo,text,,0\n"
	got := read(t, source("long.csv", text))
	want := annotation.Set{
		Annotations: []annotation.Annotation{
			{Item: "9", Modality: annotation.Audio, Annotator: "anna", Label: annotation.Yes, Time: time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC)},
			{Item: "9", Modality: annotation.Text, Annotator: "bo", Label: annotation.No},
		},
		Items: map[annotation.Modality][]string{annotation.Text: {"9"}, annotation.Audio: {"9"}},
		Truth: map[string]dialogue.Truth{"9": dialogue.No},
		Shown: map[string]annotation.Shown{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestProblems(t *testing.T) {
	const wide, long = "ID,MentalManip,A,B\n", "item,modality,annotator,label,time,truth\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty file":        {"", "f.csv: line 1: the file is empty"},
		"neither form":      {"name,vote\n1,1\n", `f.csv: line 1: the columns "name", "vote" are of neither form`},
		"no annotators":     {"ID,Dialogue\n1,x\n", "f.csv: line 1: no column is an annotator's"},
		"column twice":      {"ID,A,A\n1,1,1\n", `f.csv: line 1: the column "A" is there more than once`},
		"no modality":       {"item,annotator,label\n1,A,1\n", "f.csv: line 1: the column modality is missing"},
		"quoting":           {wide + "1,1,1,0\n2,1,\"1,0\n", "f.csv: line 3: broken quoting"},
		"row length":        {wide + "1,1,1\n", "f.csv: line 2: the row has 3 columns, the first line 4"},
		"after a long row":  {"ID,A,Dialogue\n1,1,\"a\nb\"\n2,maybe,x\n", `f.csv: line 4: column "A": "maybe" is no label (valid: YES, NO, 1, 0)`},
		"item empty":        {wide + ",1,1,0\n", "f.csv: line 2: the item's name is empty"},
		"item twice":        {wide + "1,1,1,0\n1.0,1,1,0\n", `f.csv: line 3: the item "1" is there more than once in text`},
		"item steers":       {wide + "\"\x1b[31m\",1,1,0\n", `f.csv: line 2: the item's name "\x1b[31m" holds control`},
		"item not UTF-8":    {wide + "\xff,1,1,0\n", `f.csv: line 2: the item's name "\xff" holds control`},
		"truth":             {wide + "1,2,1,0\n", `f.csv: line 2: the truth "2" is no label`},
		"truth contradicts": {long + "1,text,A,1,,1\n1,audio,A,1,,0\n", `f.csv: line 3: the truth of item "1" is NO here and YES before (f.csv, line 2)`},
		"voted twice":       {long + "1,text,A,1,,\n2,text,A,1,,\n1,text,A,0,,\n", `f.csv: line 4: annotator "A" has judged item "1" in text before (f.csv, line 2)`},
		"modality":          {long + "1,video,A,1,,\n", `f.csv: line 2: "video" is no modality (valid: text, audio)`},
		"annotator":         {long + "1,text, ,1,,\n", "f.csv: line 2: the annotator's name is empty"},
		"no label":          {long + "1,text,A,,,\n", `f.csv: line 2: "" is no label`},
		"time":              {long + "1,text,A,1,yesterday,\n", `f.csv: line 2: the time "yesterday" is not as in RFC 3339`},
		"name too long":     {long + strings.Repeat("x", 201) + ",text,A,1,,\n", "f.csv: line 2: the item's name has 201 bytes"},
		"annotator's name":  {"ID," + strings.Repeat("x", 201) + "\n1,1\n", "f.csv: line 1: the annotator's name has 201 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := annotation.Read(source("f.csv", c.text))
			var problems *annotation.Problems
			if !errors.As(err, &problems) || len(problems.List) != 1 || problems.More != 0 {
				t.Fatalf("error %v, want one problem", err)
			}
			if !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line that begins with %q", err, c.want)
			}
		})
	}
}

// All problems of all files are named, a line each, up to a limit.
func TestProblemsOfManyFiles(t *testing.T) {
	_, err := annotation.Read(source("a.csv", "ID,A\n1,x\n2,y\n"), source("b.csv", "ID,A,Audio File Name\n1,z,\n"))
	want := []string{`a.csv: line 2: column "A": "x"`, `a.csv: line 3: column "A": "y"`, `b.csv: line 2: column "A": "z"`}
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(lines) != len(want) {
		t.Fatalf("error %q, want %d lines", err, len(want))
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %q, want one that begins with %q", lines[i], want[i])
		}
	}

	_, err = annotation.Read(source("a.csv", "ID,A\n"+strings.Repeat(",1\n", 25)))
	if lines := strings.Split(fmt.Sprint(err), "\n"); len(lines) != 21 || lines[20] != "and 5 more problems" {
		t.Errorf("25 problems give %q", lines)
	}
}

func TestTooManyAnnotators(t *testing.T) {
	var text strings.Builder
	text.WriteString("item,modality,annotator,label\n")
	for i := range annotation.MaxAnnotators + 1 {
		fmt.Fprintf(&text, "1,text,a%d,1\n", i)
	}
	_, err := annotation.Read(source("f.csv", text.String()))
	if err == nil || !strings.HasPrefix(err.Error(), `f.csv: line 202: "a200" is one annotator too many`) {
		t.Errorf("error %v", err)
	}
}

// FuzzRead: whatever a file holds, it is refused with a line for each problem, or
// gives votes that count.
func FuzzRead(f *testing.F) {
	f.Add(wideText)
	f.Add("ID,A,Audio File Name\n1.0,1.0,x.mp3\n")
	f.Add("item,modality,annotator,label,time,truth\n1,text,A,YES,2026-01-31T12:00:00Z,1\n1,audio,A,0,,\n")
	f.Add("ID,A\n1,\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := annotation.Read(source("f.csv", text))
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "f.csv: line ") && !strings.HasPrefix(line, "and ") {
					t.Errorf("error line %q names no file and line", line)
				}
			}
			return
		}
		for _, m := range set.Modalities() {
			votes := 0
			for _, c := range set.Consensus(m, annotation.Rule{}) {
				votes += c.Annotators()
			}
			for _, a := range set.Annotations {
				if a.Modality == m {
					votes--
				}
			}
			if votes != 0 {
				t.Errorf("%s: the consensus has %d votes more than the file", m, votes)
			}
		}
	})
}
