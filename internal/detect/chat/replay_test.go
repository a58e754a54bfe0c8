package chat

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// recording is one exchange of a real llama-server.
type recording struct {
	Request struct {
		Path string
		Body string
	}
	Response struct {
		Status  int
		Headers map[string]string
		Body    string
	}
}

// recordings reads the recorded exchanges by name; without them the test is
// skipped.
func recordings(t *testing.T) map[string]recording {
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
	out := map[string]recording{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r recording
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = r
	}
	return out
}

// replay serves one recorded response and reads it as the detector would.
func replay(t *testing.T, r recording) (reply, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", r.Response.Headers["Content-Type"])
		w.WriteHeader(r.Response.Status)
		_, _ = w.Write([]byte(r.Response.Body))
	}))
	defer server.Close()
	c, err := newClient(Config{}.withDefaults(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c.chat(t.Context(), "replay", request{})
}

// Every recorded completion is read, whatever it was asked for.
func TestReplayCompletions(t *testing.T) {
	n := 0
	for name, r := range recordings(t) {
		if r.Request.Path != "/v1/chat/completions" || r.Response.Status != 200 || strings.HasPrefix(r.Response.Body, "data:") {
			continue
		}
		n++
		got, err := replay(t, r)
		if err != nil || got.promptTokens < 20 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		sum := 0.0
		for _, p := range got.first.p {
			sum += p
		}
		if got.hasFirst && (sum > 1+1e-6 || got.first.floor <= 0 || got.first.floor > 1) {
			t.Errorf("%s: probabilities add up to %v, the others are at most %v", name, sum, got.first.floor)
		}
	}
	if n < 100 {
		t.Errorf("only %d completions", n)
	}
}

// Under a grammar llama-server shows the free distribution: of the two letters
// only the drawn one is known, far below the listed tokens.
func TestReplayGrammar(t *testing.T) {
	got, err := replay(t, recordings(t)["02a_grammar"])
	if err != nil || got.text != "B" {
		t.Fatalf("%+v, %v", got, err)
	}
	b, a := got.mass("B"), got.mass("A")
	if !b.Observed || b.P != 0 { // exp(-23.18) is below a nano
		t.Errorf("B: %+v", b)
	}
	// The last of the five listed has exp(-3.67).
	if a.Observed || math.Abs(float64(a.P)/1e9-math.Exp(-3.670483112335205)) > 1e-8 {
		t.Errorf("A: %+v, want at most the last listed", a)
	}
	if share(a, b).Observed {
		t.Error("p(YES) can't be known from this")
	}
}

func TestReplayLogprobs(t *testing.T) {
	all := recordings(t)
	for name, want := range map[string]struct {
		listed int
		has    bool
	}{
		"01a_logprobs": {20, true}, "06j_top_logprobs_1000": {998, true}, "01e_no_logprobs": {0, false}, "06k_top_logprobs_minus1": {0, false},
		"02k_schema_string_enum": {3, true}, "01c_post_sampling_probs": {0, false}, // renamed: not the model's probabilities
		"05c_seed_1": {2, true}, // one listed, and the drawn one
	} { // of the thousand, three have no bytes and so one spelling
		got, err := replay(t, all[name])
		if err != nil || got.hasFirst != want.has || len(got.first.p) < want.listed {
			t.Errorf("%s: %d tokens, %v, %v; want %+v", name, len(got.first.p), got.hasFirst, err, want)
		}
	}
	got, err := replay(t, all["01a_logprobs"])
	if p := got.first.p["(anchor"]; err != nil || math.Abs(p-math.Exp(-2.6851589679718018)) > 1e-12 {
		t.Errorf("%v, %v", p, err)
	}
	if _, ok := got.first.p["\xe5\xb2"]; !ok { // a token that is part of a character
		t.Error("tokens must be told apart by their bytes")
	}
}

func TestReplayErrors(t *testing.T) {
	all := recordings(t)
	for name, want := range map[string]struct {
		kind fault.Kind
		code string
	}{
		"06L_loading_health": {fault.Wait, "loading"}, "06M_loading_chat": {fault.Wait, "loading"}, "06O_loading_props": {fault.Wait, "loading"},
		"06e_too_long": {fault.Permanent, "context_exceeded"}, "06f_too_long_audio": {fault.Permanent, "context_exceeded"}, "08e_too_long_default_slots": {fault.Permanent, "context_exceeded"},
		"06E_key_missing": {fault.Pause, "unauthorized"}, "06F_key_wrong": {fault.Pause, "unauthorized"},
		"06s_not_found": {fault.Permanent, "not_found"}, "06B_metrics_disabled": {fault.Permanent, "refused"},
		"06A_audio_without_mmproj": {fault.Permanent, "audio_unsupported"}, "03zj_image_url": {fault.Permanent, "refused"},
		"02j_grammar_and_schema": {fault.Permanent, "refused"}, "03u_corrupt_base64_start": {fault.Permanent, "refused"},
		"03za_empty_string": {fault.Permanent, "refused"}, "06g_invalid_json": {fault.Permanent, "refused"}, "10v_audio_http_url_refused": {fault.Permanent, "refused"},
		"02d_grammar_bad": {fault.Permanent, "refused"}, "03zb_wav_header_only": {fault.Permanent, "refused"}, "05d_n2": {fault.Permanent, "refused"},
		"04i_two_assistants_end": {fault.Permanent, "refused"}, "01h_top_logprobs_without_logprobs": {fault.Permanent, "refused"},
	} {
		_, err := replay(t, all[name])
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != want.kind || f.Code != want.code {
			t.Errorf("%s: %v, want %s %s", name, err, want.kind, want.code)
		}
	}
	// No recorded refusal may be tried again for ever.
	for name, r := range all {
		if r.Response.Status < 400 || r.Response.Status == http.StatusServiceUnavailable {
			continue
		}
		if _, err := replay(t, r); fault.KindOf(err) == fault.Transient || fault.KindOf(err) == fault.Wait {
			t.Errorf("%s (%d): %v would be tried again", name, r.Response.Status, err)
		}
	}
}

// The canary on real answers: text, silence, silence longer, a sound.
func TestReplayHearing(t *testing.T) {
	all := recordings(t)
	read := func(name string) reply {
		r, err := replay(t, all[name])
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	none := read("01a_logprobs")
	none.promptTokens = 50 // of the same text without its clip: 802 less 752
	silence, again, sound, long := read("03c_silence_1s"), read("03d_silence_12s"), read("03a_audio_1s"), read("03b_audio_12s")
	h := judgeHearing(Llama, [5]reply{none, silence, again, sound, long})
	if !h.Works || h.PerBlock != 750 {
		t.Errorf("%+v", h)
	}
	for name, seconds := range map[string]float64{"03g_audio_0p1s": 0.1, "10a_29p9s": 29.9, "10b_30s": 30, "10c_30p1s": 30.1, "10d_60s": 60, "10e_61s": 61} {
		if got := read(name).promptTokens - 50; got != h.tokens(seconds) {
			t.Errorf("%s: %d tokens, the rule says %d", name, got, h.tokens(seconds))
		}
	}
	if deaf := judgeHearing(Llama, [5]reply{none, silence, again, silence, again}); deaf.Works {
		t.Errorf("the same answers: %+v", deaf)
	}
	none.promptTokens = silence.promptTokens
	if deaf := judgeHearing(Llama, [5]reply{none, silence, again, sound, long}); deaf.Works {
		t.Errorf("no tokens for audio: %+v", deaf)
	}
}

// The pieces of every option, as the real tokenizer cuts them.
func TestReplayTokens(t *testing.T) {
	n := 0
	for name, r := range recordings(t) {
		var asked struct{ Content string }
		if r.Request.Path != "/tokenize" || r.Response.Status != 200 || json.Unmarshal([]byte(r.Request.Body), &asked) != nil || asked.Content == "" {
			continue
		}
		n++
		if got := strings.Join(parseTokens([]byte(r.Response.Body)), ""); got != asked.Content {
			t.Errorf("%s: %q, want %q", name, got, asked.Content)
		}
	}
	if n < 30 {
		t.Errorf("only %d texts", n)
	}
}

func TestReadLetter(t *testing.T) {
	ab := &Detector{config: Config{Order: "ab"}}
	ba := &Detector{config: Config{Order: "ba"}}
	for text, want := range map[string]vote.Vote{
		"A": vote.VoteYes, " B\n": vote.VoteNo, "(A)": vote.VoteYes, "**B**": vote.VoteNo, "A.": vote.VoteYes,
		"(A) YES": vote.VoteYes, "(B) NO": vote.VoteNo, "B: no manipulation": vote.VoteNo, "A) because of guilt": vote.VoteYes,
		"YES": vote.VoteYes, "No.": vote.VoteNo, "yes, they do": vote.VoteYes,
		"(A) NO": vote.VoteInvalid, "A speaker shouts": vote.VoteInvalid, "Anger": vote.VoteInvalid, "": vote.VoteInvalid,
		"Nobody": vote.VoteInvalid, "I think A": vote.VoteInvalid, "C": vote.VoteInvalid,
	} {
		if got := ab.readLetter(text, false); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := ba.readLetter("(A) NO", false); got != vote.VoteNo {
		t.Errorf("ba: %s", got)
	}
	if got := ab.readLetter("(A) YES", true); got != vote.VoteInvalid {
		t.Errorf("a constrained answer is exactly a letter, got %s", got)
	}
}

// What isn't listed has at most the last listed probability, and at most what
// all listed ones leave.
func TestFloor(t *testing.T) {
	for name, test := range map[string]struct {
		listed []float64
		want   float64
	}{
		"the last listed":      {[]float64{0.5, 0.1}, 0.1},
		"what the list leaves": {[]float64{0.6, 0.39}, 0.01},
		"nothing listed":       {nil, 1},
	} {
		var token tokenLogprob
		for i, p := range test.listed {
			l := math.Log(p)
			token.TopLogprobs = append(token.TopLogprobs, candidate{Token: string(rune('A' + i)), Logprob: &l})
		}
		if d, _ := newDistribution(token); math.Abs(d.floor-test.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, d.floor, test.want)
		}
	}
}

func TestRetryAfterIsBounded(t *testing.T) {
	for value, seconds := range map[string]float64{"": 5, "7": 7, "0": 0, "-3": 5, "1e99": 300, "soon": 5, "Mon, 02 Jan 2006 15:04:05 GMT": 0} {
		header := http.Header{"Retry-After": {value}}
		if got := classify(429, header, nil).RetryAfter.Seconds(); got != seconds {
			t.Errorf("%q: %v s, want %v", value, got, seconds)
		}
	}
}

func FuzzParseReply(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `{"choices":[]}`, `{"choices":[{"message":{"content":null},"logprobs":null}],"usage":{"prompt_tokens":-1}}`,
		`{"choices":[{"message":{"content":"A"},"logprobs":{"content":[{"token":"A","bytes":[65],"logprob":-0.1,"top_logprobs":[{"token":"B","bytes":null,"logprob":-9999}]}]}}]}`,
		`{"choices":[{"logprobs":{"content":[{"token":"x","bytes":[999,-1],"logprob":5,"top_logprobs":[{"token":"","logprob":1e308}]}]}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseReply(data)
		if err != nil {
			return
		}
		for _, m := range []vote.Mass{r.mass("A", " A"), r.mass("B"), share(r.mass("A"), r.mass("B"))} {
			if m.P < 0 || m.P > vote.One || !m.Observed && m.P == 0 {
				t.Errorf("%q: %+v", data, m)
			}
		}
	})
}

func FuzzClassify(f *testing.F) {
	for _, seed := range []string{``, `{"error":"x"}`, `{"error":{"message":"Loading model","code":503}}`, `{"detail":[1]}`, `{"object":"error","message":"m"}`, `{"error":{}}`, `<html>`} {
		f.Add(500, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		got := classify(status, http.Header{}, body)
		if got == nil {
			if status != 200 {
				t.Errorf("%d %q: no fault", status, body)
			}
			return
		}
		if text := got.Err.Error(); strings.ContainsAny(text, "\n\x00\x1b") || len(text) > 5*maxErrorLen {
			t.Errorf("%d %q: %q is not one short line", status, body, text)
		}
	})
}

func FuzzReadLetter(f *testing.F) {
	for _, seed := range []string{"A", "(B) NO", "yes", "A speaker", "\xff"} {
		f.Add(seed)
	}
	ab, ba := &Detector{config: Config{Order: "ab"}}, &Detector{config: Config{Order: "ba"}}
	f.Fuzz(func(t *testing.T, text string) {
		first, second := ab.readLetter(text, false), ba.readLetter(text, false)
		if strings.ContainsAny(text, "yYnN") { // words mean the same in both orders
			return
		}
		if (first == vote.VoteInvalid) != (second == vote.VoteInvalid) || first == second && first != vote.VoteInvalid {
			t.Errorf("%q: %s, turned %s", text, first, second)
		}
	})
}
