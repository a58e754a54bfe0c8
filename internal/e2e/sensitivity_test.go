//go:build integration && linux

package e2e

import (
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/speechmanip/speechmanip/internal/simulator/chat"
)

// asked notes which orders of solutions and which questions a server was given.
type asked struct {
	mu        sync.Mutex
	solutions map[string]bool
	questions map[string]bool
}

var solution = regexp.MustCompile(`Manipulation: (YES\nTactic: \w+|NO)`)

func (a *asked) note(p chat.Prompt) map[string]float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found := solution.FindAllStringSubmatch(p.Text, -1); len(found) > 0 {
		var order []string
		for _, f := range found {
			order = append(order, f[1])
		}
		a.solutions[strings.Join(order, ", ")] = true
	}
	for _, question := range []string{"(A) YES", "(A) NO", "YES or NO"} {
		if strings.Contains(p.Question, question) {
			a.questions[question] = true
		}
	}
	return nil // the model's own answer
}

// TestSensitivity asks a few-shot evaluation's decisions again in other words.
func TestSensitivity(t *testing.T) {
	t.Parallel() // it waits more than it works
	seen := &asked{solutions: map[string]bool{}, questions: map[string]bool{}}
	simulator := chat.New(chat.Options{Dialect: chat.VLLM, Model: "tiny", Script: seen.note})
	server := httptest.NewServer(simulator)
	defer server.Close()

	r := newRig(t)
	r.env = append(r.env, "SPEECHMANIP_CHAT_URL="+server.URL)
	r.worker(t, "--accelerator", "gpu-test", "--pool", "chat")
	built := r.evaluate(t, "--detector", "chat", "--prompt", "few-shot", "--accelerator", "gpu-test", "--pool", "chat", "--quality", "off", "--limit", "6", "--id", "few")
	if built.N != 6 || len(built.Failures) != 0 {
		t.Fatalf("n %d, failures %v", built.N, built.Failures)
	}

	type report struct {
		Items, Questions, Made int
		Variations             []struct {
			Name     string
			Methods  []string
			Failed   int
			YesShare struct{ N int } `json:"yes_share"`
		}
	}
	measure := func() (out report) {
		t.Helper()
		text := r.starter(t, "sensitivity", "few", "--items", "4", "--exemplar-orders", "2", "--verbalizers", "--json")
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return out
	}
	first := measure()
	if first.Items != 4 || first.Questions != 20 || first.Made != 20 || len(first.Variations) != 5 {
		t.Errorf("%+v", first)
	}
	for i, v := range first.Variations {
		method := "analytic"
		if i == 4 {
			method = "words"
		}
		if v.Failed != 0 || v.YesShare.N == 0 || strings.Join(v.Methods, " ") != method {
			t.Errorf("%+v, want method %s", v, method)
		}
	}
	if len(seen.solutions) < 2 || len(seen.questions) != 3 {
		t.Errorf("the server saw the solutions in the orders %v and the questions %v", seen.solutions, seen.questions)
	}

	// The same again asks nothing.
	before := simulator.Completions()
	again := measure()
	if n := simulator.Completions() - before; n != 0 || again.Made != 0 {
		t.Errorf("asked %d times again, %d made", n, again.Made)
	}
	text := r.starter(t, "sensitivity", "few", "--items", "4", "--exemplar-orders", "2", "--verbalizers")
	for _, want := range []string{"sensitivity of few: few-shot, modality audio; 4 dialogues (seed 0), 5 variations, 20 questions, 0 of them asked now", "option order ba", "label range"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}

	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"few", "--exemplar-orders", "24"}, "4 exemplars have 23 other orders"},
		{[]string{"nobody"}, `no evaluation "nobody"`},
	} {
		if _, errOut, err := r.try(t, append([]string{"sensitivity"}, test.args...)...); err == nil || !strings.Contains(errOut, test.want) {
			t.Errorf("%v: %v, %s", test.args, err, errOut)
		}
	}
}
