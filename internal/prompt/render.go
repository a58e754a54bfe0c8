package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Clip says which recording a part stands for: exemplar 1, 2, ... or Target.
type Clip int

// The clips that are no exemplar's.
const (
	NoClip Clip = 0
	Target Clip = -1
)

// Part is one piece of a message: text, or a recording in its place.
type Part struct {
	Text string `json:"text,omitempty"`
	Clip Clip   `json:"clip,omitempty"`
}

// Role is who says a message.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of a prompt.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Exemplar is a solved dialogue. What it shows of itself is decided before, by
// vote.Rules.Shown; Turns are used where the input isn't audio.
type Exemplar struct {
	vote.Exemplar
	Turns []dialogue.Turn `json:"turns"`
}

// Request is what to ask.
type Request struct {
	Stage     Stage
	Input     Input
	Order     Order         // "" is AB
	Exemplars []Exemplar    // of strategies that show some
	Text      string        // the target's text; see Lines
	Tactic    tactic.Tactic // what a quote shall show; "" and none name nothing
	Reasoning string        // what the model wrote at stage Reason
}

// Render returns the messages of a request, a system message first. Everything
// up to the target is the same for all items, everything up to the question the
// same for all stages of one item, so that a server can reuse its prefix. The
// error says what the request lacks.
func (s Strategy) Render(r Request) ([]Message, error) {
	if r.Order == "" {
		r.Order = AB
	}
	if err := r.Order.Validate(); err != nil {
		return nil, err
	}
	if len(r.Exemplars) < s.Exemplars {
		return nil, fmt.Errorf("prompt strategy %s shows %d exemplars, %d are given", s.Name, s.Exemplars, len(r.Exemplars))
	}
	question, err := s.question(r)
	if err != nil {
		return nil, err
	}
	system := text("system")
	if s.Definitions {
		system += "\n\n" + text("definitions")
	}
	prefix := append(s.examples(r), target(r)...)
	messages := []Message{{System, []Part{{Text: system}}}}
	if r.Reasoning == "" || !s.Reasons || r.Stage == Reason {
		return append(messages, Message{User, append(prefix, Part{Text: question})}), nil
	}
	return append(messages,
		Message{User, append(prefix, Part{Text: text("reason-" + s.Name)})},
		Message{Assistant, []Part{{Text: plain(r.Reasoning)}}},
		Message{User, []Part{{Text: question}}},
	), nil
}

func (s Strategy) question(r Request) (string, error) {
	switch r.Stage {
	case Reason:
		if !s.Reasons {
			return "", fmt.Errorf("prompt strategy %s has no stage %q", s.Name, Reason)
		}
		return text("reason-" + s.Name), nil
	case Decide:
		a, b := "YES", "NO"
		if r.Order == BA {
			a, b = b, a
		}
		return strings.NewReplacer("{A}", a, "{B}", b).Replace(text("decide")), nil
	case Verbalize:
		return text("verbalize"), nil
	case Tactic:
		var options []string
		for _, t := range tactic.Options() {
			options = append(options, "- "+string(t))
		}
		return strings.ReplaceAll(text("tactic"), "{OPTIONS}", strings.Join(options, "\n")), nil
	case Quote, QuoteRetry:
		named := ""
		if r.Tactic != "" && r.Tactic != tactic.None {
			named = " by the tactic " + string(r.Tactic)
		}
		return strings.ReplaceAll(text(string(r.Stage)), "{TACTIC}", named), nil
	default:
		return "", fmt.Errorf("unknown prompt stage %q: use one of %q", r.Stage, Stages())
	}
}

// examples returns the exemplars' parts.
func (s Strategy) examples(r Request) []Part {
	if s.Exemplars == 0 {
		return nil
	}
	parts := []Part{{Text: text("exemplars")}}
	for i, e := range r.Exemplars {
		title := fmt.Sprintf("Example %d of %d:", i+1, len(r.Exemplars))
		if r.Input == Audio {
			parts = append(parts, Part{Text: title}, Part{Clip: Clip(i + 1)}, Part{Text: e.solution()})
			continue
		}
		parts = append(parts, Part{Text: title + "\n" + Lines(e.Turns) + "\n" + e.solution()})
	}
	return parts
}

// solution is what an exemplar shows: its decision, and its tactic and quote
// where the rules show them.
func (e Exemplar) solution() string {
	out := "Manipulation: " + string(e.Vote)
	if e.Tactic != "" {
		out += "\nTactic: " + string(e.Tactic)
	}
	if e.Quote != "" {
		out += "\nQuote: " + plain(e.Quote)
	}
	return out
}

func target(r Request) []Part {
	intro := text("target-" + string(r.Input.known()))
	if r.Input == Audio {
		return []Part{{Text: intro}, {Clip: Target}}
	}
	return []Part{{Text: intro + "\n" + plain(r.Text)}}
}

func (i Input) known() Input {
	if i == Audio || i == Recognised {
		return i
	}
	return Written
}

// Lines returns turns as a model reads them: one a line, the speaker first.
func Lines(turns []dialogue.Turn) string {
	lines := make([]string, len(turns))
	for i, t := range turns {
		lines[i] = plain(string(t.Speaker) + ": " + t.Text)
	}
	return strings.Join(lines, "\n")
}

// plain takes the special meaning from what a dialogue or a model may hold:
// servers read <|im_end|> and their media markers as such wherever they stand.
func plain(s string) string {
	return strings.NewReplacer("<|", "< |", "<__", "< __").Replace(strings.ToValidUTF8(s, "\uFFFD"))
}

// Hash returns the hex SHA-256 of a rendered prompt.
func Hash(messages []Message) string { return hash(messages) }

// Fingerprint returns the hex SHA-256 of everything that the strategy may ask,
// whatever the item: a different one means different questions.
func (s Strategy) Fingerprint(order Order, exemplars []Exemplar) (string, error) {
	var all [][]Message
	for _, input := range []Input{Audio, Written, Recognised} {
		for _, stage := range Stages() {
			if stage == Reason && !s.Reasons {
				continue
			}
			request := Request{Stage: stage, Input: input, Order: order, Exemplars: exemplars, Text: "target", Tactic: tactic.Denial}
			if s.Reasons && (stage == Decide || stage == Verbalize) {
				request.Reasoning = "reasoning"
			}
			messages, err := s.Render(request)
			if err != nil {
				return "", err
			}
			all = append(all, messages)
		}
	}
	return hash(all), nil
}

func hash(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // plain strings and numbers: a programming error
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
