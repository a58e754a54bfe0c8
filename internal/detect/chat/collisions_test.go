package chat_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// coarse cuts text where few tokenizers do, so that almost every spelling shares
// tokens with others in every form: a space alone, then pairs of characters.
func coarse(text string) []string {
	var out []string
	if rest, ok := strings.CutPrefix(text, " "); ok {
		out, text = append(out, " "), rest
	}
	for len(text) > 0 {
		n := min(2, len(text))
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// fine cuts every character off, so that even more is shared.
func fine(text string) []string { return strings.Split(text, "") }

// speller is a server whose model says whole spellings only, each with its own
// probability, token by token.
type speller struct {
	weights map[string]float64 // of the spellings; they add up to 1
	cut     func(string) []string
}

func (s speller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	said := ""
	if last := request.Messages[len(request.Messages)-1]; last.Role == "assistant" {
		_ = json.Unmarshal(last.Content, &said) // a string
	}
	next, total := map[string]float64{}, 0.0
	for text, weight := range s.weights {
		tokens := s.cut(text)
		for n := range tokens {
			if strings.Join(tokens[:n], "") == said {
				next[tokens[n]] += weight
				total += weight
			}
		}
	}
	var top []map[string]any
	for token, weight := range next {
		top = append(top, map[string]any{"token": token, "bytes": []byte(nil), "logprob": math.Log(weight / total)})
	}
	entry := map[string]any{"token": top[0]["token"], "logprob": top[0]["logprob"], "top_logprobs": top}
	choice := map[string]any{"message": map[string]any{"content": said}, "logprobs": map[string]any{"content": []any{entry}}}
	_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{choice}}) // a test that gets less fails
}

// Whatever spellings share, in either form, every option gets exactly its own
// probability: that of all its spellings which the rules count.
func TestSharedTokensInEveryForm(t *testing.T) {
	for name, cut := range map[string]func(string) []string{"coarse": coarse, "fine": fine} {
		for _, rules := range []vote.Rules{vote.Paper(), vote.Released()} {
			t.Run(name+"/"+string(rules.TacticForms), func(t *testing.T) {
				server := speller{weights: map[string]float64{}, cut: cut}
				pieces := map[string][]string{}
				want := make([]float64, len(tactic.Options()))
				total := 0.0
				for i, option := range tactic.Options() {
					// The model knows all forms, whichever are counted.
					for k, form := range vote.Released().Forms(option) {
						weight := float64(1+(5*i+3*k)%11) / float64(1+k)
						server.weights[form] = weight
						total += weight
						if slices.Contains(rules.Forms(option), form) {
							pieces[form] = cut(form)
							want[i] += weight
						}
					}
				}
				for form := range server.weights {
					server.weights[form] /= total
				}
				shared := 0
				first := map[string]int{}
				for _, tokens := range pieces {
					first[tokens[0]]++
				}
				for _, n := range first {
					if n > 1 {
						shared += n
					}
				}
				if shared < 2 {
					t.Fatalf("only %d spellings share their first token", shared)
				}
				h := httptest.NewServer(server)
				t.Cleanup(h.Close)
				caps := chat.Capabilities{
					Dialect: chat.Llama, Model: "speller", Logprobs: true, TopLogprobs: 1000, Prefill: "trailing assistant message", Pieces: pieces,
				}
				d := newDetector(t, h.URL, func(c *chat.Config) { c.Rules, c.Capabilities = rules, &caps })
				scores, err := d.ScoreTactics(t.Context(), textItem("x"))
				if err != nil {
					t.Fatal(err)
				}
				for i, option := range tactic.Options() {
					checkMass(t, string(option), scores.Masses[i], want[i]/total)
				}
			})
		}
	}
}
