package chat

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// refusal is an answer other than 200.
type refusal struct {
	status        int
	kind, message string
	extra         map[string]any // further fields of the error
	dies          bool           // the process ends instead of answering
}

// ask is a request as it was understood.
type ask struct {
	prompt       Prompt
	prefill      string
	promptTokens int
	sampling     sampling
	seed         int64
	maxTokens    int
	logprobs     bool
	top          int
}

// body is the fields that a request may have; others are accepted and ignored,
// as both servers do.
type body struct {
	Model       string
	Messages    []struct{ Role, Content json.RawMessage }
	Temperature *float64
	TopP        *float64 `json:"top_p"`
	TopK        *int     `json:"top_k"`
	MinP        *float64 `json:"min_p"`
	Seed        *int64
	MaxTokens   *int `json:"max_tokens"`
	Logprobs    bool
	TopLogprobs *int `json:"top_logprobs"`
	N           *int

	Samplers []string
	Grammar  string
	Schema   json.RawMessage       `json:"json_schema"`
	Format   struct{ Type string } `json:"response_format"`

	StructuredOutputs *struct {
		Choice []string
	} `json:"structured_outputs"`
	ContinueFinal bool  `json:"continue_final_message"`
	AddGeneration *bool `json:"add_generation_prompt"`
}

// read understands a request or says why not.
func (s *Server) read(data []byte) (ask, *refusal) {
	llama := s.options.Dialect == Llama
	bad := func(format string, args ...any) (ask, *refusal) {
		kind := "BadRequestError"
		if llama {
			kind = "invalid_request_error"
		}
		return ask{}, &refusal{status: http.StatusBadRequest, kind: kind, message: fmt.Sprintf(format, args...)}
	}
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		if llama && !json.Valid(data) {
			return ask{}, &refusal{status: http.StatusInternalServerError, kind: "server_error", message: "[json.exception.parse_error.101] parse error: " + err.Error()}
		}
		return bad("[json.exception.type_error.302] %v", err)
	}
	if !bytes.Contains(data, []byte(`"messages"`)) {
		return bad("'messages' is required")
	}
	if !llama && b.Model != s.options.Model {
		return ask{}, &refusal{status: http.StatusNotFound, kind: "NotFoundError", message: fmt.Sprintf("The model `%s` does not exist.", b.Model)}
	}
	if n := value(b.N, 1); n < 1 || llama && n > s.options.Slots {
		return bad("Field 'n': Value must be between 1 <= value <= %d, but got %d", s.options.Slots, n)
	}
	if max := value(b.MaxTokens, 16); max < -1 {
		return bad("Field 'max_tokens': Value must be between -1 <= value <= 2147483647, but got %d", max)
	}
	a := ask{seed: value(b.Seed, 0), maxTokens: max(value(b.MaxTokens, 64), 1)}
	if refused := s.readLogprobs(b, &a); refused != nil {
		return ask{}, refused
	}
	if refused := s.readSampling(b, &a); refused != nil {
		return ask{}, refused
	}
	if refused := s.readMessages(b, &a); refused != nil {
		return ask{}, refused
	}
	if a.promptTokens+1 > s.options.Context {
		return ask{}, s.tooLong(a.promptTokens)
	}
	a.prompt.Generated, a.prompt.maxTokens = a.prefill, a.maxTokens
	return a, nil
}

func value[T any](pointer *T, otherwise T) T {
	if pointer == nil {
		return otherwise
	}
	return *pointer
}

func (s *Server) tooLong(tokens int) *refusal {
	if s.options.Dialect == Llama {
		return &refusal{
			status: http.StatusBadRequest, kind: "exceed_context_size_error",
			message: fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", tokens, s.options.Context),
			extra:   map[string]any{"n_prompt_tokens": tokens, "n_ctx": s.options.Context},
		}
	}
	return &refusal{
		status: http.StatusBadRequest, kind: "BadRequestError",
		message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your request has %d input tokens.", s.options.Context, tokens),
	}
}

func (s *Server) readLogprobs(b body, a *ask) *refusal {
	llama := s.options.Dialect == Llama
	a.logprobs, a.top = b.Logprobs && !s.options.NoLogprobs, value(b.TopLogprobs, 0)
	switch {
	case b.TopLogprobs != nil && !b.Logprobs:
		kind := "BadRequestError"
		if llama {
			kind = "invalid_request_error"
		}
		return &refusal{status: http.StatusBadRequest, kind: kind, message: "top_logprobs requires logprobs to be set to true"}
	case llama:
		a.top = value(b.TopLogprobs, 20)
		a.logprobs = a.logprobs && a.top > 0 // 0 and -1 drop logprobs altogether
	case a.top > s.options.MaxLogprobs:
		return &refusal{
			status: http.StatusBadRequest, kind: "BadRequestError",
			message: fmt.Sprintf("Requested sample logprobs of %d, which is greater than max allowed: %d", a.top, s.options.MaxLogprobs),
		}
	}
	return nil
}

