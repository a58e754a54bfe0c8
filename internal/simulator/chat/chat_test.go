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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/simulator/ledger"
	"github.com/speechmanip/speechmanip/internal/simulator/schedule"
)

// send gives a server one request and returns its answer.
func send(t *testing.T, s *Server, method, path, body string, headers ...map[string]string) (int, map[string]any) {
	t.Helper()
	h := httptest.NewServer(s)
	defer h.Close()
	r, err := http.NewRequestWithContext(t.Context(), method, h.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		for name, value := range h {
			r.Header.Set(name, value)
		}
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
	lost := []Fault{LateReset, CutBody, Garbage, NoChoices}
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
		if f == SlowBody {
			want.Calls, want.Repeats = 2, 1 // the first was whole
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
