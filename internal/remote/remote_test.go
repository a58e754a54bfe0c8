package remote

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
)

const key = "hunter2-hidden"

func TestRoot(t *testing.T) {
	for address, want := range map[string]string{
		"https://host/v1": "https://host", " http://host:1/ ": "http://host:1", "https://host/proxy/v1/": "https://host/proxy",
	} {
		if got, err := Root(address); got != want || err != nil {
			t.Errorf("Root(%q) is %q, %v; want %q", address, got, err, want)
		}
	}
	for _, address := range []string{"", "host", "ftp://host", "http://" + key + "@host", "http://host?key=" + key, "http://" + key + "%zz"} {
		if _, err := Root(address); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("Root(%q): %v", address, err)
		}
	}
}

// service is one whose server answers as told, with its key in a header.
func service(t *testing.T, timeout time.Duration, answer http.HandlerFunc) *Service {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return New(Config{Root: server.URL, Key: key, Header: "Authorization", Scheme: "Bearer ", Timeout: timeout})
}

func TestReplyIsBounded(t *testing.T) {
	for _, test := range []struct {
		name         string
		status, size int
		want         int
		cut          bool
	}{
		{"whole", 200, 10, 10, false}, {"too large", 200, 11, 10, true},
		{"error", 500, 1000, 1000, false}, {"endless error", 500, maxError + 1, maxError, true},
	} {
		s := service(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+key {
				t.Error("the call has no key")
			}
			w.WriteHeader(test.status)
			_, _ = w.Write(make([]byte, test.size))
		})
		r, err := s.Do(t.Context(), Call{Op: "try", Method: http.MethodGet, Path: "/", Limit: 10})
		if err != nil || r.Status != test.status || len(r.Body) != test.want || r.Cut != test.cut {
			t.Errorf("%s: %d, %d bytes, cut %v, %v", test.name, r.Status, len(r.Body), r.Cut, err)
		}
	}
}

// The key would go along.
func TestFollowsNoRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect is followed") }))
	defer other.Close()
	s := service(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	if r, err := s.Do(t.Context(), Call{Op: "try", Method: http.MethodPost, Path: "/", Body: "text"}); err != nil || r.Status != http.StatusTemporaryRedirect {
		t.Errorf("%d, %v", r.Status, err)
	}
}

func TestNoReply(t *testing.T) {
	stuck := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for code, s := range map[string]*Service{"timeout": service(t, 20*time.Millisecond, stuck), CodeConnection: service(t, time.Minute, cut)} {
		_, err := s.Do(t.Context(), Call{Op: "try", Method: http.MethodGet, Path: "/?q=" + key})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Transient || f.Code != code || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", code, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := service(t, time.Minute, stuck).Do(ctx, Call{Op: "try", Method: http.MethodGet, Path: "/"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call ends with %v", err)
	}
}
