package chat

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// Prompt is what the model was given and has said so far.
type Prompt struct {
	Text      string  // all messages
	Question  string  // the last user message's last text
	Generated string  // what the answer has by now, its given beginning included
	Clips     int     // as many as were sent
	Seconds   float64 // of all clips, as far as they were heard

	audio     string // digest
	maxTokens int
}

// logits returns the score of every token of the vocabulary: a pure function of
// the seed and the prompt. Answers that the question names are likely, the rest
// is noise; what is written or heard shifts everything.
func (s *Server) logits(p Prompt) []float64 {
	if s.options.Script != nil {
		if scripted := s.options.Script(p); scripted != nil {
			return script(scripted)
		}
	}
	out := make([]float64, len(vocabulary))
	digest := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s", s.options.Seed, p.Text, p.audio))
	key := string(digest[:])
	for i, t := range vocabulary {
		out[i] = 6*uniform(key+p.Generated+"\x00"+t.text) - 6
	}
	last := len(vocabulary) - 1
	out[last] = -8
	for _, answer := range answers(p) {
		for _, form := range forms(answer) {
			if form.text == p.Generated {
				out[last] += 20
			}
			if !strings.HasPrefix(form.text, p.Generated) || form.text == p.Generated {
				continue
			}
			next := tokenize(form.text[len(p.Generated):])[0]
			for i, t := range vocabulary {
				if t.text == next.text && t.text != "" {
					// Forms of one answer that go on in the same way are one path.
					out[i] = max(out[i], form.bonus+4*uniform(key+form.text))
				}
			}
		}
	}
	return out
}

// script gives named tokens their logits and all others almost none.
func script(named map[string]float64) []float64 {
	out := make([]float64, len(vocabulary))
	for i, t := range vocabulary {
		out[i] = -30 - float64(i)/100
		if logit, ok := named[t.text]; ok {
			out[i] = logit
		}
	}
	return out
}

type form struct {
	text  string
	bonus float64
}

// forms returns an answer's spellings: as it is asked for, and the less likely.
func forms(answer string) []form {
	lower := strings.ToLower(answer)
	return []form{{answer, 4}, {" " + answer, 1}, {lower, 0}, {" " + lower, -1}}
}

var (
	letterLine = regexp.MustCompile(`(?m)^\(([A-Z])\) `)
	listLine   = regexp.MustCompile(`(?m)^- (.+)$`)
)

// What it quotes and thinks where the question names no answers.
var (
	quotes   = []string{"you never do well", "I know what is good", "please do it now", "none"}
	thoughts = []string{"They want it all now.", "I think you feel sorry.", "You never see what is right."}
)

// answers returns what the question suggests.
func answers(p Prompt) []string {
	var out []string
	for _, pattern := range []*regexp.Regexp{letterLine, listLine} {
		for _, m := range pattern.FindAllStringSubmatch(p.Question, -1) {
			out = append(out, m[1])
		}
	}
	switch lower := strings.ToLower(p.Question); {
	case len(out) > 0:
		return out
	case strings.Contains(p.Question, "YES or NO"):
		return []string{"YES", "NO"}
	case strings.Contains(lower, "quote"), strings.Contains(lower, "word for word"):
		return quotes
	case p.maxTokens > 100:
		return thoughts
	case strings.Contains(lower, "hear"):
		return []string{"Silence", "Tone", "Beep", "Music", "Speech", "Noise", "Hum"}
	}
	return []string{"Hmm", "Oh"}
}

// uniform is a number in [0, 1) from text.
func uniform(text string) float64 {
	sum := sha256.Sum256([]byte(text))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// softmax returns probabilities; -Inf has none.
func softmax(logits []float64) []float64 {
	top := math.Inf(-1)
	for _, l := range logits {
		top = max(top, l)
	}
	out := make([]float64, len(logits))
	sum := 0.0
	for i, l := range logits {
		out[i] = math.Exp(l - top)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
