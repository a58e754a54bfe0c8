package chat

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

// pieces asks the server's tokenizer for the tokens of every option. Without
// one, options are matched by what the listed tokens begin.
func (p *probe) pieces(ctx context.Context) error {
	if !p.caps.Logprobs || p.caps.Dialect == Generic {
		return nil
	}
	pieces := map[string][]string{}
	for _, option := range tactic.Options() {
		for _, form := range p.d.config.Rules.Forms(option) {
			tokens, err := p.tokenize(ctx, form)
			if err != nil {
				return err
			}
			if strings.Join(tokens, "") != form {
				p.note("the tokenizer doesn't give %q back", form)
				return nil
			}
			pieces[form] = tokens
		}
	}
	p.caps.Pieces = pieces
	return nil
}

// tokenize returns the tokens of a text; none where there is no tokenizer.
func (p *probe) tokenize(ctx context.Context, text string) ([]string, error) {
	var body any = map[string]any{"content": text, "with_pieces": true}
	if p.caps.Dialect == VLLM {
		body = map[string]any{"model": p.caps.Model, "prompt": text, "add_special_tokens": false, "return_token_strs": true}
	}
	data, err := p.client.do(ctx, p.client.at("probe the chat server: tokenize"), http.MethodPost, "/tokenize", body)
	if lacks(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseTokens(data), nil
}

// parseTokens reads llama-server's pieces and vLLM's token strings.
func parseTokens(data []byte) []string {
	var llama struct {
		Tokens []struct {
			Piece string `json:"piece"`
		} `json:"tokens"`
	}
	var out []string
	if json.Unmarshal(data, &llama) == nil {
		for _, t := range llama.Tokens {
			out = append(out, t.Piece)
		}
		return out
	}
	var vllm struct {
		Strings []string `json:"token_strs"`
	}
	if json.Unmarshal(data, &vllm) != nil {
		return nil
	}
	for _, s := range vllm.Strings { // vocabularies write a leading space as one of these
		out = append(out, strings.NewReplacer("Ġ", " ", "▁", " ").Replace(s))
	}
	return out
}
