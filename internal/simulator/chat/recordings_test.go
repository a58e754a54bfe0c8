package chat

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// exchange is one recorded exchange of a real llama-server.
type exchange struct {
	Server  string // its command line
	Request struct {
		Method, Path, Body string
		Headers            map[string]string
	}
	Response struct {
		Status int
		Body   string
	}
}

// recordings reads all recorded exchanges by name; without them the test is
// skipped.
func recordings(t *testing.T) map[string]exchange {
	t.Helper()
	root, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil {
			break
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod above this package")
		}
		root = filepath.Dir(root)
	}
	files, err := filepath.Glob(filepath.Join(root, "..", "shared", "data", "recordings", "llama-server", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("the recordings of llama-server are not there")
	}
	out := map[string]exchange{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var e exchange
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = e
	}
	return out
}

// beyond is what the simulated server does not do, and why it needn't.
var beyond = []struct{ pattern, why string }{
	{`apply_template|_apply$`, "the template is the real model's"},
	{`05f_|05g_|06v_`, "no client here streams"},
	{`05q_`, "the server's own protocol"},
	{`06D2_|07e_|07f_|07v_|07w_|07x_`, "paths that no client here asks for"},
	{`post|10j2_|10j3_|10k_`, "probabilities after the samplers: the detector reads the raw ones"},
	{`02e_|02f_|02g_|02h_|02k_`, "constraints by a JSON schema: the detector uses grammars"},
	{`01m_|01n_|06y_|10o_`, "biases and stop words"},
	{`03p_`, "other formats than WAV"},
	{`08b_`, "several answers at once"},
	{`10q_`, "another name for logprobs"},
	{`01l_`, "the tokens' ids"},
}

func outOfScope(name string) bool {
	for _, b := range beyond {
		if regexp.MustCompile(b.pattern).MatchString(name) {
			return true
		}
	}
	return false
}

// as returns the options of the server that was recorded.
func as(e exchange) Options {
	o := Options{Dialect: Llama, Model: "tiny", NoAudio: !strings.Contains(e.Server, "-mm "), Context: 4096}
	words := strings.Fields(e.Server)
	for i, word := range words[:max(len(words)-1, 0)] {
		switch n, _ := strconv.Atoi(words[i+1]); word {
		case "-c":
			o.Context = n
		case "-np":
			o.Slots = n
		case "--api-key":
			o.APIKey = words[i+1]
		}
	}
	if strings.Contains(e.Response.Body, "Loading model") {
		o.Loading = 1
	}
	return o
}

var trimmed = regexp.MustCompile(`([^"]*)\.\.\.\[trimmed: (\d+) characters, sha256 of the whole string [0-9a-f]+\]`)

// restore gives trimmed texts and clips their length again: the clips' samples
// are not in the recordings.
func restore(t *testing.T, body string) string {
	t.Helper()
	return trimmed.ReplaceAllStringFunc(body, func(whole string) string {
		m := trimmed.FindStringSubmatch(whole)
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		start := m[1]
		uri := ""
		if i := strings.Index(start, ";base64,"); i >= 0 {
			uri, start = start[:i+8], start[i+8:]
		}
		head, err := base64.StdEncoding.DecodeString(start[:len(start)/4*4])
		if err != nil || len(head) < 8 || string(head[:4]) != "RIFF" {
			return strings.Repeat(start, 1+n/len(start))[:n]
		}
		if len(head) < 44 { // cut inside the header: the usual one goes on
			usual := binary.LittleEndian.AppendUint32([]byte("WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data"), binary.LittleEndian.Uint32(head[4:])-36)
			head = append(head, usual[len(head)-8:]...)
		}
		head = head[:44]
		data := make([]byte, binary.LittleEndian.Uint32(head[40:]))
		// What could not be decoded to its end was not whole in the first place.
		data = data[:min(len(data), (n-len(uri))/4*3-44)]
		for i := range data {
			data[i] = m[2][i%len(m[2])]
		}
		return uri + base64.StdEncoding.EncodeToString(append(head, data...))
	})
}

// shape lists the paths of a JSON value with the kinds of their values; arrays
// count as their first element.
func shape(prefix string, value any, out map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			shape(prefix+"."+name, inner, out)
		}
	case []any:
		out[prefix] = "array"
		if len(v) > 0 {
			shape(prefix+"[]", v[0], out)
		}
	default:
		out[prefix] = fmt.Sprintf("%T", value)
	}
}

