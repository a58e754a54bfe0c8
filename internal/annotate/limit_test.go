package annotate

import (
	"net/http/httptest"
	"testing"
	"time"
)

func TestAddress(t *testing.T) {
	for _, test := range []struct {
		remote    string
		forwarded []string
		proxy     bool
		want      string
	}{
		{remote: "192.0.2.1:99", want: "192.0.2.1"},
		{remote: "192.0.2.1:99", forwarded: []string{"198.51.100.7"}, want: "192.0.2.1"}, // anybody may write that
		{remote: "127.0.0.1:99", forwarded: []string{"6.6.6.6, 198.51.100.7"}, proxy: true, want: "198.51.100.7"},
		{remote: "127.0.0.1:99", forwarded: []string{"6.6.6.6", "198.51.100.8"}, proxy: true, want: "198.51.100.8"},
		{remote: "127.0.0.1:99", forwarded: []string{"rubbish"}, proxy: true, want: "unknown"},
		{remote: "[2001:db8:1:2:3:4:5:6]:99", want: "2001:db8:1:2::/64"},
		{remote: "[::ffff:192.0.2.1]:99", want: "192.0.2.1"},
	} {
		r := httptest.NewRequest("POST", "/enter", nil)
		r.RemoteAddr = test.remote
		for _, entry := range test.forwarded {
			r.Header.Add("X-Forwarded-For", entry)
		}
		if got := address(r, test.proxy); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestLimiter(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	l := limiter{now: func() time.Time { return now }}
	try := func(address string, allowed, first bool) {
		t.Helper()
		if a, f := l.allow(address); a != allowed || f != first {
			t.Errorf("%s: allowed %t, first refusal %t", address, a, f)
		}
	}
	for range maxFailures {
		try("a", true, false)
		try("class", true, false)
		l.failed("a")
	}
	try("class", true, false)
	try("a", false, true)
	try("a", false, false)
	try("b", true, false)
	now = now.Add(time.Minute)
	for range maxSignIns {
		try("a", true, false)
	}
	try("b", false, true)
}

func TestTickets(t *testing.T) {
	s, err := newSealer()
	if err != nil {
		t.Fatal(err)
	}
	at := time.UnixMilli(1_900_000_000_123)
	text := s.ticket(ticket{item: 1999, at: at}, "item", "study/s/A01/text-00")
	if got, err := s.openTicket(text, "item", "study/s/A01/text-00"); err != nil || got.item != 1999 || !got.at.Equal(at) {
		t.Errorf("%+v, %v", got, err)
	}
	other, err := newSealer()
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (ticket, error){
		"for another purpose": func() (ticket, error) { return s.openTicket(text, "clip", "study/s/A01/text-00") },
		"for another batch":   func() (ticket, error) { return s.openTicket(text, "item", "study/s/A02/text-00") },
		"with another key":    func() (ticket, error) { return other.openTicket(text, "item", "study/s/A01/text-00") },
		"of nothing":          func() (ticket, error) { return s.openTicket("", "item", "study/s/A01/text-00") },
		"that is too short":   func() (ticket, error) { return s.openTicket(s.seal(nil, "x"), "x") },
		"that is no base64":   func() (ticket, error) { return s.openTicket("???", "x") },
		"whose end was cut":   func() (ticket, error) { return s.openTicket(text[:len(text)-2], "item", "study/s/A01/text-00") },
	} {
		if got, err := open(); err == nil {
			t.Errorf("a ticket %s opens: %+v", name, got)
		}
	}
}

// FuzzTicket gives what nobody sealed: it opens for nothing.
func FuzzTicket(f *testing.F) {
	s, err := newSealer()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "AAAA", "???", s.ticket(ticket{}, "another")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := s.openTicket(text, "item", "w"); err == nil {
			t.Errorf("%q opens: %+v", text, got)
		}
	})
}
