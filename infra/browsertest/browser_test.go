// Package browsertest opens the report's pages in Debian's Chromium. It is a module
// of its own, so that the product doesn't depend on what drives a browser.
package browsertest

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is one tab, with what went wrong in it and what it asked for.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	errors   []string
	requests []string
}

// open starts a browser on one of the pages in the folder REPORT_PAGES.
func open(t *testing.T, name string) *browser {
	t.Helper()
	path := page(t, name)
	b := start(t, time.Minute)
	b.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()))
	return b
}

// start starts a browser, which has so long for everything.
func start(t *testing.T, limit time.Duration) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath("/usr/bin/chromium"), chromedp.WindowSize(1280, 900))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil { // starts the browser
		t.Fatal(err)
	}
	b.ctx, cancel = context.WithTimeout(ctx, limit)
	t.Cleanup(cancel)
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	return b
}

func page(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("REPORT_PAGES")
	if dir == "" {
		t.Skip("REPORT_PAGES names no folder with the report's pages: use make test-browser")
	}
	path, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			b.errors = append(b.errors, "console.error")
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.errors = append(b.errors, e.Entry.Text)
		}
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// get returns what an action brings.
func get[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// eval returns the value of a JavaScript expression, or what its promise brings.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// call gives the browser a command of its protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// quiet fails when the page wrote an error, or asked for anything but itself and
// the given files beside it.
func (b *browser) quiet(beside ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Errorf("the page's console: %s", e)
	}
	for _, url := range b.requests {
		if strings.HasPrefix(url, "data:") {
			continue // the browser's own, as a player's buttons: the request is its whole answer
		}
		if !slices.ContainsFunc(append(beside, ".html"), func(name string) bool { return strings.HasPrefix(url, "file:") && strings.HasSuffix(url, name) }) {
			b.t.Errorf("the page asks for %q", url)
		}
	}
}
