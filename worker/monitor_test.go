package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
)

func ask(t *testing.T, handler http.Handler, path string) (int, string) {
	t.Helper()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
	return answer.Code, answer.Body.String()
}

func TestReadiness(t *testing.T) {
	now := time.Unix(0, 0)
	h := &health{now: func() time.Time { return now }}
	handler := monitor(http.NotFoundHandler(), h)
	want := func(code int, text string) {
		t.Helper()
		if got, body := ask(t, handler, "/readyz"); got != code || !strings.Contains(body, text) {
			t.Errorf("/readyz answers %d %q, want %d %q", got, body, code, text)
		}
		if got, body := ask(t, handler, "/healthz"); got != 200 || body != "ok\n" {
			t.Errorf("/healthz answers %d %q", got, body)
		}
	}
	want(503, "starting")
	var away error
	asked := 0
	h.works([]check{
		{"the store", func(ctx context.Context) error {
			if _, ok := ctx.Deadline(); !ok {
				t.Error("a check may last for ever")
			}
			asked++
			return away
		}},
		{"the other", func(context.Context) error { return nil }},
	})
	want(200, "ok")
	away = errors.New("connection refused")
	want(200, "ok") // what was just found
	if asked != 1 {
		t.Errorf("asked %d times within %s", asked, healthKept)
	}
	now = now.Add(healthKept)
	want(503, "the store: connection refused")
	away = nil
	now = now.Add(healthKept)
	want(200, "ok")
	h.drains()
	want(503, "stopping")
}

func TestServeMonitor(t *testing.T) {
	stop, err := serveMonitor("127.0.0.1:0", http.NotFoundHandler(), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	stop()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if _, err := serveMonitor(strings.TrimPrefix(server.URL, "http://"), http.NotFoundHandler(), zap.NewNop()); err == nil || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("a taken address gives %v", err)
	}
	if _, err := parse([]string{"--listen", "9464"}, io.Discard); err == nil || !strings.Contains(err.Error(), "use host:port") {
		t.Errorf("a port without a colon gives %v", err)
	}
}
