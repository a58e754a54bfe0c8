package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// visit opens a person's link to the annotation page, which make test-browser serves.
func visit(t *testing.T, who string) *browser {
	t.Helper()
	dir := os.Getenv("ANNOTATION_PAGE")
	if dir == "" {
		t.Skip("ANNOTATION_PAGE names no folder: use make test-browser")
	}
	var data []byte
	err := os.ErrNotExist
	for end := time.Now().Add(2 * time.Minute); err != nil && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		data, err = os.ReadFile(filepath.Join(dir, "links.json")) // it is served once it is built
	}
	if err != nil {
		t.Fatal(err)
	}
	var links map[string]string
	if err := json.Unmarshal(data, &links); err != nil {
		t.Fatal(err)
	}
	b := start(t, 4*time.Minute)
	b.do(chromedp.Navigate(links["base"] + "/enter#" + links[who]))
	return b
}

// heading waits for the page with one of the headings, and looks at it.
func (b *browser) heading(texts ...string) {
	b.t.Helper()
	text := ""
	for end := time.Now().Add(30 * time.Second); !slices.Contains(texts, text); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("the page is %q, want %q:\n%s", text, texts, eval[string](b, `document.body.innerText`))
		}
		// While a page goes, it has no answer.
		text, _ = chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.readyState === "complete" && document.querySelector("h1")?.textContent || ""`))
	}
	b.sound(text)
	if dir := os.Getenv("SCREENSHOTS"); dir != "" {
		condition := eval[string](b, `document.querySelector("audio") ? " audio" : ""`)
		name := strings.ReplaceAll(b.t.Name()+" "+text+condition+".png", " ", "-")
		save(b.t, filepath.Join(dir, name), get(b, chromedp.FullScreenshot(100)))
	}
}

// sound has axe-core look at the page, where it is there, and looks for what sticks out
// of the screen.
func (b *browser) sound(page string) {
	b.t.Helper()
	if wide := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
		b.t.Errorf("%s: %d pixels wider than the screen", page, wide)
	}
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		b.t.Logf("no axe-core: use make test-browser")
		return
	}
	eval[chromedp.Void](b, string(axe))
	for _, fault := range eval[[]string](b, `axe.run().then(r => r.violations.map(v => v.impact + " " + v.id + ": " + v.nodes.map(n => n.target.join(" ") + " " + n.failureSummary).slice(0, 3).join(" | ")))`) {
		b.t.Errorf("%s: %s", page, fault)
	}
}

// hand presses what a selector names: by mouse, by finger or by keyboard.
type hand func(b *browser, selector string)

func byMouse(b *browser, selector string) {
	b.t.Helper()
	b.do(chromedp.WaitEnabled(selector))
	// Where it is when it is pressed: on a small screen it may be scrolled to meanwhile.
	eval[chromedp.Void](b, fmt.Sprintf(`document.querySelector(%q).scrollIntoView({block: "center", behavior: "instant"})`, selector))
	b.do(chromedp.Click(selector))
}

// byKeyboard goes from the beginning of the page to where it presses by Tab alone.
func byKeyboard(b *browser, selector string) {
	b.t.Helper()
	b.do(chromedp.WaitEnabled(selector))
	for range 40 {
		// Of radio buttons Tab reaches the group's first: arrows choose, as a person would.
		at := eval[string](b, fmt.Sprintf(`(() => { const a = document.activeElement, e = document.querySelector(%q); return a === e ? "there" : a && a.type === "radio" && a.name === e.name ? "group" : ""; })()`, selector))
		switch at {
		case "there":
			key := "\r"
			if strings.Contains(selector, "input") {
				key = " "
			}
			b.do(chromedp.KeyEvent(key))
			return
		case "group":
			b.do(chromedp.KeyEvent(kb.ArrowDown))
		default:
			b.do(chromedp.KeyEvent("\t"))
		}
	}
	b.t.Fatalf("Tab doesn't reach %s", selector)
}

// wholeStudy goes through both batches.
func wholeStudy(b *browser, press hand) {
	b.t.Helper()
	b.heading("Before you begin")
	press(b, `input[name=adult]`)
	press(b, `input[name=accept]`)
	press(b, `main button`)
	b.heading("Guidelines")
	press(b, `main a.button`)
	for n := 1; n <= 2; n++ {
		b.heading(fmt.Sprintf("Dialogue %d of 2", n))
		if text := eval[string](b, `document.documentElement.outerHTML`); strings.Contains(text, "Person1") || strings.Contains(text, "Zanzibar") {
			b.t.Error("the audio condition shows what is said")
		}
		if !eval[bool](b, `Array.from(document.querySelectorAll("button[name=label]")).every(b => b.disabled)`) {
			b.t.Error("an answer may be given before the clip is heard")
		}
		press(b, `#play`)
		press(b, `input[name=naturalness][value="4"]`)
		press(b, `input[name=same_speaker][value="YES"]`)
		press(b, `button[value=YES]`)
	}
	b.heading("All judged")
	press(b, `.numbers li:first-child a`)
	b.heading("Dialogue 1 of 2")
	if chosen := eval[string](b, `document.querySelector("button.chosen").value`); chosen != "YES" {
		b.t.Errorf("the answer was %q", chosen)
	}
	press(b, `button[value=YES]`)
	b.heading("All judged")
	press(b, `main form button`)
	for n := 1; n <= 2; n++ {
		b.heading(fmt.Sprintf("Dialogue %d of 2", n))
		if !eval[bool](b, `document.body.textContent.includes("Zanzibar") && !document.querySelector("audio")`) {
			b.t.Error("the text condition shows no text, or plays a clip")
		}
		press(b, `button[value=NO]`)
	}
	b.heading("All judged")
	press(b, `main form button`)
	b.heading("Nothing to judge now", "The study is complete")
	b.silent()
}

// silent fails when a page wrote an error.
func (b *browser) silent() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Errorf("the page's console: %s", e)
	}
}

func TestAnnotateByMouse(t *testing.T) { wholeStudy(visit(t, "A01"), byMouse) }

func TestAnnotateByKeyboard(t *testing.T) { wholeStudy(visit(t, "A02"), byKeyboard) }

func TestAnnotateOnAPhone(t *testing.T) {
	b := visit(t, "A03")
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 320, Height: 640, DeviceScaleFactor: 2, Mobile: true})
	look(b, "dark", "")
	wholeStudy(b, byMouse)
}

func TestLead(t *testing.T) {
	b := visit(t, "leader")
	b.heading("Study s")
	b.silent()
}
