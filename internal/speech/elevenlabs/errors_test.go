package elevenlabs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/remote"
	simulator "github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
	"github.com/speechmanip/speechmanip/internal/voice"
)

func wantFault(t *testing.T, err error, kind fault.Kind, code string) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || f.Code != code {
		t.Fatalf("error %v (%+v), want %s %s", err, f, kind, code)
	}
	if strings.Contains(err.Error(), key) || strings.Contains(fmt.Sprintf("%+v", err), key) {
		t.Fatalf("the error holds the key: %v", err)
	}
	return f
}

// Each fault of the simulated service is the right fault to the caller, and it is
// paid, or not, as it should be.
func TestFaults(t *testing.T) {
	type outcome struct {
		kind fault.Kind
		code string
		says string
		wait time.Duration // at least; a quarter more at most
		paid bool
	}
	wants := map[simulator.Fault]outcome{
		simulator.TooMany:       {kind: fault.Wait, code: CodeConcurrency, wait: busyWait},
		simulator.TooManyNew:    {kind: fault.Wait, code: CodeConcurrency, wait: busyWait},
		simulator.Busy:          {kind: fault.Wait, code: "system_busy", wait: simulator.BusySeconds * time.Second},
		simulator.RateLimited:   {kind: fault.Wait, code: "rate_limit_exceeded", wait: simulator.RateLimitedSeconds * time.Second},
		simulator.NoQuota:       {kind: fault.Pause, code: CodeQuota, says: "150 credits are missing for this turn"},
		simulator.NoKeyQuota:    {kind: fault.Pause, code: CodeQuota, says: "88 credits are missing for this turn"},
		simulator.BadKey:        {kind: fault.Pause, code: "invalid_api_key", says: "valid key"},
		simulator.VoiceGone:     {kind: fault.Permanent, code: "voice_not_found", says: `"ivanna"`},
		simulator.PlanTooSmall:  {kind: fault.Permanent, code: "plan_too_small", says: "Creator"},
		simulator.PlanNotPaid:   {kind: fault.Permanent, code: "plan_too_small", says: "library voices"},
		simulator.Unprocessable: {kind: fault.Permanent, code: "bad_request", says: "body text: Field required"},
		simulator.ServerError:   {kind: fault.Transient, code: "server_error", says: "500"},
		simulator.Unavailable:   {kind: fault.Wait, code: "unavailable", wait: busyWait},
		simulator.Gateway:       {kind: fault.Transient, code: "server_error", says: "502 without a readable error"},
		simulator.Reset:         {kind: fault.Transient, code: "connection"},

		simulator.LateReset:  {kind: fault.Transient, code: "connection", paid: true},
		simulator.SlowBody:   {kind: fault.Transient, code: "timeout", paid: true},
		simulator.CutBody:    {kind: fault.Transient, code: "connection", paid: true},
		simulator.ShortAudio: {kind: fault.Transient, code: "audio_broken", says: "97ms of audio for 29 characters", paid: true},
		simulator.OddAudio:   {kind: fault.Transient, code: "audio_broken", says: "within a sample", paid: true},
		simulator.Silence:    {kind: fault.Transient, code: "audio_broken", says: "silence", paid: true},
		simulator.Empty:      {kind: fault.Transient, code: "audio_broken", says: "empty", paid: true},
		simulator.JSONAudio:  {kind: fault.Transient, code: "audio_broken", says: "no audio", paid: true},
		simulator.ErrorAudio: {kind: fault.Wait, code: "system_busy", wait: busyWait, paid: true},
		simulator.HTMLAudio:  {kind: fault.Transient, code: "audio_broken", says: "no audio", paid: true},
	}
	for _, f := range simulator.Faults() {
		t.Run(string(f), func(t *testing.T) {
			want, ok := wants[f]
			if !ok {
				t.Fatal("no outcome is named for this fault")
			}
			server, url := simulated(t, simulator.Options{Fault: func(c simulator.Call) simulator.Fault {
				if c.N == 0 {
					return f
				}
				return simulator.None
			}})
			config := Config{BaseURL: url}
			if f == simulator.SlowBody {
				config.Timeout = 300 * time.Millisecond
			}
			got, err := say(t, newSynthesizer(t, config))
			found := wantFault(t, err, want.kind, want.code)
			if !strings.Contains(err.Error(), want.says) {
				t.Errorf("%q does not say %q", err, want.says)
			}
			if found.RetryAfter < want.wait || found.RetryAfter > want.wait*5/4 {
				t.Errorf("wait %s, want %s and up to a quarter more", found.RetryAfter, want.wait)
			}
			if len(got.Audio) > 0 {
				t.Error("audio comes with the fault")
			}
			total := server.Ledger().Total()
			if paid := total.Cost > 0; paid != want.paid && f != simulator.SlowBody { // whose call may not have ended yet
				t.Errorf("paid: %v", paid)
			}
			if server.Calls() != 1 {
				t.Errorf("%d calls were made for one", server.Calls())
			}
			if again, err := say(t, newSynthesizer(t, Config{BaseURL: url})); err != nil || len(again.Audio) == 0 {
				t.Errorf("the next call fails too: %v", err)
			}
		})
	}
}

