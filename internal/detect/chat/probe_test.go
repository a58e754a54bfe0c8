package chat_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/detect/chat"
	"github.com/speechmanip/speechmanip/internal/fault"
	simchat "github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func probe(t *testing.T, o simchat.Options, change func(*chat.Config)) chat.Capabilities {
	t.Helper()
	_, url := serve(t, o)
	caps, err := newDetector(t, url, change).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return caps
}

func TestProbe(t *testing.T) {
	type found struct {
		Dialect         chat.Dialect
		Choice, Prefill string
		Logprobs        bool
		Top, Pieces     int
		PerSecond       float64
		PerBlock        int
	}
	tests := map[string]struct {
		options simchat.Options
		want    found
	}{
		"vllm":                       {simchat.Options{Dialect: simchat.VLLM}, found{"vllm", "structured_outputs", "continue_final_message", true, 20, 12, 25, 0}},
		"vllm with few logprobs":     {simchat.Options{Dialect: simchat.VLLM, MaxLogprobs: 5}, found{"vllm", "structured_outputs", "continue_final_message", true, 5, 12, 25, 0}},
		"vllm without a constraint":  {simchat.Options{Dialect: simchat.VLLM, ConstraintIgnored: true}, found{"vllm", "", "continue_final_message", true, 20, 12, 25, 0}},
		"llama-server":               {simchat.Options{Dialect: simchat.Llama}, found{"llama-server", "grammar", "trailing assistant message", true, 1000, 12, 0, 750}},
		"llama-server, no grammar":   {simchat.Options{Dialect: simchat.Llama, ConstraintIgnored: true}, found{"llama-server", "", "trailing assistant message", true, 1000, 12, 0, 750}},
		"llama-server, no logprobs":  {simchat.Options{Dialect: simchat.Llama, NoLogprobs: true}, found{"llama-server", "grammar", "", false, 0, 0, 0, 750}},
		"generic":                    {simchat.Options{Dialect: simchat.Generic}, found{"generic", "", "", true, 20, 0, 25, 0}},
		"generic without any extras": {simchat.Options{Dialect: simchat.Generic, NoLogprobs: true}, found{"generic", "", "", false, 0, 0, 25, 0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			caps := probe(t, test.options, nil)
			got := found{caps.Dialect, caps.Choice, caps.Prefill, caps.Logprobs, caps.TopLogprobs, len(caps.Pieces), caps.Audio.PerSecond, caps.Audio.PerBlock}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\nnotes: %q", diff, caps.Notes)
			}
			if !caps.Audio.Works || caps.Refuse(detect.Audio) != nil {
				t.Errorf("audio: %+v", caps.Audio)
			}
		})
	}
}

// A server that doesn't hear is refused for audio, and only for audio.
func TestCanary(t *testing.T) {
	for _, dialect := range dialects {
		for name, options := range map[string]simchat.Options{
			"drops clips":                 {AudioIgnored: true},
			"counts clips without effect": {AudioUnheard: true},
			"started without audio":       {NoAudio: true},
		} {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				options.Dialect = dialect
				server, url := serve(t, options)
				d := newDetector(t, url, nil)
				_, err := d.Prepare(t.Context(), audioItem("x", noise(0.5, 1)))
				var f *fault.Error
				if !errors.As(err, &f) || f.Kind != fault.Permanent || f.Code != "audio_ignored" {
					t.Errorf("audio: %v, want a permanent audio_ignored", err)
				}
				before := server.Completions()
				if _, err := d.Prepare(t.Context(), textItem("x")); err != nil {
					t.Errorf("text: %v", err)
				}
				if calls := server.Completions() - before; calls != 1 {
					t.Errorf("%d calls, want 1: the probe's outcome is kept", calls)
				}
			})
		}
	}
}

// A clip that was cut is found by the prompt's tokens, whatever the status.
func TestTruncation(t *testing.T) {
	for _, dialect := range dialects {
		t.Run(dialect, func(t *testing.T) {
			_, url := serve(t, simchat.Options{Dialect: dialect, CutSeconds: 30.5})
			d := newDetector(t, url, nil)
			for seconds, want := range map[float64]string{29: "", 30.4: "", 62: "clip_truncated"} {
				_, err := d.Prepare(t.Context(), audioItem("x", noise(seconds, 1)))
				var f *fault.Error
				switch {
				case want == "" && err != nil:
					t.Errorf("%v s: %v", seconds, err)
				case want != "" && (!errors.As(err, &f) || f.Code != want || f.Kind != fault.Permanent):
					t.Errorf("%v s: %v, want a permanent %s", seconds, err, want)
				}
			}
		})
	}
}

