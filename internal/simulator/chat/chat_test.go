package chat

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/simulator/ledger"
	"github.com/speechmanip/speechmanip/internal/simulator/schedule"
)

// exchange is one recorded exchange of a real llama-server.
type exchange struct {
	Request  struct{ Method, Path, Body string }
	Response struct {
		Status int
		Body   string
	}
}

func recorded(t *testing.T, name string) exchange {
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
	data, err := os.ReadFile(filepath.Join(root, "..", "shared", "data", "recordings", "llama-server", name+".json"))
	if err != nil {
		t.Skip("the recordings of llama-server are not there")
	}
	var e exchange
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// send gives a server one request and returns its answer.
func send(t *testing.T, s *Server, method, path, body string) (int, map[string]any) {
	t.Helper()
	h := httptest.NewServer(s)
	defer h.Close()
	r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	var out map[string]any
	if err := json.NewDecoder(response.Body).Decode(&out); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return response.StatusCode, out
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

// Requests that a real llama-server was sent get the same status, and answers in
// the same form: what the real one lacks, the simulated one must not have.
func TestFormsAsRecorded(t *testing.T) {
	for _, name := range []string{
		"01a_logprobs", "01e_no_logprobs", "01f_logprobs_no_top", "01g_top_logprobs_0", "01h_top_logprobs_without_logprobs",
		"01k_temperature0", "02a_grammar", "02c_grammar_max1", "02d_grammar_bad", "02d3_grammar_undefined_rule", "02l_grammar_labels",
		"04a_prefill", "04d_prefill_grammar", "04i_two_assistants_end", "05d_n2", "06a_unknown_model", "06b_no_model",
		"06c_missing_messages", "06e_too_long", "06g_invalid_json", "06h_max_tokens_0", "06i_max_tokens_minus1_cut", "06k_top_logprobs_minus1",
		"06l_structured_outputs_ignored", "06n_unknown_field", "06o_wrong_type_temperature", "06p_bad_content_type_part", "06q_content_number",
		"06s_not_found", "06t_get_chat", "06w_top_p_out_of_range", "06x_seed_string", "06z_logprobs_int",
		"03za_empty_string", "03zb_wav_header_only", "03zd_missing_data", "03u_corrupt_base64_start", "03y_not_audio_text", "03q_audio_url_data",
		"07a_health", "07c_models", "07d_props", "07g_version_none", "07t_tokenize_Playing_Servant_Role",
	} {
		t.Run(name, func(t *testing.T) {
			e := recorded(t, name)
			if strings.Contains(e.Request.Body, "[trimmed: 30000") {
				e.Request.Body = strings.ReplaceAll(e.Request.Body, "word word", strings.Repeat("word ", 3000))
			}
			s := New(Options{Dialect: Llama, Model: "tiny", Slots: 1, Context: 4096})
			status, got := send(t, s, e.Request.Method, e.Request.Path, e.Request.Body)
			if status != e.Response.Status {
				t.Fatalf("status %d, recorded %d; %v", status, e.Response.Status, got)
			}
			var real map[string]any
			if err := json.Unmarshal([]byte(e.Response.Body), &real); err != nil {
				t.Fatal(err)
			}
			ours, theirs := map[string]string{}, map[string]string{}
			shape("", got, ours)
			shape("", real, theirs)
			for path, kind := range ours {
				if want, ok := theirs[path]; ok && want != kind || !ok && !strings.HasPrefix(path, ".timings") && kind != "array" {
					t.Errorf("%s is %s, recorded %q", path, kind, want)
				}
			}
			for path, kind := range theirs {
				// A simulator leaves out what no client of this project reads.
				optional := strings.HasPrefix(path, ".timings") || strings.HasPrefix(path, ".models") || strings.HasPrefix(path, ".default_generation_settings.params") ||
					strings.HasPrefix(path, ".ui") || strings.HasPrefix(path, ".chat_template") || strings.HasPrefix(path, ".cors") || path == ".data[].aliases[]"
				if _, ok := ours[path]; !ok && !optional {
					t.Errorf("%s (%s) is missing", path, kind)
				}
			}
			for _, field := range []string{"type", "code"} {
				if a, b := errorField(got, field), errorField(real, field); a != b {
					t.Errorf("error %s %v, recorded %v", field, a, b)
				}
			}
		})
	}
}

func errorField(reply map[string]any, field string) any {
	if inner, ok := reply["error"].(map[string]any); ok {
		return inner[field]
	}
	return nil
}

// Where real answers add an end entry or stop, so do these.
func TestGrammarAsRecorded(t *testing.T) {
	s := New(Options{Dialect: Llama, Model: "tiny"})
	for _, name := range []string{"02a_grammar", "02c_grammar_max1", "10n_max_tokens_absent_grammar"} {
		e := recorded(t, name)
		_, got := send(t, s, "POST", e.Request.Path, e.Request.Body)
		var real map[string]any
		if err := json.Unmarshal([]byte(e.Response.Body), &real); err != nil {
			t.Fatal(err)
		}
		for _, reply := range []map[string]any{got, real} {
			choice := reply["choices"].([]any)[0].(map[string]any)
			content := choice["logprobs"].(map[string]any)["content"].([]any)
			tokens := reply["usage"].(map[string]any)["completion_tokens"].(float64)
			stopped := choice["finish_reason"] == "stop"
			last := content[len(content)-1].(map[string]any)
			if int(tokens) != len(content) || stopped != (last["token"] == "") {
				t.Errorf("%s: %v tokens, %d entries, finish %v, last %q", name, tokens, len(content), choice["finish_reason"], last["token"])
			}
			if text := choice["message"].(map[string]any)["content"]; text != "A" && text != "B" {
				t.Errorf("%s: %v is neither letter", name, text)
			}
		}
	}
}

// The tokens of every option are those of the real vocabulary.
func TestTokensAsRecorded(t *testing.T) {
	for _, text := range []string{
		"A", "B", "_A", "_B", "YES", "_YES", "NO", "_NO", "Yes", "No", "yes", "no", "none", "_none", "Accusation", "_Accusation",
		"Brandishing_Anger", "_Brandishing_Anger", "Denial", "_Denial", "Evasion", "_Evasion", "Feigning_Innocence", "_Feigning_Innocence",
		"Intimidation", "_Intimidation", "Persuasion_or_Seduction", "_Persuasion_or_Seduction", "Playing_Servant_Role", "_Playing_Servant_Role",
		"Playing_Victim_Role", "_Playing_Victim_Role", "Rationalization", "_Rationalization", "Shaming_or_Belittlement", "_Shaming_or_Belittlement",
	} {
		var real struct {
			Tokens []struct {
				ID    int
				Piece string
			}
		}
		if err := json.Unmarshal([]byte(recorded(t, "07t_tokenize_"+text).Response.Body), &real); err != nil {
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
}

func wav(seconds float64, value int16) string {
	n := int(seconds * 16_000)
	var b bytes.Buffer
	b.WriteString("RIFF\xff\xff\xff\xffWAVEfmt ")
	for _, field := range []any{uint32(16), uint16(1), uint16(1), uint32(16_000), uint32(32_000), uint16(2), uint16(16)} {
		_ = binary.Write(&b, binary.LittleEndian, field) // into memory
	}
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, uint32(2*n))
	for range n {
		_ = binary.Write(&b, binary.LittleEndian, value)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func audioRequest(seconds float64, value int16) string {
	return fmt.Sprintf(`{"model":"simulated","max_tokens":1,"temperature":0,"logprobs":true,"top_logprobs":20,"messages":[{"role":"user","content":[
		{"type":"input_audio","input_audio":{"data":%q,"format":"wav"}},{"type":"text","text":"What do you hear?"}]}]}`, wav(seconds, value))
}

func promptTokens(t *testing.T, s *Server, body string) int {
	t.Helper()
	status, got := send(t, s, "POST", "/v1/chat/completions", body)
	if status != 200 {
		t.Fatalf("status %d: %v", status, got)
	}
	return int(got["usage"].(map[string]any)["prompt_tokens"].(float64))
}

func TestAudioTokens(t *testing.T) {
	for dialect, want := range map[string]map[float64]int{
		VLLM:  {0.2: 7, 1: 27, 10: 252, 31: 777},
		Llama: {0.2: 752, 1: 752, 29.9: 752, 30: 1502, 31: 1502, 61: 2252},
	} {
		plain := promptTokens(t, New(Options{Dialect: dialect, AudioIgnored: true}), audioRequest(1, 0))
		for seconds, tokens := range want {
			if got := promptTokens(t, New(Options{Dialect: dialect}), audioRequest(seconds, 0)) - plain; got != tokens {
				t.Errorf("%s: %v s cost %d tokens, want %d", dialect, seconds, got, tokens)
			}
		}
	}
}

// One sample ends the process, as it did the real one.
func TestOneSampleKills(t *testing.T) {
	s := New(Options{Dialect: Llama})
	for _, seconds := range []float64{1.0 / 16_000, 1} {
		if status, _ := send(t, s, "POST", "/v1/chat/completions", audioRequest(seconds, 0)); status != 0 {
			t.Errorf("%v s: status %d, want no answer", seconds, status)
		}
	}
	if status, _ := send(t, New(Options{Dialect: Llama}), "POST", "/v1/chat/completions", audioRequest(2.0/16_000, 0)); status != 200 {
		t.Errorf("two samples: status %d", status)
	}
}

// vLLM shows probabilities after the mask, llama-server before it.
func TestMask(t *testing.T) {
	scripted := func(Prompt) map[string]float64 { return map[string]float64{"A": 1, "B": 0, " the": 3} }
	body := `{"model":"simulated","max_tokens":1,"temperature":1,"logprobs":true,"top_logprobs":5,"messages":[{"role":"user","content":"?"}],` +
		`"structured_outputs":{"choice":["A","B"]},"grammar":"root ::= \"A\" | \"B\""}`
	sum := math.Exp(1) + 1
	for dialect, want := range map[string]float64{VLLM: math.Exp(1) / sum, Llama: math.Exp(1) / (sum + math.Exp(3))} {
		_, got := send(t, New(Options{Dialect: dialect, Script: scripted}), "POST", "/v1/chat/completions", body)
		entry := got["choices"].([]any)[0].(map[string]any)["logprobs"].(map[string]any)["content"].([]any)[0].(map[string]any)
		p := map[string]float64{}
		for _, c := range entry["top_logprobs"].([]any) {
			p[c.(map[string]any)["token"].(string)] = math.Exp(c.(map[string]any)["logprob"].(float64))
		}
		if math.Abs(p["A"]-want) > 1e-9 {
			t.Errorf("%s: p(A) = %v, want %v", dialect, p["A"], want)
		}
	}
}

// The order of the samplers decides what top-p cuts: .6 and .4 at temperature 2
// become .55 and .45.
func TestSamplerOrder(t *testing.T) {
	logits := []float64{math.Log(0.6), math.Log(0.4)}
	for order, want := range map[string]int{"temperature top_p": 2, "top_p temperature": 1} {
		s := sampling{temperature: 2, topP: 0.58}
		rest := slices.Clone(logits)
		for _, sampler := range strings.Fields(order) {
			rest = s.apply(sampler, rest)
		}
		if len(rest) != want {
			t.Errorf("%s keeps %d, want %d", order, len(rest), want)
		}
	}
}

func TestPureFunction(t *testing.T) {
	ask := func(s *Server, body string) string {
		_, got := send(t, s, "POST", "/v1/chat/completions", body)
		delete(got, "created")
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := ask(New(Options{Dialect: VLLM}), audioRequest(1, 5))
	if again := ask(New(Options{Dialect: VLLM}), audioRequest(1, 5)); again != first {
		t.Error("the same request has two answers")
	}
	for name, other := range map[string]string{
		"another clip":     ask(New(Options{Dialect: VLLM}), audioRequest(1, 6)),
		"another seed":     ask(New(Options{Dialect: VLLM, Seed: 1}), audioRequest(1, 5)),
		"another question": ask(New(Options{Dialect: VLLM}), strings.Replace(audioRequest(1, 5), "hear", "see", 1)),
	} {
		if other == first {
			t.Errorf("%s: the same answer", name)
		}
	}
	deaf := Options{Dialect: VLLM, AudioUnheard: true}
	if ask(New(deaf), audioRequest(1, 5)) != ask(New(deaf), audioRequest(1, 6)) {
		t.Error("an unheard clip changes the answer")
	}
}

func TestVLLMRefuses(t *testing.T) {
	message := `"messages":[{"role":"user","content":"?"}]`
	for body, want := range map[string]int{
		`{"model":"other",` + message + `}`:                                             404,
		`{"model":"simulated","logprobs":true,"top_logprobs":21,` + message + `}`:       400,
		`{"model":"simulated","top_p":0,` + message + `}`:                               400,
		`{"model":"simulated","guided_choice":["A"],` + message + `}`:                   200, // removed, and ignored
		`{"model":"simulated","max_tokens":1,"messages":[{"role":"user","content":5}]}`: 400,
	} {
		if status, got := send(t, New(Options{Dialect: VLLM}), "POST", "/v1/chat/completions", body); status != want {
			t.Errorf("%s: status %d (%v), want %d", body, status, got, want)
		}
	}
}

// A client sees every fault, and the ledger what was made and lost by it.
func TestFaultsAreSeen(t *testing.T) {
	lost := []Fault{LateReset, SlowBody, CutBody, Garbage, NoChoices}
	body := `{"model":"simulated","max_tokens":1,"messages":[{"role":"user","content":"?"}]}`
	for _, f := range Faults() {
		plan := schedule.Schedule[Fault]{At: map[int]Fault{0: f}}
		s := New(Options{Dialect: VLLM, Fault: func(c Call) Fault { return plan.Nth(c.N) }})
		h := httptest.NewServer(s)
		for n, healthy := range []bool{false, true} {
			response, err := http.Post(h.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
			var out struct{ Choices []any }
			ok := err == nil
			if ok {
				data, broken := io.ReadAll(response.Body)
				_ = response.Body.Close()
				ok = broken == nil && response.StatusCode == 200 && json.Unmarshal(data, &out) == nil && len(out.Choices) > 0
			}
			if ok != healthy && f != SlowBody { // a slow body is whole for who waits
				t.Errorf("%s, call %d: ok is %v", f, n, ok)
			}
		}
		h.Close()
		want := ledger.Total{Calls: 1, Requests: 1, Peak: 1}
		if slices.Contains(lost, f) {
			want.Calls, want.Destroyed = 2, 1
		}
		got := s.Ledger().Total()
		got.Cost, got.Wasted = 0, 0
		if got != want {
			t.Errorf("%s: %+v, want %+v", f, got, want)
		}
	}
}

func TestSlots(t *testing.T) {
	s := New(Options{Dialect: VLLM, Slots: 2, Queue: 4, Latency: 50 * time.Millisecond})
	h := httptest.NewServer(s)
	defer h.Close()
	var group sync.WaitGroup
	var refused atomic.Int64
	for i := range 8 {
		group.Go(func() {
			body := fmt.Sprintf(`{"model":"simulated","max_tokens":1,"messages":[{"role":"user","content":"%d?"}]}`, i)
			response, err := http.Post(h.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			_ = response.Body.Close()
			if response.StatusCode == http.StatusServiceUnavailable {
				refused.Add(1)
			}
		})
	}
	group.Wait()
	got := s.Ledger().Total()
	if got.Peak > 2 || got.Calls+int(refused.Load()) != 8 || got.InFlight != 0 {
		t.Errorf("%+v, %d refused", got, refused.Load())
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"messages":[]}`, `{"messages":[{"role":"user","content":[{"type":"input_audio"}]}],"grammar":"root ::= "}`, audioRequest(0.01, 1)} {
		f.Add([]byte(seed))
	}
	llama, vllm := New(Options{Dialect: Llama}), New(Options{Dialect: VLLM})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range []*Server{llama, vllm} {
			a, refused := s.read(data)
			if refused == nil && (a.maxTokens < 1 || a.promptTokens < 1) {
				t.Errorf("%q: %+v", data, a)
			}
		}
	})
}