func TestCheckOfAnAccount(t *testing.T) {
	server, url := simulated(t, simulator.Options{})
	s := newSynthesizer(t, Config{BaseURL: url})
	server.SetAPIKey("another")
	wantFault(t, s.Check(context.Background(), paper(t)), fault.Pause, "invalid_api_key")
	server.SetAPIKey(key)

	gone := paper(t)
	gone.Voices[2].Params = params("id", "withdrawn1")
	gone.Voices[4].Params = params("id", "withdrawn2")
	f := wantFault(t, s.Check(context.Background(), gone), fault.Permanent, "voices")
	for _, want := range []string{`"amanda"`, `"grandpa"`, "withdrawn1", "withdrawn2"} {
		if !strings.Contains(f.Error(), want) {
			t.Errorf("%q does not name %s", f, want)
		}
	}
	if server.Calls() != 0 {
		t.Errorf("the check asked for speech %d times", server.Calls())
	}
}

func TestQuotaAndConcurrency(t *testing.T) {
	for _, newErrors := range []bool{false, true} {
		server, url := simulated(t, simulator.Options{Quota: len(sentence) + 9, NewErrors: newErrors})
		s := newSynthesizer(t, Config{BaseURL: url})
		if _, err := say(t, s); err != nil {
			t.Fatal(err)
		}
		_, err := say(t, s)
		f := wantFault(t, err, fault.Pause, CodeQuota)
		if want := fmt.Sprintf("%d credits are missing", len(sentence)-9); !strings.Contains(f.Hint, want) {
			t.Errorf("hint %q, want %q", f.Hint, want)
		}
		server.AddCredits(len(sentence))
		if _, err := say(t, s); err != nil {
			t.Errorf("after the account has credits: %v", err)
		}
	}

	server, url := simulated(t, simulator.Options{Concurrency: 1, Latency: time.Minute})
	s := newSynthesizer(t, Config{BaseURL: url})
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error)
	go func() {
		_, err := s.Synthesize(ctx, speechRequest(t))
		first <- err
	}()
	for server.Ledger().Total().InFlight == 0 {
		time.Sleep(time.Millisecond)
	}
	_, err := say(t, s)
	wantFault(t, err, fault.Wait, CodeConcurrency)
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first call ends with %v", err)
	}
}

