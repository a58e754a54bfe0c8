package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/sample"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func TestParseExemplars(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []exemplarLine
		err  []string // parts of the message
	}{
		"of the dataset, and of its own": {
			text: "\ufeff{\"id\":\"1\",\"verdict\":\"NO\"}\n\n" +
				`{"id":"2.0","verdict":"YES","tactic":"denial","quote":" I never did. ","dialogue":"A: You did.\nB: I never did."}` + "\r\n",
			want: []exemplarLine{
				{Exemplar: vote.Exemplar{ID: "1", Vote: vote.VoteNo}, line: 1},
				{
					Exemplar: vote.Exemplar{ID: "2", Vote: vote.VoteYes, Tactic: tactic.Denial, Quote: "I never did."}, line: 3,
					dialogue: &dialogue.Dialogue{ID: "2", Truth: dialogue.Yes, Turns: []dialogue.Turn{{Speaker: "A", Text: "You did."}, {Speaker: "B", Text: "I never did."}}},
				},
			},
		},
		"a NO may say that it has no tactic": {
			text: `{"id":"1","verdict":"NO","tactic":"none"}`,
			want: []exemplarLine{{Exemplar: vote.Exemplar{ID: "1", Vote: vote.VoteNo, Tactic: tactic.None}, line: 1}},
		},
		"empty":             {text: "\n \n", err: []string{"exemplars f: the file is empty: write"}},
		"no JSON":           {text: "1,YES", err: []string{"exemplars f, line 1: ", "write one JSON object"}},
		"no object":         {text: `["1"]`, err: []string{"line 1: ", "write one JSON object"}},
		"unknown field":     {text: `{"id":"1","verdict":"YES","truth":"YES"}`, err: []string{`unknown field "truth"`, "id, verdict, tactic, quote"}},
		"two on a line":     {text: `{"id":"1","verdict":"NO"} {}`, err: []string{"one object a line"}},
		"no id":             {text: `{"verdict":"NO"}`, err: []string{"the id is empty"}},
		"an id that steers": {text: `{"id":"a\u001b[2J","verdict":"NO"}`, err: []string{`control`}},
		"no verdict":        {text: `{"id":"1"}`, err: []string{`verdict is "": write YES or NO`}},
		"lower case":        {text: `{"id":"1","verdict":"yes"}`, err: []string{`verdict is "yes": write YES or NO`}},
		"unknown tactic":    {text: `{"id":"1","verdict":"YES","tactic":"Lying"}`, err: []string{`unknown tactic "Lying": write one of ["Accusation"`}},
		"a NO with tactic":  {text: `{"id":"1","verdict":"NO","tactic":"Denial"}`, err: []string{"a NO shows no manipulation"}},
		"a NO with quote":   {text: `{"id":"1","verdict":"NO","quote":"x"}`, err: []string{"a NO shows no manipulation"}},
		"turns and text":    {text: `{"id":"1","verdict":"NO","turns":[],"dialogue":"A: x"}`, err: []string{"not both"}},
		"bad turns":         {text: `{"id":"1","verdict":"NO","turns":"x"}`, err: []string{"the field turns"}},
		"twice": {
			text: "{\"id\":\"1\",\"verdict\":\"NO\"}\n{\"id\":\"1.0\",\"verdict\":\"NO\"}",
			err:  []string{`line 2: "1" is in line 1 too`},
		},
		"every line is named": {text: "x\n{}\n", err: []string{"line 1: ", "\nexemplars f, line 2: "}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseExemplars("f", strings.NewReader(test.text))
			if (err != nil) != (test.err != nil) {
				t.Fatalf("error: %v", err)
			}
			for _, part := range test.err {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(exemplarLine{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseExemplars(f *testing.F) {
	f.Add(sample.Exemplars())
	f.Add([]byte(`{"id":"2","verdict":"YES","tactic":"Denial","quote":"x","dialogue":"A: x\nB: y"}`))
	f.Add([]byte("{\"id\":\"\xff\",\"verdict\":\"NO\",\"turns\":null}\n[]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseExemplars("f", bytes.NewReader(data))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, e := range all {
			if e.ID == "" || seen[e.ID] || (e.Vote != vote.VoteYes && e.Vote != vote.VoteNo) || (e.Tactic != "" && tactic.Index(e.Tactic) < 0) {
				t.Errorf("%q, seen before: %t", e.Exemplar, seen[e.ID])
			}
			seen[e.ID] = true
			if e.dialogue == nil {
				continue
			}
			line, err := dialogue.Marshal(*e.dialogue)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := dialogue.ParseLine(line); err != nil || again.TextHash() != e.dialogue.TextHash() {
				t.Errorf("%s reads back as %+v: %v", line, again, err)
			}
		}
	})
}

func TestExemplarsOfTheSampleAreBuiltIn(t *testing.T) {
	r := &request{detector: chatDetector, strategy: "few-shot"}
	shown, err := r.exemplars(nil, nil, true, vote.Paper())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range shown {
		got = append(got, e.ID+" "+string(e.Vote))
		if e.dialogue.ID != e.ID || string(e.dialogue.Truth) != string(e.Vote) || len(e.dialogue.Turns) == 0 {
			t.Errorf("%s: dialogue %+v", e.ID, e.dialogue)
		}
	}
	if diff := cmp.Diff([]string{"x001 NO", "x002 NO", "x003 YES", "x004 YES"}, got); diff != "" {
		t.Error(diff)
	}
}

// released are the published exemplars as a dataset has them, and others.
func dataset() []dialogue.Dialogue {
	var all []dialogue.Dialogue
	for _, id := range append(vote.Released().ExemplarIDs, "other") {
		d := dialogue.Dialogue{ID: id, Truth: dialogue.No, Turns: []dialogue.Turn{{Speaker: "A", Text: "These are the words of " + id}, {Speaker: "B", Text: "Yes."}}}
		if id == "85514414" || id == "85514416" {
			d.Truth, d.Tactics = dialogue.Yes, []tactic.Tactic{tactic.Denial, tactic.Evasion}
		}
		all = append(all, d)
	}
	return all
}

func TestExemplarsOfADataset(t *testing.T) {
	r := &request{detector: chatDetector, strategy: "few-shot", dataset: "d.csv"}
	clips := map[string]string{"85514440": "a.mp3", "85514449": "b.mp3", "85514414": "c.mp3", "85514416": "d.mp3"}
	shown, err := r.exemplars(dataset(), clips, true, vote.Released())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range shown {
		got = append(got, strings.Join([]string{e.ID, string(e.Vote), string(e.Tactic), e.Quote, e.dialogue.ID, e.clip}, "|"))
	}
	want := []string{"85514440|NO|||85514440|a.mp3", "85514449|NO|||85514449|b.mp3", "85514414|YES|Denial||85514414|c.mp3", "85514416|YES|Denial||85514416|d.mp3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const yes14 = `{"id":"85514414","verdict":"YES","tactic":"Denial","quote":"the WORDS of"}` + "\n"

func TestExemplarsAreRefused(t *testing.T) {
	two := `{"id":"a","verdict":"NO","dialogue":"A: x\nB: y"}` + "\n" + `{"id":"b","verdict":"NO","dialogue":"A: x\nB: z"}` + "\n"
	for name, test := range map[string]struct {
		request request
		file    string
		all     []dialogue.Dialogue
		clips   map[string]string
		rules   vote.Rules
		err     []string
	}{
		"no quotes in a dataset": {
			all: dataset(), rules: vote.Paper(),
			err: []string{"rules paper show a quote", "--exemplars FILE", "--exemplars builtin", "--rules released"},
		},
		"not in the dataset": {
			all: dataset()[1:4], rules: vote.Released(),
			err: []string{"85514440", "--exemplars FILE", "builtin"},
		},
		"of a clip folder": {
			all: dataset(), rules: vote.Released(), clips: map[string]string{"85514440": "a.mp3", "85514414": "c.mp3"},
			err: []string{`no clip of 85514449, 85514416: add them (ID_*.mp3)`},
		},
		"too few":      {file: yes14, all: dataset(), rules: vote.Paper(), err: []string{`holds 1 exemplars ("85514414")`, "few-shot shows exactly 4"}},
		"unknown":      {file: `{"id":"x","verdict":"NO"}`, all: dataset(), rules: vote.Paper(), err: []string{`line 1: "x" is not in the dataset: add its turns`}},
		"wrong":        {file: `{"id":"85514414","verdict":"NO"}`, all: dataset(), rules: vote.Paper(), err: []string{"the dataset's truth of \"85514414\" is YES"}},
		"another text": {file: `{"id":"other","verdict":"NO","dialogue":"A: x\nB: y"}`, all: dataset(), rules: vote.Paper(), err: []string{`has another dialogue "other"`}},
		"no quote": {
			file: two + yes14 + `{"id":"c","verdict":"YES","tactic":"Denial","dialogue":"A: x\nB: q"}`, all: dataset(), rules: vote.Paper(),
			err: []string{`exemplar "c": rules paper show the tactic and the quote`},
		},
		"invented quote": {
			file: two + yes14 + `{"id":"c","verdict":"YES","tactic":"Denial","quote":"words of nobody","dialogue":"A: words\nB: of nobody"}`, all: dataset(), rules: vote.Paper(),
			err: []string{`exemplar "c": nobody in it says "words of nobody"`},
		},
		"no such file":          {request: request{shown: "nowhere.jsonl"}, rules: vote.Paper(), err: []string{"--exemplars: ", "nowhere.jsonl"}},
		"nothing to show":       {request: request{strategy: "zero-shot", shown: "builtin"}, rules: vote.Paper(), err: []string{"zero-shot show no exemplars"}},
		"a baseline reads none": {request: request{detector: "baseline-cascade", shown: "builtin"}, rules: vote.Paper(), err: []string{"baseline-cascade", "show no exemplars"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := test.request
			if r.detector == "" {
				r.detector = chatDetector
			}
			if r.strategy == "" {
				r.strategy = "few-shot"
			}
			r.dataset = "d.csv"
			if test.file != "" {
				r.shown = filepath.Join(t.TempDir(), "e.jsonl")
				if err := os.WriteFile(r.shown, []byte(test.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := r.exemplars(test.all, test.clips, true, test.rules)
			if err == nil {
				t.Fatal("is accepted")
			}
			for _, part := range test.err {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// What is shown isn't heard in text modality: its clips need not be there.
func TestExemplarsThatAreReadNeedNoClips(t *testing.T) {
	r := &request{detector: chatDetector, strategy: "few-shot", dataset: "d.csv"}
	shown, err := r.exemplars(dataset(), map[string]string{"85514440": "a.mp3"}, false, vote.Released())
	if err != nil || len(shown) != 4 || shown[0].clip != "a.mp3" || shown[1].clip != "" {
		t.Errorf("%+v, %v", shown, err)
	}
}

func TestWhatIsShownIsNotScored(t *testing.T) {
	dir := t.TempDir()
	clips := map[string]string{}
	for id, sound := range map[string]string{"85514440": "one", "same-clip": "one", "85514449": "two", "other": "three", "same-text": "four", "own-text": "five", "85514414": "six"} {
		clips[id] = filepath.Join(dir, id+".wav")
		if err := os.WriteFile(clips[id], []byte(sound), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := dataset()
	own := dialogue.Dialogue{ID: "x", Turns: []dialogue.Turn{{Speaker: "A", Text: "Only shown."}, {Speaker: "B", Text: "Yes."}}}
	for id, text := range map[string]string{"same-clip": "Something else.", "same-text": all[0].Turns[0].Text, "own-text": "only SHOWN"} {
		all = append(all, dialogue.Dialogue{ID: id, Turns: []dialogue.Turn{{Speaker: "C", Text: text}, {Speaker: "D", Text: "Yes!"}}})
	}
	p := plan{clips: clips, shown: []shownExemplar{{Exemplar: vote.Exemplar{ID: "x"}, dialogue: own}}}
	p.spec.Rules = vote.Paper()
	var kept []dialogue.Dialogue
	for _, d := range all {
		if clips[d.ID] != "" {
			kept = append(kept, d)
		}
	}
	if err := p.leaveOutExemplars(kept, all); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range p.excluded {
		got[e.ID] = e.Reason
	}
	want := map[string]string{
		"85514440": "exemplar", "85514449": "exemplar", "85514414": "exemplar",
		"same-clip": "same clip as an exemplar", "same-text": "same text as an exemplar", "own-text": "same text as an exemplar",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if len(p.dialogues) != 1 || p.dialogues[0].ID != "other" {
		t.Errorf("scored: %+v", p.dialogues)
	}
}
