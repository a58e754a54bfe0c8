package elevenlabs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/fault"
	simulator "github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/speech/speechtest"
	"github.com/speechmanip/speechmanip/internal/voice"
)

const (
	key      = "sk_marked_c0ffee42"
	sentence = "I told you this would happen."
)

func paper(t *testing.T) voice.Pool {
	t.Helper()
	pool, err := voice.BuiltIn("paper")
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// simulated starts a server with the paper's voices. Settings of o that matter to
// no test are filled in.
func simulated(t *testing.T, o simulator.Options) (*simulator.Server, string) {
	t.Helper()
	o.APIKey = key
	for _, v := range paper(t).Voices {
		o.Voices = append(o.Voices, v.Params["id"])
	}
	server := simulator.New(o)
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	return server, listening.URL
}

func newSynthesizer(t *testing.T, c Config) *Synthesizer {
	t.Helper()
	if c.APIKey == "" {
		c.APIKey = key
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func speechRequest(t *testing.T) speech.Request {
	t.Helper()
	return speech.Request{Text: sentence, Voice: paper(t).Voices[0], Seed: 7}
}

// say speaks the sentence in the paper's first voice.
func say(t *testing.T, s *Synthesizer) (speech.Speech, error) {
	t.Helper()
	return s.Synthesize(context.Background(), speechRequest(t))
}

func params(pairs ...string) map[string]string {
	m := map[string]string{"id": "yM93hbw8Qtvdma2wCnJG"}
	for i := 0; i < len(pairs); i += 2 {
		if m[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
			delete(m, pairs[i])
		}
	}
	return m
}

func TestConformance(t *testing.T) {
	for _, newErrors := range []bool{false, true} {
		t.Run(fmt.Sprintf("new errors %v", newErrors), func(t *testing.T) {
			_, url := simulated(t, simulator.Options{NewErrors: newErrors})
			speechtest.Run(t, speechtest.Subject{
				New:  func() speech.Synthesizer { return newSynthesizer(t, Config{BaseURL: url}) },
				Pool: paper(t),
				Wrong: []voice.Voice{
					{Slug: "unknown-voice", Params: params("id", "aaaaaaaaaaaaaaaaaaaa")},
					{Slug: "voice-as-path", Params: params("id", "../voices")},
					{Slug: "no-voice", Params: params("id", "")},
					{Slug: "unknown-param", Params: params("pitch", "3")},
					{Slug: "unknown-model", Params: params("model", "eleven_v9")},
					{Slug: "too-fast", Params: params("speed", "1.3")},
					{Slug: "stability-of-text", Params: params("stability", "NaN")},
					{Slug: "boost-of-text", Params: params("use_speaker_boost", "yes")},
				},
			})
		})
	}
}

// What a turn's neighbours are reaches the service, which shapes the audio by it
// and bills the turn alone.
func TestNeighbours(t *testing.T) {
	_, url := simulated(t, simulator.Options{})
	s := newSynthesizer(t, Config{BaseURL: url})
	heard := map[string]string{}
	for name, change := range map[string]func(*speech.Request){
		"alone":  func(*speech.Request) {},
		"before": func(r *speech.Request) { r.Previous = "So?" },
		"after":  func(r *speech.Request) { r.Next = "So?" },
	} {
		r := speechRequest(t)
		change(&r)
		got, err := s.Synthesize(t.Context(), r)
		if err != nil || got.Credits != len(sentence) {
			t.Fatalf("%s: %d credits, %v", name, got.Credits, err)
		}
		if other, ok := heard[string(got.Audio)]; ok {
			t.Errorf("%s sounds like %s", name, other)
		}
		heard[string(got.Audio)] = name
	}
}

func TestSpeech(t *testing.T) {
	server, url := simulated(t, simulator.Options{})
	for format, rate := range rates {
		got, err := say(t, newSynthesizer(t, Config{BaseURL: url + "/v1/", Format: format}))
		if err != nil {
			t.Fatal(err)
		}
		pcm, info, err := audio.Decode(got.Audio)
		if err != nil || len(info.Warnings) > 0 || pcm.Rate != rate {
			t.Fatalf("%s: the file decodes to %d Hz, %v, %v", format, pcm.Rate, info.Warnings, err)
		}
		if want := 0.2 + 0.06*float64(len(sentence)); pcm.Seconds() < want-0.01 || pcm.Seconds() > want+0.01 {
			t.Errorf("%s: %.2f s of audio, the simulator sings %.2f", format, pcm.Seconds(), want)
		}
		if got.Characters != len(sentence) || got.Credits != len(sentence) || !strings.HasPrefix(got.RequestID, "sim") {
			t.Errorf("%s: %d characters for %d credits, request %q", format, got.Characters, got.Credits, got.RequestID)
		}
	}
	_, limited := simulated(t, simulator.Options{Concurrency: 3})
	if got, err := say(t, newSynthesizer(t, Config{BaseURL: limited})); err != nil || got.Ceiling != 3 {
		t.Errorf("the account's ceiling is %d, %v", got.Ceiling, err)
	}
	flash := voice.Voice{Slug: "v", Params: params("model", "eleven_flash_v2_5")}
	got, err := newSynthesizer(t, Config{BaseURL: url}).Synthesize(context.Background(), speech.Request{Text: "Four", Voice: flash})
	if err != nil || got.Characters != 4 || got.Credits != 2 {
		t.Errorf("a cheaper model: %d characters for %d credits, %v", got.Characters, got.Credits, err)
	}
	if total := server.Ledger().Total(); total.Cost != len(rates)*len(sentence)+2 {
		t.Errorf("the account was billed %d credits", total.Cost)
	}
}

// The request, as ElevenLabs documents it.
func TestRequest(t *testing.T) {
	var got *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got, body = r, string(data)
	}))
	defer server.Close()
	s := newSynthesizer(t, Config{BaseURL: server.URL})
	speak := func(v map[string]string) {
		_, err := s.Synthesize(context.Background(), speech.Request{
			Text: `He said "Jack & Jones".`, Voice: voice.Voice{Slug: "v", Params: v}, Seed: 4294967295,
		})
		if fault.KindOf(err) != fault.Transient {
			t.Fatalf("an empty reply gives %v", err)
		}
	}
	speak(params())
	if got.Method != "POST" || got.URL.String() != "/v1/text-to-speech/yM93hbw8Qtvdma2wCnJG?output_format=pcm_24000" {
		t.Errorf("%s %s", got.Method, got.URL)
	}
	if got.Header.Get("xi-api-key") != key || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("header %v", got.Header)
	}
	same(t, body, `{"text":"He said \"Jack & Jones\".","model_id":"eleven_multilingual_v2","seed":4294967295}`)
	speak(params("model", "eleven_multilingual_v2", "stability", "0.5", "similarity_boost", "0.75", "style", "0", "use_speaker_boost", "false", "speed", "1.1"))
	same(t, body, `{"text":"He said \"Jack & Jones\".","model_id":"eleven_multilingual_v2","seed":4294967295,
		"voice_settings":{"stability":0.5,"similarity_boost":0.75,"style":0,"use_speaker_boost":false,"speed":1.1}}`)
}

