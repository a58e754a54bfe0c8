package annotation

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// labelName is the name that the question has in Label Studio and potato files which
// this package writes.
const labelName = "label"

// lsTask is a task of Label Studio's JSON, as far as it is of use here.
type lsTask struct {
	Data        lsData         `json:"data"`
	Annotations []lsAnnotation `json:"annotations,omitempty"`
}

type lsData struct {
	Item     jsonName `json:"item,omitempty"`
	ID       jsonName `json:"id,omitempty"` // read in place of Item
	Modality string   `json:"modality,omitempty"`
	Text     string   `json:"text,omitempty"`
	Audio    string   `json:"audio,omitempty"`
	Truth    string   `json:"truth,omitempty"`
}

type lsAnnotation struct {
	CompletedBy lsPerson   `json:"completed_by,omitzero"`
	Result      []lsResult `json:"result"`
	Cancelled   bool       `json:"was_cancelled,omitempty"`
	Created     string     `json:"created_at,omitempty"`
}

type lsResult struct {
	From  string  `json:"from_name"`
	To    string  `json:"to_name"`
	Type  string  `json:"type"`
	Value lsValue `json:"value"`
	Meta  lsMeta  `json:"meta,omitzero"`
}

type lsValue struct {
	Choices []string `json:"choices,omitempty"`
}

// lsMeta holds the annotator's name: Label Studio keeps a result's meta as it is, and
// takes for the annotator who imports the file.
type lsMeta struct {
	Annotator string `json:"annotator,omitempty"`
}

// lsPerson is who annotated: an id, or an object with one.
type lsPerson string

// UnmarshalJSON reads the id; an e-mail address beside it is left alone.
func (p *lsPerson) UnmarshalJSON(text []byte) error {
	var object struct {
		ID jsonName `json:"id"`
	}
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '{' {
		if err := json.Unmarshal(text, &object); err != nil {
			return err
		}
		*p = lsPerson(object.ID)
		return nil
	}
	var name jsonName
	err := json.Unmarshal(text, &name)
	*p = lsPerson(name)
	return err
}

// jsonName is a name that may be written as a number.
type jsonName string

// UnmarshalJSON reads a string, a number or null.
func (n *jsonName) UnmarshalJSON(text []byte) error {
	var number json.Number
	if json.Unmarshal(text, &number) == nil && len(text) > 0 && text[0] != '"' {
		*n = jsonName(number)
		return nil
	}
	var s string
	err := json.Unmarshal(text, &s)
	*n = jsonName(s)
	return err
}

// labelStudio reads a list of tasks.
func (b *builder) labelStudio(text []byte) {
	var tasks []json.RawMessage
	if err := json.Unmarshal(text, &tasks); err != nil {
		b.problem(1, "the file is no JSON list of tasks: %v", err)
		return
	}
	for i, raw := range tasks {
		var t lsTask
		if err := json.Unmarshal(raw, &t); err != nil {
			b.problem(i+1, "it is no task of Label Studio: %v", err)
			continue
		}
		b.lsTask(i+1, t)
	}
}

func (b *builder) lsTask(place int, t lsTask) {
	name := string(t.Data.Item)
	if name == "" {
		name = string(t.Data.ID)
	}
	modality, ok := b.modalityOf(place, t.Data.Modality, t.Data.Audio != "")
	if !ok {
		return
	}
	key, ok := b.item(place, modality, name)
	if !ok {
		return
	}
	if !b.items[key] {
		b.addItem(key)
	}
	b.truth(place, key.item, t.Data.Truth)
	b.shown(key.item, Shown{Text: t.Data.Text, Audio: t.Data.Audio})
	for _, a := range t.Annotations {
		if !a.Cancelled {
			b.lsAnnotation(place, key, a)
		}
	}
}

// modalityOf is what a task says, or else its source, or else what it holds.
func (b *builder) modalityOf(place int, said string, hasAudio bool) (Modality, bool) {
	switch {
	case said != "":
		modality, err := ParseModality(said)
		if err != nil {
			b.problem(place, "%v", err)
		}
		return modality, err == nil
	case b.source.Modality != "":
		return b.source.Modality, true
	case hasAudio:
		return Audio, true
	}
	return Text, true
}

func (b *builder) lsAnnotation(place int, key itemKey, a lsAnnotation) {
	answer, ok := b.lsAnswer(place, a.Result)
	if !ok {
		return
	}
	name := strings.TrimSpace(answer.Meta.Annotator)
	if name == "" && a.CompletedBy != "" {
		name = "user-" + string(a.CompletedBy)
	}
	if !b.annotator(place, name) {
		return
	}
	label, err := ParseLabel(answer.Value.Choices[0])
	if err != nil {
		b.problem(place, "%v", err)
		return
	}
	vote := Annotation{Item: key.item, Modality: key.modality, Annotator: name, Label: label}
	if a.Created != "" {
		if vote.Time, err = time.Parse(time.RFC3339, a.Created); err != nil {
			b.problem(place, "the time %s is not as in RFC 3339", quote(a.Created))
			return
		}
	}
	b.vote(place, vote)
}

// lsAnswer finds the one answer: that to the question "label", or the only one.
func (b *builder) lsAnswer(place int, results []lsResult) (lsResult, bool) {
	var named, all []lsResult
	for _, r := range results {
		if r.Type != "choices" {
			continue
		}
		all = append(all, r)
		if r.From == labelName {
			named = append(named, r)
		}
	}
	if len(named) > 0 {
		all = named
	}
	if len(all) != 1 || len(all[0].Value.Choices) != 1 {
		b.problem(place, "an annotation has %d answers of one choice; want one, or one to the question %s", len(all), labelName)
		return lsResult{}, false
	}
	return all[0], true
}

// writeLabelStudio writes a list of tasks, those of text and of audio apart, so that
// nobody sees the one beside the other.
func (s Set) writeLabelStudio(w io.Writer, modalities []Modality, how Writing) error {
	out := []lsTask{}
	for _, m := range modalities {
		for _, t := range s.tasks(m) {
			task := lsTask{Data: lsData{Item: jsonName(t.item), Modality: string(m)}}
			if m == Text {
				task.Data.Text = t.shown.Text
			} else {
				task.Data.Audio = t.audioOf(how.AudioBase)
			}
			if how.Truth {
				task.Data.Truth = string(t.truth)
			}
			for _, v := range t.votes {
				a := lsAnnotation{Result: []lsResult{{
					From: labelName, To: string(m), Type: "choices",
					Value: lsValue{Choices: []string{string(v.Label)}}, Meta: lsMeta{Annotator: v.Annotator},
				}}}
				if !v.Time.IsZero() {
					a.Created = v.Time.Format(time.RFC3339Nano)
				}
				task.Annotations = append(task.Annotations, a)
			}
			out = append(out, task)
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}
