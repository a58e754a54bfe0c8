package chaos

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// start returns a proxy before a server that sends everything back.
func start(t *testing.T) *Proxy {
	t.Helper()
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	p, err := New(echo.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		_ = echo.Close()
	})
	return p
}

func connect(t *testing.T, p *Proxy) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// say sends text and returns what comes back of it.
func say(conn *net.TCPConn, text string) (string, error) {
	if _, err := io.WriteString(conn, text); err != nil {
		return "", err
	}
	answer := make([]byte, len(text))
	n, err := io.ReadFull(conn, answer)
	return string(answer[:n]), err
}

// answers asks anew whether anybody is there. Of one who isn't, already connecting
// may fail.
func answers(p *Proxy) bool {
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		return false
	}
	defer conn.Close()
	answer, err := say(conn.(*net.TCPConn), "anybody?")
	return err == nil && answer == "anybody?"
}

func TestPasses(t *testing.T) {
	conn := connect(t, start(t))
	text := strings.Repeat("all of it ", 10*piece)
	go func() {
		_, _ = io.WriteString(conn, text)
		_ = conn.CloseWrite()
	}()
	// The answer arrives whole after the question has ended.
	if answer, err := io.ReadAll(conn); err != nil || string(answer) != text {
		t.Errorf("%d of %d bytes, %v", len(answer), len(text), err)
	}
}

func TestReset(t *testing.T) {
	p := start(t)
	conn := connect(t, p)
	if _, err := say(conn, "before"); err != nil {
		t.Fatal(err)
	}
	p.Reset()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v, want a reset", err)
	}
	if !answers(p) {
		t.Error("a new connection isn't answered")
	}
}

func TestCutUntilMended(t *testing.T) {
	p := start(t)
	conn := connect(t, p)
	if _, err := say(conn, "before"); err != nil {
		t.Fatal(err)
	}
	p.Cut()
	if answer, err := say(conn, "now"); err == nil {
		t.Errorf("the old connection answers %q", answer)
	}
	if answers(p) {
		t.Error("a new connection is answered")
	}
	p.Mend()
	if !answers(p) {
		t.Error("not mended")
	}
}

// What is slow is late, never sooner: the times here are the least.
func TestSlowAndLimit(t *testing.T) {
	p := start(t)
	conn := connect(t, p)
	for name, test := range map[string]struct {
		harm func()
		text string
		want time.Duration
	}{
		"slow":  {func() { p.Slow(30 * time.Millisecond) }, "a", 60 * time.Millisecond},
		"limit": {func() { p.Limit(100 << 10) }, string(bytes.Repeat([]byte("b"), 10<<10)), 100 * time.Millisecond},
	} {
		test.harm()
		began := time.Now()
		answer, err := say(conn, test.text)
		if took := time.Since(began); err != nil || answer != test.text || took < test.want {
			t.Errorf("%s: %d bytes, %v after %s, want them after %s at least", name, len(answer), err, took, test.want)
		}
		p.Mend()
	}
}

func TestNobodyBehind(t *testing.T) {
	p, err := New("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if answers(p) {
		t.Error("somebody answers")
	}
}