func same(t *testing.T, got, want string) {
	t.Helper()
	var a, b any
	if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		t.Fatalf("no JSON: %s", got)
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Error(diff)
	}
}

func TestTextLimits(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls++ }))
	defer server.Close()
	for model, limit := range map[string]int{"eleven_multilingual_v2": 10000, "eleven_v3": 5000, "eleven_flash_v2_5": 40000, "eleven_turbo_v2": 30000} {
		s := newSynthesizer(t, Config{BaseURL: server.URL})
		v := voice.Voice{Slug: "v", Params: params("model", model)}
		calls = 0
		_, err := s.Synthesize(context.Background(), speech.Request{Text: strings.Repeat("é", limit+1), Voice: v})
		if wantFault(t, err, fault.Permanent, "text_too_long"); calls != 0 {
			t.Errorf("%s: a text that is too long was sent", model)
		}
		_, _ = s.Synthesize(context.Background(), speech.Request{Text: strings.Repeat("é", limit), Voice: v})
		if calls != 1 {
			t.Errorf("%s: a text of %d characters was not sent", model, limit)
		}
	}
}

func TestEngine(t *testing.T) {
	got, err := newSynthesizer(t, Config{BaseURL: " https://api.elevenlabs.io/v1/ "}).Engine(context.Background())
	want := speech.Engine{Name: "elevenlabs", Version: "v1", Format: "wav_24000 (pcm_24000)"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	other, _ := newSynthesizer(t, Config{BaseURL: "http://localhost:9"}).Engine(context.Background())
	if other.Version != "v1 of http://localhost:9" {
		t.Errorf("another server's version is %q: its audio would be taken for ElevenLabs'", other.Version)
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		want   []string
	}{
		{"no key", Config{}, []string{"no API key"}},
		{"blank key", Config{APIKey: " \n"}, []string{"no API key"}},
		{"two keys", Config{APIKey: key + "\n" + key}, []string{"the API key holds"}},
		{"format", Config{APIKey: key, Format: "mp3_44100_128"}, []string{"mp3_44100_128", "pcm_24000"}},
		{"scheme", Config{APIKey: key, BaseURL: "ftp://" + key}, []string{"base URL must be"}},
		{"user", Config{APIKey: key, BaseURL: "https://" + key + "@host"}, []string{"base URL must hold no user"}},
		{"unreadable", Config{APIKey: key, BaseURL: "http://" + key + "%zz"}, []string{"base URL can't be read"}},
		{"timeout", Config{APIKey: key, Timeout: -1}, []string{"timeout"}},
	} {
		s, err := New(c.config)
		if err == nil {
			t.Errorf("%s: accepted as %v", c.name, s)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.name, err, want)
			}
		}
		if strings.Contains(err.Error(), key) {
			t.Errorf("%s: %q holds the key", c.name, err)
		}
	}
}

