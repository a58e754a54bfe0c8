package elevenlabs

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/fault"
	simulator "github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
	"github.com/speechmanip/speechmanip/internal/speech"
)

func TestAccount(t *testing.T) {
	server, url := simulated(t, simulator.Options{Quota: 100})
	s := newSynthesizer(t, Config{BaseURL: url})
	want := speech.Account{Plan: "creator", Limit: 100, Resets: time.Unix(simulator.ResetUnix, 0).UTC()}
	check := func(what string) {
		t.Helper()
		got, err := s.Account(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("a new account")
	if _, err := say(t, s); err != nil {
		t.Fatal(err)
	}
	want.Used = len(sentence)
	check("after a call")
	server.AddCredits(50)
	want.Limit += 50
	check("with more credits")

	server.SetAPIKey("another")
	_, err := s.Account(t.Context())
	wantFault(t, err, fault.Pause, "invalid_api_key")
}

// What is no subscription says nothing about the account, least of all that it is
// empty. A free account's never resets.
func TestAccountReplies(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       speech.Account
		code       string
	}{
		{"without a reset", `{"tier":"free","character_count":7,"character_limit":10000,"next_character_count_reset_unix":null}`,
			speech.Account{Plan: "free", Used: 7, Limit: 10000}, ""},
		{"the key for a tier", `{"tier":"` + key + `","character_limit":1}`, speech.Account{Plan: "[redacted]", Limit: 1}, ""},
		{"a page", "<html></html>", speech.Account{}, "bad_reply"},
		{"another object", `{"voices":[]}`, speech.Account{}, "bad_reply"},
		{"null", `null`, speech.Account{}, "bad_reply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(c.body)) }))
			defer server.Close()
			got, err := newSynthesizer(t, Config{BaseURL: server.URL}).Account(t.Context())
			if c.code != "" {
				wantFault(t, err, fault.Transient, c.code)
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
