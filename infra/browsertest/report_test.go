package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

const visible = `document.querySelectorAll("#list tbody tr:not([hidden])").length`

// choose sets a filter as a person would.
func choose(id, value string) string {
	return fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); })()`, id, value)
}

func TestFilters(t *testing.T) {
	b := open(t, "small.html")
	all := eval[int](b, visible)
	if all != 12 {
		t.Fatalf("%d dialogues are shown, want 12", all)
	}
	for _, test := range []struct {
		id, value string
		want      int
	}{
		{"state", "wrong", 4}, {"state", "unresolved", 1}, {"state", "low", 2}, {"state", "flagged", 2},
		{"state", "failed", 1}, {"state", "seen", 2},
		{"tactic", "Intimidation", 2}, {"search", "WORD ERROR", 1}, {"search", "nowhere to be found", 0},
	} {
		eval[chromedp.Void](b, choose(test.id, test.value))
		if n := eval[int](b, visible); n != test.want {
			t.Errorf("%s %q shows %d dialogues, want %d", test.id, test.value, n, test.want)
		}
		if said, want := eval[string](b, `document.getElementById("count").textContent`), fmt.Sprintf("%d of 12 shown", test.want); said != want {
			t.Errorf("the page says %q, want %q", said, want)
		}
		eval[chromedp.Void](b, choose(test.id, ""))
	}
	b.do(chromedp.SendKeys("#search", "j-mis"))
	if n := eval[int](b, visible); n != 1 {
		t.Errorf("typing shows %d dialogues, want 1", n)
	}
	b.quiet()
}

func TestSort(t *testing.T) {
	b := open(t, "small.html")
	heading := func(n int) string { return fmt.Sprintf("#list thead th:nth-child(%d)", n) }
	top := func(n int) string {
		return eval[string](b, fmt.Sprintf(`document.querySelector("#list tbody tr").cells[%d].firstChild?.textContent ?? ""`, n-1))
	}
	b.do(chromedp.Focus(heading(6)+" button"), chromedp.KeyEvent("\r"))
	if got := top(6); got != "0.300" {
		t.Errorf("by p(YES) the first has %q, want the least", got)
	}
	b.do(chromedp.KeyEvent("\r"))
	if got := top(6); got != "0.600" {
		t.Errorf("again, the first has %q, want the greatest", got)
	}
	if got := eval[string](b, fmt.Sprintf(`document.querySelector(%q).ariaSort`, heading(6))); got != "descending" {
		t.Errorf("aria-sort is %q", got)
	}
	if last := eval[string](b, `Array.from(document.querySelectorAll("#list tbody tr")).at(-1).cells[5].textContent`); last != "-" {
		t.Errorf("the last has %q, want one without a number", last)
	}
	b.do(chromedp.Click(heading(1) + " button"))
	if got := eval[int](b, `document.querySelectorAll("#list thead [aria-sort]").length`); got != 1 {
		t.Errorf("%d columns say they are sorted", got)
	}
	b.quiet()
}

// A clip is played, and the turn that is heard is marked.
func TestPlayer(t *testing.T) {
	b := open(t, "small.html")
	eval[chromedp.Void](b, `document.querySelector(".turns summary").scrollIntoView(); document.querySelector(".turns summary").focus()`)
	b.do(chromedp.KeyEvent("\r"))
	if !eval[bool](b, `document.querySelector(".turns").open`) {
		t.Error("the dialogue doesn't unfold by the keyboard")
	}
	b.do(chromedp.Click("details.turns > summary"))
	if eval[bool](b, `document.querySelector(".turns").open`) {
		t.Error("the dialogue doesn't fold by a click")
	}
	b.do(chromedp.Click("details.turns > summary"))
	speaking := `Array.from(document.querySelectorAll("li.speaking")).map(e => e.textContent)`
	if before := eval[[]string](b, speaking); len(before) != 0 {
		t.Errorf("%q are marked before anything is played", before)
	}
	heard := eval[[]string](b, `new Promise((done, failed) => {
		const audio = document.querySelector("audio");
		audio.onerror = () => failed(audio.error.message);
		audio.ontimeupdate = () => { if (audio.currentTime > 1.2) { audio.ontimeupdate = null; setTimeout(() => done(`+speaking+`)); } };
		audio.muted = true;
		audio.play().catch(failed);
	})`)
	if len(heard) != 1 || !strings.HasPrefix(heard[0], "Person1 Go on, You will regret it!") {
		t.Errorf("at 1.2 s %q are marked", heard)
	}
	if n := eval[int](b, `document.querySelectorAll(".timeline rect.speaking.evidence").length`); n != 1 {
		t.Errorf("%d turns are marked on the timeline, want 1", n)
	}
	if after := eval[[]string](b, `(async () => { const a = document.querySelector("audio"); a.pause(); await new Promise(r => setTimeout(r, 50)); return `+speaking+`; })()`); len(after) != 0 {
		t.Errorf("%q are marked after the pause", after)
	}
	// A turn is played from its start by the keyboard.
	b.do(chromedp.Focus("button.play"), chromedp.KeyEvent("\r"))
	from := eval[float64](b, `new Promise(done => { const audio = document.querySelector("audio"); audio.muted = true; const seen = () => audio.paused ? setTimeout(seen, 20) : done(audio.currentTime); seen(); })`)
	if from < 1 || from >= 3 {
		t.Errorf("the turn that begins at 1 s is played from %.2f s", from)
	}
	if name := eval[string](b, `document.querySelector(".play").getAttribute("aria-label")`); name != "1.0 s, play from turn 1" {
		t.Errorf("the button is called %q", name)
	}
	b.quiet("clips/a.wav")
}

// TestBundle plays the first clips of a real bundle, where REPORT_BUNDLE names the folder
// that starter report --bundle made, and follows each on its timeline.
func TestBundle(t *testing.T) {
	dir := os.Getenv("REPORT_BUNDLE")
	if dir == "" {
		t.Skip("REPORT_BUNDLE names no bundle")
	}
	t.Setenv("REPORT_PAGES", dir)
	b := open(t, "report.html")
	if n := eval[int](b, `document.querySelectorAll("audio").length`); n == 0 {
		t.Fatal("the bundle has no player")
	}
	b.do(chromedp.Click("header > h1")) // before a person does something no page may play
	wrong := eval[[]string](b, `(async () => {
		const wrong = [];
		for (const details of Array.from(document.querySelectorAll(".turns")).filter(d => d.querySelector("audio")).slice(0, 5)) {
			details.open = true;
			await new Promise(done => setTimeout(done, 50));
			const audio = details.querySelector("audio"), turns = Array.from(details.querySelectorAll("li[data-from]"));
			const last = turns.at(-1), wanted = Number(last.dataset.from) + 0.1;
			audio.muted = true;
			audio.currentTime = wanted;
			await audio.play().catch(e => wrong.push(audio.src + ": " + e.message));
			for (let i = 0; i < 100 && !(audio.currentTime > wanted && details.querySelector("li.speaking")); i++) await new Promise(done => setTimeout(done, 20));
			const speaking = Array.from(details.querySelectorAll("li.speaking"));
			if (!(audio.duration >= Number(last.dataset.to) - 0.05)) wrong.push(audio.src + ": " + audio.duration + " s, its last turn ends at " + last.dataset.to);
			if (speaking.length !== 1 || speaking[0] !== last) wrong.push(audio.src + ": " + speaking.length + " turns are marked in the last one");
			audio.pause();
		}
		return wrong;
	})()`)
	for _, what := range wrong {
		t.Error(what)
	}
	b.quiet(".wav", ".mp3", ".flac")
}

// A clip that is not there is said to be so.
func TestGoneClip(t *testing.T) {
	b := open(t, "small.html")
	said := eval[string](b, `new Promise(done => {
		const audio = document.querySelector("audio");
		const details = audio.closest("details");
		new MutationObserver(() => { const p = details.querySelector("[role=alert]"); if (p) done(p.textContent); }).observe(details, {childList: true, subtree: true});
		details.open = true;
		setTimeout(() => { audio.preload = "auto"; audio.src = "clips/gone.wav"; }, 100);
	})`)
	if !strings.Contains(said, "can't be played") {
		t.Errorf("the page says %q", said)
	}
}

// Whatever ids, replies and settings hold, it stays text.
func TestHostile(t *testing.T) {
	b := open(t, "attacked.html")
	if eval[bool](b, `"hacked" in window`) {
		t.Error("text from outside ran as a script")
	}
	if n := eval[int](b, `document.querySelectorAll("img, iframe, object, embed, form[action], script[src], link").length`); n != 0 {
		t.Errorf("%d elements that the page doesn't have", n)
	}
	if n := eval[int](b, `Array.from(document.querySelectorAll("*")).filter(e => e.getAttributeNames().some(a => a.startsWith("on") || a === "style")).length`); n != 0 {
		t.Errorf("%d elements with a handler or a style", n)
	}
	if n := eval[int](b, `Array.from(document.querySelectorAll("[src], [href]")).filter(e => /^javascript:/i.test(e.src || e.href)).length`); n != 0 {
		t.Errorf("%d links that are scripts", n)
	}
	b.quiet()
}

// Without scripts the page is a plain table: nothing on it does nothing.
func TestWithoutScript(t *testing.T) {
	b := open(t, "small.html")
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Reload())
	if rows, controls := eval[int](b, visible), eval[int](b, `document.querySelectorAll("#filters:not([hidden]), #list thead button").length`); rows != 12 || controls != 0 {
		t.Errorf("%d dialogues, want 12; %d controls that do nothing", rows, controls)
	}
}

// TestAccessible runs axe-core, which make test-browser fetches.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: use make test-browser")
	}
	for _, test := range []struct{ page, scheme string }{{"small.html", "light"}, {"small.html", "dark"}, {"both.html", "light"}, {"full.html", "light"}} {
		b := open(t, test.page)
		look(b, test.scheme, "")
		eval[chromedp.Void](b, `document.querySelectorAll("details").forEach(d => d.open = true)`)
		eval[chromedp.Void](b, string(axe))
		faults := eval[[]string](b, `axe.run().then(r => r.violations.map(v => v.impact + " " + v.id + ": " + v.nodes.map(n => n.target.join(" ") + " " + n.failureSummary).slice(0, 3).join(" | ")))`)
		for _, f := range faults {
			t.Errorf("%s, %s: %s", test.page, test.scheme, f)
		}
	}
}

// TestLarge says how soon the page of the whole data set is there.
func TestLarge(t *testing.T) {
	b := open(t, "large.html")
	if n := eval[int](b, visible); n != 2915 {
		t.Errorf("%d dialogues are shown, want 2915", n)
	}
	paint := eval[float64](b, `new Promise(done => new PerformanceObserver(l => done(l.getEntriesByName("first-contentful-paint")[0].startTime)).observe({type: "paint", buffered: true}))`)
	t.Logf("first paint after %.0f ms", paint)
	filtered := eval[float64](b, `(() => { const t = performance.now(); `+choose("state", "wrong")+`; document.body.offsetHeight; return performance.now() - t; })()`)
	sorted := eval[float64](b, `(() => { const t = performance.now(); document.querySelector("#list thead th:nth-child(6) button").click(); document.body.offsetHeight; return performance.now() - t; })()`)
	t.Logf("filtered in %.0f ms, sorted in %.0f ms", filtered, sorted)
	b.quiet()
}

// TestScreenshots writes what people should look at into the folder SCREENSHOTS.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		t.Skip("SCREENSHOTS names no folder")
	}
	for _, picture := range []struct {
		name, page, scheme, media string
		width                     int64
	}{
		{"light", "small.html", "light", "", 1280}, {"dark", "small.html", "dark", "", 1280},
		{"narrow", "small.html", "light", "", 375}, {"print", "small.html", "light", "print", 800},
		{"hostile", "attacked.html", "dark", "", 1280}, {"both", "both.html", "light", "", 1280}, {"full", "full.html", "light", "", 1280}, {"large", "large.html", "light", "", 1280},
	} {
		b := open(t, picture.page)
		look(b, picture.scheme, picture.media)
		b.do(chromedp.EmulateViewport(picture.width, 900))
		eval[chromedp.Void](b, `document.querySelectorAll(".turns").forEach(d => d.open = true)`)
		save(t, filepath.Join(dir, picture.name+".png"), get(b, chromedp.FullScreenshot(100)))
		if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > picture.width && picture.media == "" {
			t.Errorf("%s: the page is %d wide, the window %d", picture.name, wide, picture.width)
		}
	}
	save(t, filepath.Join(dir, "print.pdf"), get(open(t, "small.html"), chromedp.PrintToPDF()))
}

// look sets the colour scheme, "light" or "dark", and the medium, "print" or "".
func look(b *browser, scheme, media string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

func save(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