// A reply that a server wrote by hand, and what becomes of it.
func TestReplies(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct {
		name    string
		status  int
		headers string // "Name: value", one a line
		body    string
		kind    fault.Kind
		code    string
		says    string
	}{
		{"old shape", 401, "", `{"detail":{"status":"invalid_api_key","message":"Invalid API key"}}`, fault.Pause, "invalid_api_key", "401 invalid_api_key: Invalid API key"},
		{"new shape", 404, "request-id: abc", `{"detail":{"type":"not_found","code":"voice_not_found","message":"Gone.","request_id":"abc","param":"voice_id"}}`, fault.Permanent, "voice_not_found", "404 voice_not_found: Gone., request abc"},
		{"voice gone, as 400", 400, "", `{"detail":{"status":"voice_not_found","message":"Gone."}}`, fault.Permanent, "voice_not_found", ""},
		{"voice gone, as 401", 401, "", `{"detail":{"status":"voice_not_found","message":"Gone."}}`, fault.Permanent, "voice_not_found", ""},
		{"older quota", 401, "", `{"detail":{"status":"quota_exceeded","message":"This request exceeds your quota. You have 11 characters remaining, while 70 characters are required for this request.","character_used":10059,"character_limit":10000}}`, fault.Pause, CodeQuota, "59 credits are missing"},
		{"quota without numbers", 401, "", `{"detail":{"status":"quota_exceeded","message":"Thanks for trying."}}`, fault.Pause, CodeQuota, "add credits"},
		{"code in the wrong case of status", 402, "", `{"detail":{"type":"payment_required","code":"paid_plan_required","status":"payment_required","message":"No."}}`, fault.Permanent, "plan_too_small", ""},
		{"unknown code, known status", 429, "", `{"detail":{"code":"new_word","status":"too_many_concurrent_requests","message":"No."}}`, fault.Wait, CodeConcurrency, ""},
		{"unknown 401", 401, "", `{"detail":{"status":"new_word","message":"No."}}`, fault.Pause, "unauthorized", "new_word: No."},
		{"unknown 402", 402, "", `{}`, fault.Pause, "payment_required", ""},
		{"unknown 403", 403, "", `{"detail":{"status":"new_word","message":"No."}}`, fault.Permanent, "refused", ""},
		{"unknown 429", 429, "", `nonsense`, fault.Wait, "busy", ""},
		{"too long for the model", 400, "", `{"detail":{"status":"max_character_limit_exceeded","message":"627 characters"}}`, fault.Permanent, "text_too_long", "627"},
		{"list", 422, "", `{"detail":[{"loc":["body","seed"],"msg":"too large","type":"value_error"},{"loc":["query",0],"msg":"odd","type":"x"}]}`, fault.Permanent, "bad_request", "body seed: too large; query 0: odd"},
		{"text", 404, "", `{"detail":"Not Found"}`, fault.Permanent, "not_found", "404 Not Found"},
		{"not the shape", 500, "", `{"detail":7}`, fault.Transient, "server_error", "without a readable error"},
		{"null", 500, "", `{"detail":null}`, fault.Transient, "server_error", ""},
		{"500 that names a wait", 500, "Retry-After: 9", `{}`, fault.Wait, "unavailable", ""},
		{"408", 408, "", ``, fault.Transient, "server_error", ""},
		{"redirect", 302, "Location: http://127.0.0.1:1/", ``, fault.Permanent, "not_found", "302"},
		{"created", 201, "", `audio`, fault.Permanent, "refused", "201"},
		{"long message", 400, "", `{"detail":{"status":"x","message":"` + long + `"}}`, fault.Permanent, "refused", "xxx..."},
		{"lines in a message", 400, "", `{"detail":{"status":"x","message":"a\nb\u0000c\u202e"}}`, fault.Permanent, "refused", "a b c "},
		{"key in a message", 401, "", `{"detail":{"status":"invalid_api_key","message":"Key ` + key + ` is wrong"}}`, fault.Pause, "invalid_api_key", "Key [redacted] is wrong"},
		{"key, escaped", 401, "", `{"detail":{"status":"invalid_api_key","message":"Key \u0073` + key[1:] + ` is wrong"}}`, fault.Pause, "invalid_api_key", "Key [redacted] is wrong"},
		{"key at the cut", 400, "", `{"detail":{"status":"x","message":"` + long[:290] + key + `"}}`, fault.Permanent, "refused", "[redacted]"},
		{"key as code", 400, "", `{"detail":{"status":"` + key + `","message":"No."}}`, fault.Permanent, "refused", "400 No."},
		{"key as request", 400, "request-id: " + key, `{"detail":"No."}`, fault.Permanent, "refused", "request [redacted]"},
		{"key in the body of a 200", 200, "", `"` + key + `"`, fault.Transient, "audio_broken", "no audio"},
		{"endless error", 500, "", strings.Repeat("{", 1<<17), fault.Transient, "server_error", ""},
		{"endless audio", 200, "", strings.Repeat("ab", int(longestAudio(len(sentence), 24000))), fault.Transient, "reply_too_large", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for line := range strings.Lines(c.headers) {
					name, value, _ := strings.Cut(line, ": ")
					w.Header().Set(name, value)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			_, err := say(t, newSynthesizer(t, Config{BaseURL: server.URL}))
			f := wantFault(t, err, c.kind, c.code)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q does not say %q", err, c.says)
			}
			if len(err.Error()) > 700 || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("an error of %d bytes, %q", len(err.Error()), err)
			}
			if f.Kind == fault.Wait && f.RetryAfter < minWait {
				t.Errorf("wait %s", f.RetryAfter)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	const date = "Mon, 30 Nov 2026 06:00:00 GMT"
	for _, c := range []struct {
		value, date string
		want        time.Duration
		said        bool
	}{
		{"", date, busyWait, false},
		{"soon", date, busyWait, false},
		{"-3", date, busyWait, false},
		{"NaN", date, busyWait, false},
		{"7", date, 7 * time.Second, true},
		{" 1.5 ", date, 1500 * time.Millisecond, true},
		{"0", date, minWait, true},
		{"86400", date, maxWait, true},
		{"1e300", date, maxWait, true},
		{"Mon, 30 Nov 2026 06:00:12 GMT", date, 12 * time.Second, true},
		{"Monday, 30-Nov-26 06:00:12 GMT", date, 12 * time.Second, true},
		{"Mon, 30 Nov 2026 05:00:00 GMT", date, minWait, true},
		{"Tue, 01 Dec 2026 06:00:00 GMT", date, maxWait, true},
		{"Mon, 30 Nov 1970 06:00:00 GMT", "", minWait, true}, // by this machine's clock
	} {
		header := http.Header{}
		header.Set("Retry-After", c.value)
		header.Set("Date", c.date)
		if got, said := retryAfter(header); got != c.want || said != c.said {
			t.Errorf("Retry-After %q on %q: %s %v, want %s %v", c.value, c.date, got, said, c.want, c.said)
		}
	}
}

func TestJitter(t *testing.T) {
	const wait = 8 * time.Second
	different := map[time.Duration]bool{}
	for n := range 100 {
		got := jittered(wait, fmt.Sprint("request ", n))
		if got != jittered(wait, fmt.Sprint("request ", n)) || got < wait || got > wait*5/4 {
			t.Errorf("%s becomes %s", wait, got)
		}
		different[got] = true
	}
	if len(different) < 50 {
		t.Errorf("100 calls come back at %d times", len(different))
	}
}

func FuzzError(f *testing.F) {
	for _, seed := range []string{
		`{"detail":{"status":"quota_exceeded","message":"You have 28 credits remaining, while 178 credits are required"}}`,
		`{"detail":{"type":"a","code":"b","message":"c","request_id":"d","param":"e"}}`,
		`{"detail":[{"loc":["body",1],"msg":"m","type":"t"}]}`, `{"detail":"x"}`, `{"detail":[[]]}`, `<html>`, ``, "{\"detail\":\"\xff\"}",
	} {
		f.Add([]byte(seed), 401)
	}
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		s := newSynthesizer(t, Config{})
		err := s.client.refused("speak", reply{Reply: remote.Reply{Status: status, Header: http.Header{}, Body: body}})
		var found *fault.Error
		if !errors.As(err, &found) || found.Kind == "" || found.Code == "" {
			t.Fatalf("%q gives %v", body, err)
		}
		if strings.Contains(err.Error(), key) || len(err.Error()) > 4096 || strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Errorf("%q gives %q", body, err)
		}
	})
}

