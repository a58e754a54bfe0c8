package elevenlabs

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/simulator/ledger"
	"github.com/speechmanip/speechmanip/internal/simulator/schedule"
)

const (
	key   = "sk_test"
	voice = "yM93hbw8Qtvdma2wCnJG"
	speak = "POST /v1/text-to-speech/" + voice + "?output_format=pcm_24000"
	hello = `{"text":"Hello there.","model_id":"eleven_multilingual_v2","seed":1}`
)

func start(t *testing.T, o Options) (*Server, string) {
	t.Helper()
	o.APIKey, o.Voices = key, []string{voice, "UgBBYS2sOqTuMpoF3BR0"}
	server := New(o)
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	return server, listening.URL
}

// send makes a request with headers of its own, "Name: value", or the key when
// there is none.
func send(t *testing.T, url, route, body string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	method, path, _ := strings.Cut(route, " ")
	r, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if headers == nil {
		headers = []string{"xi-api-key: " + key}
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, data
}

// The exchanges that ElevenLabs' documentation and its users' reports show,
// written by hand. A word "..." in a wanted body stands for anything.
func TestDocumentedErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		options Options
		route   string
		body    string
		headers []string
		status  int
		want    string
	}{
		{name: "bad key", route: speak, body: hello, headers: []string{"xi-api-key: x"}, status: 401,
			want: `{"detail":{"status":"invalid_api_key","message":"Invalid API key"}}`},
		{name: "bad key, new", options: Options{NewErrors: true}, route: speak, body: hello, headers: []string{"xi-api-key: x"}, status: 401,
			want: `{"detail":{"type":"authentication_error","code":"invalid_api_key","message":"Invalid API key","request_id":"...","param":null}}`},
		{name: "no key", route: speak, body: hello, headers: []string{"accept: */*"}, status: 401,
			want: `{"detail":{"status":"needs_authorization","message":"Neither authorization header nor xi-api-key received, please provide one."}}`},
		{name: "no credits", options: Options{Quota: 10}, route: speak, body: hello, status: 401,
			want: `{"detail":{"status":"quota_exceeded","message":"This request exceeds your quota of 10. You have 10 credits remaining, while 12 credits are required for this request."}}`},
		{name: "text too long", route: speak, body: `{"text":"` + strings.Repeat("a", 10001) + `"}`, status: 400,
			want: `{"detail":{"status":"max_character_limit_exceeded","message":"..."}}`},
		{name: "voice gone", route: "POST /v1/text-to-speech/nobody?output_format=pcm_24000", body: hello, status: 404,
			want: `{"detail":{"status":"voice_not_found","message":"A voice with the voice_id nobody was not found."}}`},
		{name: "voice gone, asked for", route: "GET /v1/voices/nobody", status: 404,
			want: `{"detail":{"status":"voice_not_found","message":"..."}}`},
		{name: "unknown model", route: speak, body: `{"text":"a","model_id":"m"}`, status: 400,
			want: `{"detail":{"status":"model_not_found","message":"A model with model ID m does not exist ..."}}`},
		{name: "too fast", route: speak, body: `{"text":"a","voice_settings":{"speed":1.3}}`, status: 400,
			want: `{"detail":{"status":"invalid_voice_settings","message":"..."}}`},
		{name: "no text", route: speak, body: `{"model_id":"eleven_multilingual_v2"}`, status: 422,
			want: `{"detail":[{"loc":["body","text"],"msg":"Field required","type":"..."}]}`},
		{name: "no JSON", route: speak, body: `text`, status: 422,
			want: `{"detail":[{"loc":["body"],"msg":"...","type":"..."}]}`},
		{name: "seed out of range", route: speak, body: `{"text":"a","seed":4294967296}`, status: 422,
			want: `{"detail":[{"loc":["body","seed"],"msg":"...","type":"..."}]}`},
		{name: "unknown format", route: "POST /v1/text-to-speech/" + voice + "?output_format=pcm_12345", body: hello, status: 422,
			want: `{"detail":[{"loc":["query","output_format"],"msg":"...","type":"..."}]}`},
		{name: "unknown path", route: "GET /v1/nothing", status: 404, want: `{"detail":"Not Found"}`},
		{name: "other version", route: "GET /v9/voices", status: 404, want: `{"detail":"Not Found"}`},
		{name: "plan too small", options: at0(PlanTooSmall), route: speak, body: hello, status: 403,
			want: `{"detail":{"status":"only_for_creator+","message":"..."}}`},
		{name: "library voice, unpaid", options: at0(PlanNotPaid), route: speak, body: hello, status: 402,
			want: `{"detail":{"type":"payment_required","code":"paid_plan_required","status":"payment_required","message":"...","request_id":"...","param":null}}`},
		{name: "concurrency", options: at0(TooMany), route: speak, body: hello, status: 429,
			want: `{"detail":{"status":"too_many_concurrent_requests","message":"..."}}`},
		{name: "concurrency, new", options: at0(TooManyNew), route: speak, body: hello, status: 429,
			want: `{"detail":{"type":"rate_limit_error","code":"concurrent_limit_exceeded","message":"...","request_id":"...","param":null}}`},
		{name: "busy", options: at0(Busy), route: speak, body: hello, status: 429,
			want: `{"detail":{"status":"system_busy","message":"..."}}`},
		{name: "rate", options: at0(RateLimited), route: speak, body: hello, status: 429,
			want: `{"detail":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"...","request_id":"...","param":null}}`},
		{name: "quota of a key", options: at0(NoKeyQuota), route: speak, body: hello, status: 401,
			want: `{"detail":{"type":"...","code":"quota_exceeded","message":"...","request_id":"...","param":null}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, url := start(t, c.options)
			response, body := send(t, url, c.route, c.body, c.headers...)
			if response.StatusCode != c.status || response.Header.Get("Content-Type") != "application/json" || response.Header.Get("request-id") == "" {
				t.Errorf("%d, header %v", response.StatusCode, response.Header)
			}
			var got, want any
			if json.Unmarshal(body, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
				t.Fatalf("no JSON: %s", body)
			}
			anything := cmp.FilterValues(func(a, b any) bool { return a == "..." || b == "..." }, cmp.Comparer(func(a, b any) bool {
				return a != "" && b != "" && a != nil && b != nil
			}))
			if diff := cmp.Diff(want, got, anything); diff != "" {
				t.Errorf("%s: %s", body, diff)
			}
			if total := server.Ledger().Total(); total.Cost != 0 {
				t.Errorf("a refusal costs %d credits", total.Cost)
			}
		})
	}
}

// at0 breaks the first call only.
func at0(f Fault) Options {
	plan := schedule.Schedule[Fault]{At: map[int]Fault{0: f}}
	return Options{Fault: func(c Call) Fault { return plan.Nth(c.N) }}
}

func TestVoices(t *testing.T) {
	_, url := start(t, Options{})
	_, body := send(t, url, "GET /v1/voices", "")
	var list struct {
		Voices []struct {
			ID   string `json:"voice_id"`
			Name string
		}
	}
	if err := json.Unmarshal(body, &list); err != nil || len(list.Voices) != 2 || list.Voices[0].ID != voice || list.Voices[0].Name == "" {
		t.Errorf("%v: %s", err, body)
	}
	response, body := send(t, url, "GET /v1/voices/"+voice, "")
	if response.StatusCode != 200 || !strings.Contains(string(body), `"voice_id":"`+voice+`"`) {
		t.Errorf("%d: %s", response.StatusCode, body)
	}
}

func TestSpeech(t *testing.T) {
	server, url := start(t, Options{Concurrency: 3})
	response, pcm := send(t, url, speak, hello)
	h := response.Header
	if response.StatusCode != 200 || h.Get("Content-Type") != "audio/pcm" || h.Get("request-id") == "" || h.Get("character-cost") != "12" ||
		h.Get("current-concurrent-requests") != "1" || h.Get("maximum-concurrent-requests") != "3" {
		t.Errorf("%d, header %v", response.StatusCode, h)
	}
	if want := 2 * (2*2400 + 12*1440); len(pcm) != want {
		t.Errorf("%d bytes, want %d: 0.06 s a character and 0.1 s at either end", len(pcm), want)
	}
	if peak := loudest16(pcm); peak < 0.25*math.MaxInt16 || peak > 0.31*math.MaxInt16 {
		t.Errorf("the loudest sample is %.0f", peak)
	}
	if _, again := send(t, url, speak, hello); !bytes.Equal(pcm, again) {
		t.Error("the same request has other audio")
	}
	heard := map[string]string{string(pcm): "first"}
	for name, c := range map[string][2]string{
		"voice":    {strings.Replace(speak, voice, "UgBBYS2sOqTuMpoF3BR0", 1), hello},
		"text":     {speak, strings.Replace(hello, "there", "again", 1)},
		"seed":     {speak, strings.Replace(hello, ":1", ":2", 1)},
		"model":    {speak, strings.Replace(hello, "multilingual_v2", "flash_v2_5", 1)},
		"settings": {speak, `{"text":"Hello there.","seed":1,"voice_settings":{"stability":0.1}}`},
		"context":  {speak, `{"text":"Hello there.","seed":1,"previous_text":"No."}`},
		"rate":     {strings.Replace(speak, "24000", "16000", 1), hello},
	} {
		response, body := send(t, url, c[0], c[1])
		if other, same := heard[string(body)]; same || response.StatusCode != 200 {
			t.Errorf("%s: %d, the same audio as %s", name, response.StatusCode, other)
		}
		heard[string(body)] = name
		if want := map[bool]string{true: "6", false: "12"}[name == "model"]; response.Header.Get("character-cost") != want {
			t.Errorf("%s: costs %s, want %s", name, response.Header.Get("character-cost"), want)
		}
	}
	want := ledger.Total{Calls: 9, Requests: 8, Cost: 8*12 + 6, Wasted: 12, Repeats: 1, Peak: 1}
	if diff := cmp.Diff(want, settled(server)); diff != "" {
		t.Error(diff)
	}
}

// settled returns the ledger once no call is in flight: a reply is read before
// its handler ends.
func settled(s *Server) ledger.Total {
	for s.Ledger().Total().InFlight > 0 {
		time.Sleep(time.Millisecond)
	}
	return s.Ledger().Total()
}

func loudest16(pcm []byte) (peak float64) {
	for at := 0; at+1 < len(pcm); at += 2 {
		peak = max(peak, math.Abs(float64(int16(binary.LittleEndian.Uint16(pcm[at:])))))
	}
	return peak
}

func TestWAV(t *testing.T) {
	_, url := start(t, Options{})
	_, pcm := send(t, url, speak, hello)
	_, wav := send(t, url, strings.Replace(speak, "pcm", "wav", 1), hello)
	want := "RIFF" + u32(36+len(pcm)) + "WAVEfmt " + u32(16) + "\x01\x00\x01\x00" + u32(24000) + u32(48000) + "\x02\x00\x10\x00data" + u32(len(pcm)) + string(pcm)
	if string(wav) != want {
		t.Errorf("the file of %d bytes begins with %q", len(wav), wav[:min(len(wav), 44)])
	}
}

func u32(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

func TestRetryAfter(t *testing.T) {
	_, url := start(t, at0(Busy))
	response, _ := send(t, url, speak, hello)
	if got := response.Header.Get("Retry-After"); got != strconv.Itoa(BusySeconds) {
		t.Errorf("in seconds: %q", got)
	}
	_, url = start(t, at0(RateLimited))
	response, _ = send(t, url, speak, hello)
	date, err := http.ParseTime(response.Header.Get("Date"))
	again, err2 := http.ParseTime(response.Header.Get("Retry-After"))
	if err != nil || err2 != nil || again.Sub(date) != RateLimitedSeconds*time.Second {
		t.Errorf("as a date: %v", response.Header)
	}
}

// What goes wrong on the wire, in the ledger and on the next call.
func TestFaults(t *testing.T) {
	free := []Fault{
		TooMany, TooManyNew, Busy, RateLimited, NoQuota, NoKeyQuota, BadKey, VoiceGone, PlanTooSmall, PlanNotPaid,
		Unprocessable, ServerError, Unavailable, Gateway, Reset,
	}
	costs := map[Fault]int{}
	for _, f := range Faults() {
		costs[f] = 12
	}
	for _, f := range free {
		costs[f] = 0
	}
	for _, f := range Faults() {
		server, url := start(t, at0(f))
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond) // of the slow body
		method, path, _ := strings.Cut(speak, " ")
		r, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("xi-api-key", key)
		broken := false
		var body []byte
		response, err := http.DefaultClient.Do(r)
		if err == nil {
			body, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		broken = err != nil
		cancel()
		if want := f == Reset || f == LateReset || f == SlowBody || f == CutBody; broken != want {
			t.Errorf("%s: the exchange breaks: %v (%v), want %v", f, broken, err, want)
		}
		total := settled(server)
		destroyed := 0
		if costs[f] > 0 {
			destroyed = 1
		}
		if total.Cost != costs[f] || total.Destroyed != destroyed || total.Wasted != costs[f] {
			t.Errorf("%s: %+v, want a cost of %d", f, total, costs[f])
		}
		whole, _ := send(t, url, speak, hello)
		if whole.StatusCode != 200 {
			t.Errorf("%s: the next call is answered %d", f, whole.StatusCode)
		}
		switch f {
		case Empty:
			if len(body) != 0 {
				t.Errorf("%s: %d bytes", f, len(body))
			}
		case OddAudio:
			if len(body)%2 == 0 {
				t.Errorf("%s: %d bytes", f, len(body))
			}
		case Silence:
			if loudest16(body) != 0 || len(body) == 0 {
				t.Errorf("%s: %d bytes, the loudest is %.0f", f, len(body), loudest16(body))
			}
		case JSONAudio, ErrorAudio:
			if response.StatusCode != 200 || !json.Valid(body) {
				t.Errorf("%s: %d %s", f, response.StatusCode, body)
			}
		case HTMLAudio, Gateway:
			if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") || !bytes.HasPrefix(body, []byte("<!DOCTYPE html>")) {
				t.Errorf("%s: %s", f, body)
			}
		}
	}
}

func TestSchedule(t *testing.T) {
	plan := schedule.Even(11, 0.5, Faults()...)
	var calls []Call
	_, url := start(t, Options{Fault: func(c Call) Fault {
		calls = append(calls, c)
		if f := plan.Request(c.Key, c.Try); f == ServerError {
			return f
		}
		return None
	}})
	for range 3 {
		send(t, url, speak, hello)
	}
	send(t, url, speak, strings.Replace(hello, "there", "again", 1))
	if len(calls) != 4 {
		t.Fatalf("%d calls", len(calls))
	}
	first, other := calls[0].Key, calls[3].Key
	const text = "Hello there."
	want := []Call{{0, first, 0, text}, {1, first, 1, text}, {2, first, 2, text}, {3, other, 0, "Hello again."}}
	if diff := cmp.Diff(want, calls); diff != "" || first == other || first == "" {
		t.Error(diff)
	}
}

func TestConcurrency(t *testing.T) {
	for code, newErrors := range map[string]bool{`"status":"too_many_concurrent_requests"`: false, `"code":"concurrent_limit_exceeded"`: true} {
		server, url := start(t, Options{Concurrency: 2, Latency: time.Hour, NewErrors: newErrors})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{}, 2)
		for range 2 {
			go func() {
				defer func() { done <- struct{}{} }()
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+strings.TrimPrefix(speak, "POST "), strings.NewReader(hello))
				if err != nil {
					return
				}
				r.Header.Set("xi-api-key", key)
				if response, err := http.DefaultClient.Do(r); err == nil {
					_ = response.Body.Close()
				}
			}()
		}
		for server.Ledger().Total().InFlight < 2 {
			time.Sleep(time.Millisecond)
		}
		response, body := send(t, url, speak, hello)
		if response.StatusCode != 429 || !strings.Contains(string(body), code) {
			t.Errorf("the third call at once: %d %s", response.StatusCode, body)
		}
		cancel()
		<-done
		<-done
		total := settled(server)
		want := ledger.Total{Calls: 2, Requests: 1, Cost: 24, Wasted: 24, Overlaps: 1, Abandoned: 2, Peak: 2}
		if diff := cmp.Diff(want, total); diff != "" {
			t.Error(diff)
		}
	}
}

func TestQuota(t *testing.T) {
	server, url := start(t, Options{Quota: 20})
	status := func() int { response, _ := send(t, url, speak, hello); return response.StatusCode }
	if first, second := status(), status(); first != 200 || second != 401 {
		t.Errorf("with 20 credits two calls of 12 give %d and %d", first, second)
	}
	server.AddCredits(4)
	if third := status(); third != 200 {
		t.Errorf("with 12 credits again: %d", third)
	}
	server.SetAPIKey("another")
	if after := status(); after != 401 {
		t.Errorf("with a key that was replaced: %d", after)
	}
}