// alternative is one word of a grammar of words.
var alternative = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"$`)

func (s *Server) readSampling(b body, a *ask) *refusal {
	a.sampling = sampling{
		order: vllmOrder, temperature: value(b.Temperature, 1), topP: value(b.TopP, 1), topK: value(b.TopK, 0), minP: value(b.MinP, 0),
	}
	switch s.options.Dialect {
	case Llama:
		a.sampling.order, a.sampling.rejects = llamaOrder, true
		a.sampling.temperature, a.sampling.topP = value(b.Temperature, 0.8), value(b.TopP, 0.95)
		a.sampling.topK, a.sampling.minP = value(b.TopK, 40), value(b.MinP, 0.05)
		if b.Samplers != nil {
			a.sampling.order = b.Samplers
		}
		if refused := b.readGrammar(a); refused != nil {
			return refused
		}
	case VLLM:
		if b.TopP != nil && (*b.TopP <= 0 || *b.TopP > 1) {
			return &refusal{status: http.StatusBadRequest, kind: "BadRequestError", message: fmt.Sprintf("top_p must be in (0, 1], got %v.", *b.TopP)}
		}
		if b.StructuredOutputs != nil {
			a.sampling.choices, a.sampling.logprobsAfterMask = b.StructuredOutputs.Choice, true
		}
	}
	if s.options.ConstraintIgnored {
		a.sampling.choices = nil
	}
	return nil
}

// readGrammar reads a grammar of words; an empty one is allowed too. Schemas are
// checked for what is refused, and not applied.
func (b body) readGrammar(a *ask) *refusal {
	switch b.Format.Type {
	case "", "text", "json_object", "json_schema":
	default:
		return &refusal{
			status: http.StatusBadRequest, kind: "invalid_request_error",
			message: fmt.Sprintf(`response_format type must be one of "text" or "json_object", but got: %s`, b.Format.Type),
		}
	}
	switch {
	case b.Grammar == "":
		return nil
	case len(b.Schema) > 0:
		return &refusal{status: http.StatusInternalServerError, kind: "server_error", message: "Cannot use both json_schema and grammar"}
	}
	rule, ok := strings.CutPrefix(b.Grammar, "root ::= ")
	for _, word := range strings.Split(rule, " | ") {
		m := alternative.FindStringSubmatch(word)
		if m == nil && word != "" {
			ok = false
			continue
		}
		text := ""
		if m != nil {
			text = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(m[1])
		}
		a.sampling.choices = append(a.sampling.choices, text)
	}
	if !ok {
		return &refusal{status: http.StatusBadRequest, kind: "invalid_request_error", message: "Failed to initialize samplers: failed to parse grammar"}
	}
	return nil
}

// part is one piece of a message.
type part struct {
	Type, Text string
	InputAudio struct{ Data, URL string } `json:"input_audio"`
}

func (s *Server) readMessages(b body, a *ask) *refusal {
	llama := s.options.Dialect == Llama
	bad := func(status int, message string) *refusal {
		kind := "BadRequestError"
		if llama {
			kind = map[int]string{400: "invalid_request_error", 500: "server_error"}[status]
		}
		return &refusal{status: status, kind: kind, message: message}
	}
	var text []string
	digest := sha256.New()
	a.promptTokens = 3
	for i, m := range b.Messages {
		var role, content string
		var parts []part
		if json.Unmarshal(m.Role, &role) != nil {
			return bad(400, "'role' must be a string")
		}
		if json.Unmarshal(m.Content, &content) == nil {
			parts = []part{{Type: "text", Text: content}}
		} else if json.Unmarshal(m.Content, &parts) != nil {
			return bad(400, "Expected 'content' to be a string or an array")
		}
		a.promptTokens += 4
		for _, p := range parts {
			switch p.Type {
			case "text":
				a.promptTokens += len(tokenize(p.Text))
				text = append(text, role+": "+p.Text)
				if role == "user" {
					a.prompt.Question = p.Text
				}
			case "input_audio":
				if refused := s.readAudio(p, a, digest.Write, bad); refused != nil {
					return refused
				}
			case "image_url":
				return bad(map[bool]int{true: 500, false: 400}[llama], "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj")
			default:
				return bad(400, "unsupported content[].type")
			}
		}
		last := i == len(b.Messages)-1
		continues := llama || s.options.Dialect == VLLM && b.ContinueFinal && !value(b.AddGeneration, true)
		if role == "assistant" && last && continues {
			a.prefill = content
			text = text[:len(text)-1]
		}
		if llama && role == "assistant" && last && i > 0 && slices.Equal(b.Messages[i-1].Role, m.Role) {
			return bad(400, "Cannot have 2 or more assistant messages at the end of the list.")
		}
	}
	a.prompt.Text = strings.Join(text, "\n")
	a.prompt.audio = hex.EncodeToString(digest.Sum(nil))
	return nil
}