func FuzzAudio(f *testing.F) {
	f.Add([]byte("{}"), "audio/pcm", "Hi")
	f.Add([]byte("<!DOCTYPE html>"), "", "Hi")
	f.Add([]byte("\x01"), "text/html; charset", "")
	f.Add(make([]byte, 4000), "audio/pcm", "I")
	f.Fuzz(func(t *testing.T, body []byte, media, text string) {
		r := reply{Reply: remote.Reply{Header: http.Header{"Content-Type": {media}}, Body: body}}
		if checkAudio(r, text, 24000) == nil && (len(body) == 0 || len(body)%2 != 0) {
			t.Errorf("%d bytes are taken for audio", len(body))
		}
	})
}

func TestVoiceParams(t *testing.T) {
	for value, ok := range map[string]bool{"0": true, "1": true, "0.35": true, "1.1": false, "-0.1": false, "": false, "1e0": false, "0x1": false, " 1": false, "+1": false} {
		_, err := parseVoice(voice.Voice{Slug: "v", Params: map[string]string{"id": "a", "style": value}})
		if (err == nil) != ok {
			t.Errorf("style %q: %v", value, err)
		}
	}
	_, err := parseVoice(voice.Voice{Slug: "v", Params: map[string]string{"id": "a b", "speed": "9", "volume": "1", "model": "m"}})
	for _, want := range []string{`"v"`, "id", "speed", "volume", "eleven_multilingual_v2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}