func TestTooLong(t *testing.T) {
	_, url := serve(t, simchat.Options{Dialect: simchat.VLLM, Context: 2500})
	d := newDetector(t, url, func(c *chat.Config) { c.MaxAudioSeconds = 90 })
	for seconds, want := range map[float64]string{91: "clip_too_long", 80: "context_exceeded"} {
		_, err := d.Prepare(t.Context(), audioItem("clip-7", noise(seconds, 1)))
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Permanent || f.Code != want || !strings.Contains(err.Error(), "clip-7") {
			t.Errorf("%v s: %v, want a permanent %s that names the clip", seconds, err, want)
		}
	}
}

// Every fault of a call becomes the kind that says what to do, and the next call
// works.
func TestFaults(t *testing.T) {
	want := map[simchat.Fault]struct {
		kind fault.Kind
		code string
		wait time.Duration
	}{
		simchat.TooMany:      {fault.Wait, "busy", 2 * time.Second},
		simchat.TooManyDate:  {fault.Wait, "busy", 3 * time.Second},
		simchat.BadKey:       {fault.Pause, "unauthorized", 0},
		simchat.NoCredit:     {fault.Pause, "quota_exceeded", 0},
		simchat.ServerError:  {fault.Transient, "server_error", 0},
		simchat.ClientError:  {fault.Permanent, "refused", 0},
		simchat.Gateway:      {fault.Transient, "server_error", 0},
		simchat.StillLoading: {fault.Wait, "loading", 5 * time.Second},
		simchat.Reset:        {fault.Transient, "connection", 0},
		simchat.LateReset:    {fault.Transient, "connection", 0},
		simchat.SlowBody:     {fault.Transient, "timeout", 0},
		simchat.CutBody:      {fault.Transient, "connection", 0},
		simchat.Garbage:      {fault.Transient, "bad_reply", 0},
		simchat.NoChoices:    {fault.Transient, "bad_reply", 0},
	}
	for _, kind := range simchat.Faults() {
		t.Run(string(kind), func(t *testing.T) {
			expected, ok := want[kind]
			if !ok {
				t.Fatal("no expectation for this fault")
			}
			caps := probe(t, simchat.Options{Dialect: simchat.Llama}, nil)
			_, url := serve(t, simchat.Options{
				Dialect: simchat.Llama,
				Fault: func(c simchat.Call) simchat.Fault {
					if c.N == 0 {
						return kind
					}
					return simchat.None
				},
			})
			d := newDetector(t, url, func(c *chat.Config) {
				c.Capabilities = &caps
				if kind == simchat.SlowBody {
					c.Timeout = 200 * time.Millisecond
				}
			})
			_, err := d.Quote(t.Context(), textItem("x"), detect.QuoteRequest{})
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != expected.kind || f.Code != expected.code {
				t.Fatalf("%v, want %s %s", err, expected.kind, expected.code)
			}
			if f.RetryAfter > expected.wait || f.RetryAfter < expected.wait-2*time.Second {
				t.Errorf("wait %s, want about %s", f.RetryAfter, expected.wait)
			}
			if _, err := d.Quote(t.Context(), textItem("x"), detect.QuoteRequest{}); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// While the model loads, the probe says to wait; then it works.
func TestLoading(t *testing.T) {
	_, url := serve(t, simchat.Options{Dialect: simchat.Llama, Loading: 1})
	d := newDetector(t, url, nil)
	_, err := d.Identity(t.Context())
	if fault.KindOf(err) != fault.Wait {
		t.Errorf("%v, want to wait", err)
	}
	if _, err := d.Identity(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWrongModel(t *testing.T) {
	for _, dialect := range dialects {
		_, url := serve(t, simchat.Options{Dialect: dialect})
		_, err := newDetector(t, url, func(c *chat.Config) { c.Model = "other" }).Identity(t.Context())
		if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "simulated") {
			t.Errorf("%s: %v, want a permanent fault that names the model it serves", dialect, err)
		}
		identity, err := newDetector(t, url, func(c *chat.Config) { c.Model = "" }).Identity(t.Context())
		if err != nil || identity.Model != "simulated" {
			t.Errorf("%s: %+v, %v; want the only model", dialect, identity, err)
		}
	}
}

// What shapes answers makes another identity, and what doesn't does not.
func TestIdentity(t *testing.T) {
	_, url := serve(t, simchat.Options{Dialect: simchat.VLLM})
	identity := func(change func(*chat.Config)) string {
		id, err := newDetector(t, url, change).Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%+v", id)
	}
	plain := identity(nil)
	if again := identity(func(c *chat.Config) { c.Timeout = time.Minute; c.BaseURLs[0] += "/v1" }); again != plain {
		t.Errorf("the same detector has two identities:\n%s\n%s", plain, again)
	}
	seen := map[string]string{plain: "plain"}
	for name, change := range map[string]func(*chat.Config){
		"strategy":  func(c *chat.Config) { c.Strategy = "definition-augmented" },
		"order":     func(c *chat.Config) { c.Order = "ba" },
		"forms":     func(c *chat.Config) { c.Rules.TacticForms = vote.FormFour },
		"margin":    func(c *chat.Config) { c.Rules.FallbackMargin = 1 },
		"exemplars": func(c *chat.Config) { c.Strategy, c.Exemplars = "few-shot", exemplars() },
		"an exemplar's clip": func(c *chat.Config) {
			c.Strategy, c.Exemplars = "few-shot", exemplars()
			c.Exemplars[2].Clip = noise(0.4, 99)
		},
		"what exemplars show": func(c *chat.Config) {
			c.Strategy, c.Exemplars, c.Rules.Exemplars = "few-shot", exemplars(), vote.ExemplarLabel
		},
	} {
		id := identity(change)
		if other, ok := seen[id]; ok {
			t.Errorf("%s: the identity of %s", name, other)
		}
		seen[id] = name
	}
}

func TestSettings(t *testing.T) {
	bad := map[string]func(*chat.Config){
		"one of few-shot":  func(c *chat.Config) { c.Strategy = "best" },
		"4 exemplars":      func(c *chat.Config) { c.Strategy, c.Exemplars = "few-shot", exemplars()[:3] },
		"shows 0":          func(c *chat.Config) { c.Exemplars = exemplars() },
		"use ab or ba":     func(c *chat.Config) { c.Order = "aa" },
		"http://host:port": func(c *chat.Config) { c.BaseURLs = []string{"localhost:8080"} },
		"no user":          func(c *chat.Config) { c.BaseURLs = []string{"http://me:geheim@localhost"} },
		"dialect":          func(c *chat.Config) { c.Dialect = "tgi" },
		"negative":         func(c *chat.Config) { c.Timeout = -1 },
		"quorum":           func(c *chat.Config) { c.Rules.Quorum = 0 },
	}
	for want, change := range bad {
		c := chat.Config{BaseURLs: []string{"http://localhost:1"}, Strategy: "zero-shot", Rules: vote.Paper()}
		change(&c)
		_, err := chat.New(c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
}

// The key opens the server and appears nowhere.
func TestKey(t *testing.T) {
	const key = "sk-geheim-1234"
	_, url := serve(t, simchat.Options{Dialect: simchat.VLLM, APIKey: key})
	c := chat.Config{BaseURLs: []string{url}, APIKey: key, Strategy: "zero-shot", Rules: vote.Paper()}
	d, err := chat.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Identity(t.Context()); err != nil {
		t.Errorf("with the key: %v", err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{c, &c, c.APIKey, d, *d} {
			if text := fmt.Sprintf(verb, value); strings.Contains(text, "geheim") || strings.Contains(text, fmt.Sprintf("%x", key)) {
				t.Errorf("%s of %T shows the key", verb, value)
			}
		}
	}
	wrong := c
	wrong.APIKey, wrong.KeyName = key+"5", "CHAT_KEY"
	d, err = chat.New(wrong)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Identity(t.Context())
	if fault.KindOf(err) != fault.Pause || strings.Contains(err.Error(), "geheim") || !strings.Contains(err.Error(), "set CHAT_KEY") {
		t.Errorf("with a wrong key: %v, want a pause without it that says what to set", err)
	}
}

// A server may do anything: send the client elsewhere, repeat its key, or never
// stop.
func TestHostileServer(t *testing.T) {
	const key = "sk-geheim-1234"
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer other.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		},
		"repeats the key": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"%s %s"}}`, strings.Repeat("x", 280), r.Header.Get("Authorization"))
		},
		"never stops": func(w http.ResponseWriter, _ *http.Request) {
			for range 33 {
				_, _ = w.Write(make([]byte, 1<<20)) // the client hangs up before the end
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			caps := probe(t, simchat.Options{Dialect: simchat.Llama}, nil)
			server := httptest.NewServer(answer)
			defer server.Close()
			d := newDetector(t, server.URL, func(c *chat.Config) { c.Capabilities, c.APIKey = &caps, key })
			_, err := d.Quote(t.Context(), textItem("x"), detect.QuoteRequest{})
			if fault.KindOf(err) != fault.Permanent || strings.Contains(err.Error(), "gehe") {
				t.Errorf("%v, want a permanent fault without the key", err)
			}
		})
	}
}