// unread is what of a real answer no client of this project reads: the simulated
// server leaves it out.
var unread = regexp.MustCompile(`^\.(timings|models|default_generation_settings\.params|ui|chat_template|cors)|^\.data\[\]\.aliases\[\]|\.bytes\[\]$`)

// Requests that a real llama-server was sent get the same status, and answers in
// the same form: what the real one lacks, the simulated one must not have.
func TestAsRecorded(t *testing.T) {
	compared, left := 0, 0
	for name, e := range recordings(t) {
		if outOfScope(name) {
			left++
			continue
		}
		compared++
		t.Run(name, func(t *testing.T) {
			status, got := send(t, New(as(e)), e.Request.Method, e.Request.Path, restore(t, e.Request.Body), e.Request.Headers)
			if status != e.Response.Status {
				t.Fatalf("status %d, recorded %d; %v", status, e.Response.Status, got)
			}
			if status == 0 {
				return // both broke off
			}
			var real map[string]any
			if err := json.Unmarshal([]byte(e.Response.Body), &real); err != nil {
				t.Fatal(err)
			}
			compareShapes(t, got, real)
			for _, field := range []string{"type", "code"} {
				if a, b := errorField(got, field), errorField(real, field); a != b {
					t.Errorf("error %s %v, recorded %v", field, a, b)
				}
			}
			if strings.HasSuffix(e.Request.Path, "/chat/completions") && status == 200 {
				for who, reply := range map[string]map[string]any{"simulated": got, "recorded": real} {
					checkCompletion(t, who, e.Request.Body, reply)
				}
			}
		})
	}
	t.Logf("%d exchanges compared, %d out of scope", compared, left)
	if compared < 190 {
		t.Errorf("only %d exchanges compared", compared)
	}
}

func compareShapes(t *testing.T, got, real map[string]any) {
	t.Helper()
	ours, theirs := map[string]string{}, map[string]string{}
	shape("", got, ours)
	shape("", real, theirs)
	for _, path := range slices.Sorted(maps.Keys(ours)) {
		if want, ok := theirs[path]; (!ok || want != ours[path]) && !unread.MatchString(path) {
			t.Errorf("%s is %s, recorded %q", path, ours[path], want)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(theirs)) {
		if _, ok := ours[path]; !ok && !unread.MatchString(path) {
			t.Errorf("%s (%s) is missing", path, theirs[path])
		}
	}
}

func errorField(reply map[string]any, field string) any {
	if inner, ok := reply["error"].(map[string]any); ok {
		return inner[field]
	}
	return nil
}

// checkCompletion checks what holds for every answer of a llama-server, real or
// not, whatever the model says.
func checkCompletion(t *testing.T, who, body string, reply map[string]any) {
	t.Helper()
	var asked struct {
		MaxTokens *int `json:"max_tokens"`
		Top       *int `json:"top_logprobs"`
		Grammar   string
		Messages  []struct {
			Role    string
			Content any
		}
	}
	if json.Unmarshal([]byte(body), &asked) != nil {
		t.Fatalf("%s: the request is not readable", who)
	}
	data, err := json.Marshal(reply)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Choices []struct {
			Finish   string `json:"finish_reason"`
			Message  struct{ Content string }
			Logprobs struct {
				Content []struct {
					ID      int
					Token   string
					Logprob float64
					Top     []struct{ Logprob float64 } `json:"top_logprobs"`
				}
			}
		}
		Usage struct {
			Completion int `json:"completion_tokens"`
			Prompt     int `json:"prompt_tokens"`
			Total      int `json:"total_tokens"`
		}
	}
	if err := json.Unmarshal(data, &c); err != nil || len(c.Choices) != 1 {
		t.Fatalf("%s: %v, %d choices", who, err, len(c.Choices))
	}
	choice, entries := c.Choices[0], c.Choices[0].Logprobs.Content
	if c.Usage.Total != c.Usage.Prompt+c.Usage.Completion || c.Usage.Completion < 1 {
		t.Errorf("%s: usage %+v", who, c.Usage)
	}
	switch {
	case asked.MaxTokens != nil && *asked.MaxTokens > 0 && c.Usage.Completion > *asked.MaxTokens:
		t.Errorf("%s: %d tokens, at most %d were asked for", who, c.Usage.Completion, *asked.MaxTokens)
	case choice.Finish == "length" && asked.MaxTokens != nil && c.Usage.Completion != max(*asked.MaxTokens, 1):
		t.Errorf("%s: ends by its length with %d tokens of %d", who, c.Usage.Completion, *asked.MaxTokens)
	case choice.Finish != "length" && choice.Finish != "stop":
		t.Errorf("%s: finish %q", who, choice.Finish)
	}
	if len(entries) > c.Usage.Completion {
		t.Errorf("%s: %d entries for %d tokens", who, len(entries), c.Usage.Completion)
	}
	// Under a grammar the end is an entry of its own, and is counted.
	if n := len(entries); asked.Grammar != "" && n > 0 && (choice.Finish == "stop") != (entries[n-1].Token == "") {
		t.Errorf("%s: finish %q, the last entry is %q", who, choice.Finish, entries[n-1].Token)
	}
	for _, e := range entries {
		if asked.Top != nil && len(e.Top) > *asked.Top {
			t.Errorf("%s: %d candidates, %d were asked for", who, len(e.Top), *asked.Top)
		}
		for i, candidate := range e.Top {
			if candidate.Logprob > 0 || i > 0 && candidate.Logprob > e.Top[i-1].Logprob {
				t.Errorf("%s: candidate %d has %v after %v", who, i, candidate.Logprob, e.Top[i-1].Logprob)
			}
		}
	}
	if n := len(asked.Messages); n > 0 && asked.Messages[n-1].Role == "assistant" {
		if begun, ok := asked.Messages[n-1].Content.(string); ok && !strings.HasPrefix(choice.Message.Content, strings.TrimSpace(begun)) {
			t.Errorf("%s: %q doesn't go on from %q", who, choice.Message.Content, begun)
		}
	}
}

