package annotation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// potatoLine is a line of potato's JSON: an instance to judge, or one that its user has
// judged.
type potatoLine struct {
	ID       jsonName                  `json:"id,omitempty"`
	Instance jsonName                  `json:"instance_id,omitempty"` // some versions' ID
	User     jsonName                  `json:"user_id,omitempty"`
	Text     string                    `json:"text,omitempty"`
	Shown    string                    `json:"displayed_text,omitempty"` // potato's Text of what was judged
	Audio    string                    `json:"audio,omitempty"`
	Truth    string                    `json:"truth,omitempty"`
	Time     string                    `json:"time,omitempty"`
	Labels   map[string]map[string]any `json:"label_annotations,omitempty"`
}

// potatoFile is what potato calls an annotator's file; its folder has the annotator's
// name.
const potatoFile = "annotated_instances.jsonl"

// potato reads instances, one a line. An id may end in ":text" or ":audio".
func (b *builder) potato(text []byte) {
	at := 0
	for line := range bytes.Lines(text) {
		at++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var p potatoLine
		if err := json.Unmarshal(line, &p); err != nil {
			b.problem(at, "it is no instance of potato: %v", err)
			continue
		}
		b.potatoLine(at, p)
	}
}

func (b *builder) potatoLine(at int, p potatoLine) {
	name := string(p.ID)
	if name == "" {
		name = string(p.Instance)
	}
	said := ""
	for _, m := range []Modality{Text, Audio} {
		if item, ok := strings.CutSuffix(name, ":"+string(m)); ok {
			name, said = item, string(m)
			break
		}
	}
	modality, ok := b.modalityOf(at, said, p.Audio != "")
	if !ok {
		return
	}
	key, ok := b.item(at, modality, name)
	if !ok {
		return
	}
	if !b.items[key] {
		b.addItem(key)
	}
	b.truth(at, key.item, p.Truth)
	b.shown(key.item, Shown{Text: cmp.Or(p.Text, p.Shown), Audio: p.Audio})
	if len(p.Labels) > 0 {
		b.potatoVote(at, key, p)
	}
}

func (b *builder) potatoVote(at int, key itemKey, p potatoLine) {
	user := strings.TrimSpace(string(p.User))
	if folder, file := filepath.Split(filepath.ToSlash(b.source.Name)); user == "" && file == potatoFile {
		user = filepath.Base(folder)
	}
	if user == "" {
		b.problem(at, "whose judgment it is is not known: use a user_id in each line, or the name USER/%s", potatoFile)
		return
	}
	if !b.annotator(at, user) {
		return
	}
	label, ok := b.potatoAnswer(at, p.Labels)
	if !ok {
		return
	}
	vote := Annotation{Item: key.item, Modality: key.modality, Annotator: user, Label: label}
	if p.Time != "" {
		var err error
		if vote.Time, err = time.Parse(time.RFC3339, p.Time); err != nil {
			b.problem(at, "the time %s is not as in RFC 3339", quote(p.Time))
			return
		}
	}
	b.vote(at, vote)
}

// potatoAnswer is the label that was chosen of the question "label", or of the only one.
func (b *builder) potatoAnswer(at int, questions map[string]map[string]any) (Label, bool) {
	var names []string
	for question, answers := range questions {
		if question != labelName && len(questions) > 1 {
			continue
		}
		for name, value := range answers {
			if chosen(value) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	if len(names) != 1 {
		b.problem(at, "%d labels are chosen; want one of the question %s, or of the only one", len(names), labelName)
		return "", false
	}
	label, err := ParseLabel(names[0])
	if err != nil {
		b.problem(at, "%v", err)
	}
	return label, err == nil
}

// writePotato writes a line for each vote, and for each item without one the instance
// to judge.
func (s Set) writePotato(w io.Writer, modalities []Modality, how Writing) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for _, m := range modalities {
		for _, t := range s.tasks(m) {
			line := potatoLine{ID: jsonName(t.item + ":" + string(m))}
			if m == Text {
				line.Text = t.shown.Text
			} else {
				line.Audio = t.audioOf(how.AudioBase)
			}
			if how.Truth {
				line.Truth = string(t.truth)
			}
			if len(t.votes) == 0 {
				if err := encoder.Encode(line); err != nil {
					return err
				}
			}
			for _, v := range t.votes {
				line.User = jsonName(v.Annotator)
				line.Labels = map[string]map[string]any{labelName: {string(v.Label): "true"}}
				line.Time = ""
				if !v.Time.IsZero() {
					line.Time = v.Time.Format(time.RFC3339Nano)
				}
				if err := encoder.Encode(line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// chosen reports whether a potato value means that its label was chosen: potato writes
// true, "true" or the label's number, from 1.
func chosen(value any) bool {
	switch v := value.(type) {
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return v != "" && !strings.EqualFold(v, "false") && (err != nil || n != 0)
	}
	return false
}