// The call's own deadline ends it before the caller's, with a fault; the caller's
// ends it with what the caller's context says.
func TestDeadlines(t *testing.T) {
	server, url := simulated(t, simulator.Options{Latency: time.Minute})
	_, err := say(t, newSynthesizer(t, Config{BaseURL: url, Timeout: 20 * time.Millisecond}))
	wantFault(t, err, fault.Transient, "timeout")
	if errors.Is(err, context.DeadlineExceeded) {
		t.Error("the call's own deadline looks like the caller's")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = newSynthesizer(t, Config{BaseURL: url}).Synthesize(ctx, speechRequest(t))
	if !errors.Is(err, context.DeadlineExceeded) || fault.KindOf(err) == fault.Permanent {
		t.Errorf("the caller's deadline gives %v", err)
	}
	for server.Ledger().Total().InFlight > 0 {
		time.Sleep(time.Millisecond)
	}
	if total := server.Ledger().Total(); total.Abandoned != 2 {
		t.Errorf("the account's ledger: %+v, want two abandoned calls", total)
	}
}

func TestSecretNeverPrints(t *testing.T) {
	c := Config{APIKey: key}
	s := newSynthesizer(t, c)
	encoded, err := json.Marshal(c.APIKey)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{string(encoded)}
	for _, value := range []any{c, &c, c.APIKey, &c.APIKey, s, s.client, *s.client.Service} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			texts = append(texts, fmt.Sprintf(verb, value))
		}
	}
	hex := fmt.Sprintf("%x", key)
	for _, text := range texts {
		if strings.Contains(text, key) || strings.Contains(text, hex) {
			t.Errorf("prints the key: %s", text)
		}
	}
}

func TestWAV(t *testing.T) {
	samples := []byte{1, 0, 0xff, 0x7f, 0, 0x80}
	got := wav(samples, 24000)
	pcm, info, err := audio.Decode(got)
	if err != nil || len(info.Warnings) > 0 || pcm.Rate != 24000 || len(pcm.Samples) != 3 || info.Channels != 1 || info.Bits != 16 {
		t.Errorf("decodes to %+v, %+v, %v", pcm, info, err)
	}
	if !bytes.HasSuffix(got, samples) {
		t.Error("the samples have changed")
	}
}