var clipData = regexp.MustCompile(`"(data|url)": "[^"]*"`)

// Requests with the same words and other clips differ by as many prompt tokens
// as they did at the real server.
func TestAudioTokensAsRecorded(t *testing.T) {
	type counts struct{ ours, theirs int }
	first := map[string]counts{}
	pairs := 0
	all := recordings(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e := all[name]
		if outOfScope(name) || e.Response.Status != 200 || !strings.HasSuffix(e.Request.Path, "/chat/completions") {
			continue
		}
		var asked struct{ Messages json.RawMessage }
		var real struct {
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			}
		}
		if json.Unmarshal([]byte(e.Request.Body), &asked) != nil || json.Unmarshal([]byte(e.Response.Body), &real) != nil {
			t.Fatalf("%s is not readable", name)
		}
		words := clipData.ReplaceAllString(string(asked.Messages), "")
		o := as(e)
		o.APIKey = ""
		got := counts{promptTokens(t, New(o), restore(t, e.Request.Body)), real.Usage.Prompt}
		if before, ok := first[words]; !ok {
			first[words] = got
		} else if pairs++; got.ours-before.ours != got.theirs-before.theirs {
			t.Errorf("%s: %d more tokens, recorded %d", name, got.ours-before.ours, got.theirs-before.theirs)
		}
	}
	if pairs < 60 {
		t.Errorf("only %d pairs", pairs)
	}
}

// The tokens of every option are those of the real vocabulary.
func TestTokensAsRecorded(t *testing.T) {
	all, n := recordings(t), 0
	for name, e := range all {
		text, ok := strings.CutPrefix(name, "07t_tokenize_")
		if !ok {
			continue
		}
		n++
		var real struct {
			Tokens []struct {
				ID    int
				Piece string
			}
		}
		if err := json.Unmarshal([]byte(e.Response.Body), &real); err != nil {
			t.Fatal(err)
		}
		got := tokenize(strings.ReplaceAll(text, "_", " "))
		same := slices.EqualFunc(got, real.Tokens, func(a token, b struct {
			ID    int
			Piece string
		}) bool {
			return a.id == b.ID && a.text == b.Piece
		})
		if !same {
			t.Errorf("%q: %v, recorded %v", text, got, real.Tokens)
		}
	}
	if n < 30 {
		t.Errorf("only %d texts", n)
	}
}
