package annotate_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotate"
	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/study"
)

// browser keeps a cookie, and all that it was answered.
type browser struct {
	*world
	handler http.Handler
	cookie  *http.Cookie
	seen    []string
}

type reply struct {
	status int
	body   string
	header http.Header
}

func (w *world) browser() *browser { return &browser{world: w, handler: w.server.Handler()} }

// ask sends a request; a form makes it a POST.
func (b *browser) ask(path string, form url.Values, change ...func(*http.Request)) reply {
	b.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "https://study.example.org"+path, nil)
	if form != nil {
		r = httptest.NewRequest(http.MethodPost, "https://study.example.org"+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	for _, do := range change {
		do(r)
	}
	rec := httptest.NewRecorder()
	b.handler.ServeHTTP(rec, r)
	res := rec.Result()
	for _, c := range res.Cookies() {
		b.cookie = c
		if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode {
			b.t.Errorf("cookie %+v", c)
		}
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	got := reply{res.StatusCode, string(body), res.Header}
	b.seen = append(b.seen, path+"\n"+headerText(res.Header)+"\n"+got.body)
	return got
}

func headerText(h http.Header) string {
	var text strings.Builder
	_ = h.Write(&text) // a builder takes all
	return text.String()
}

// follow goes where it is sent.
func (b *browser) follow(r reply) reply {
	b.t.Helper()
	for range 5 {
		if r.status != http.StatusSeeOther {
			return r
		}
		r = b.ask(r.header.Get("Location"), nil)
	}
	b.t.Fatal("sent around in circles")
	return r
}

// in signs the annotator in, up to the guidelines.
func (b *browser) in() reply {
	b.t.Helper()
	token, err := b.people.NewLink(b.t.Context(), "s", "A01")
	if err != nil {
		b.t.Fatal(err)
	}
	page := b.follow(b.ask("/enter", url.Values{"token": {string(token)}}))
	b.has(page, "I am 18 years old or older", "To learn.", "Harsh words.")
	page = b.follow(b.ask("/consent", b.form(page, "adult", "yes", "accept", "yes")))
	b.has(page, "Guidelines", "manipulation is language")
	return page
}

func (b *browser) has(r reply, texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.body, text) {
			b.t.Fatalf("status %d, without %q:\n%s", r.status, text, r.body)
		}
	}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// form has what the last form of a page holds, and more.
func (b *browser) form(r reply, more ...string) url.Values {
	b.t.Helper()
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(r.body, -1) {
		form.Set(m[1], m[2])
	}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

var clipLink = regexp.MustCompile(`/clip/[A-Za-z0-9_-]+`)

func (b *browser) answer(page reply, label string, more ...string) reply {
	b.t.Helper()
	b.clock.pass(5 * time.Second)
	return b.follow(b.ask("/judge", b.form(page, append(more, "label", label)...)))
}

// A whole study: a batch by ear, the same by reading.
func TestBothConditions(t *testing.T) {
	b := newWorld(t, study.Study{}).browser()
	b.in()
	page := b.ask("/work", nil)
	b.has(page, "Dialogue 1 of 3", "Play the clip", `data-locked="yes"`)
	page = b.answer(page, "YES", "note", "A <i>note</i>")
	page = b.answer(page, "NO")
	b.has(page, "Dialogue 3 of 3", "2 of 3 judged")

	// Back within the batch, and another answer.
	back := b.ask("/work?n=1", nil)
	b.has(back, "Your answer: YES", "A &lt;i&gt;note&lt;/i&gt;", "On to dialogue 2")
	b.follow(b.ask("/judge", b.form(back, "label", "NO", "note", "")))
	b.has(b.ask("/work?n=1", nil), "Your answer: NO")

	// Goes on elsewhere.
	other := b.browser()
	token, err := b.people.NewLink(t.Context(), "s", "A01")
	if err != nil {
		t.Fatal(err)
	}
	other.ask("/enter", url.Values{"token": {string(token)}})
	page = other.ask("/work", nil)
	b.has(page, "Dialogue 3 of 3")
	if got := b.ask("/work", nil); got.status != http.StatusForbidden {
		t.Errorf("the session of the link before answers %d", got.status)
	}
	page = other.answer(page, "YES")
	b.has(page, "All judged")
	page = other.follow(other.ask("/finish", other.form(page)))
	b.has(page, "Dialogue 1 of 3", "Person1", "&lt;b&gt;Zanzibar&lt;/b&gt;")
	if strings.Contains(page.body, "<audio") || strings.Contains(page.body, "/clip/") {
		t.Error("the text condition has audio")
	}
	for range 3 {
		page = other.answer(page, "YES")
	}
	page = other.follow(other.ask("/finish", other.form(page)))
	b.has(page, "Thank you")

	var labels []annotation.Label
	for _, e := range b.studies.state.Assignments {
		labels = append(labels, annotation.Label(e.Labels))
	}
	if len(labels) != 2 || labels[0] != "NNY" || labels[1] != "YYY" {
		t.Errorf("%v was taken", labels)
	}
	if text, err := b.people.Notes(t.Context(), "s", "A01"); err != nil || len(text) != 0 {
		t.Errorf("notes %v, %v; the only one was emptied", text, err)
	}
}

// Nothing that somebody who judges by ear is answered tells what they hear.
func TestNothingLeaksToTheEar(t *testing.T) {
	b := newWorld(t, study.Study{Listening: true}).browser()
	b.in()
	page := b.ask("/work", nil)
	var headersOfClips []string
	lengths := map[int]bool{}
	for range 3 {
		link := clipLink.FindString(page.body)
		lengths[len(link)] = true
		clip := b.ask(link, nil)
		if clip.status != http.StatusOK || !strings.HasPrefix(clip.body, "RIFF") {
			t.Fatalf("clip: %d", clip.status)
		}
		headersOfClips = append(headersOfClips, headerText(clip.header))
		part := b.ask(link, nil, func(r *http.Request) { r.Header.Set("Range", "bytes=0-3") })
		if part.status != http.StatusPartialContent || part.body != "RIFF" {
			t.Errorf("a part of a clip: %d %q", part.status, part.body)
		}
		early := b.ask("/judge", b.form(page, "label", "YES", "naturalness", "4", "same_speaker", "YES"))
		b.has(early, "Play the clip to its end first")
		b.clock.pass(5 * time.Second)
		b.has(b.ask("/judge", b.form(page, "label", "YES")), "choose an answer to every question")
		b.ask("/judge", b.form(page, "label", "MAYBE", "naturalness", "4", "same_speaker", "YES"))
		page = b.follow(b.ask("/judge", b.form(page, "label", "YES", "naturalness", "4", "same_speaker", "NO", "note", "mine")))
	}
	b.has(page, "All judged")
	b.ask("/work?n=1", nil)
	b.ask("/work?n=4", nil)
	b.ask("/nowhere", nil)
	b.ask("/clip/"+strings.Repeat("A", 54), nil)
	b.ask("/lead", nil)
	b.ask("/static/page.js", nil)
	b.ask("/static/page.css", nil)
	for _, seen := range b.seen {
		for _, secret := range []string{secretID, "85514415", secretWords, secretVoice, "Person1", "Person2", "You always", "truth", "Truth", "clips/", ".wav", "ontent-Disposition", "Etag", "Last-Modified", "ann@example", "A01"} {
			if strings.Contains(seen, secret) {
				t.Errorf("%q is in\n%.2000s", secret, seen)
			}
		}
	}
	for _, h := range headersOfClips {
		if h != headersOfClips[0] {
			t.Errorf("clips of one length have other headers:\n%s\n%s", h, headersOfClips[0])
		}
	}
	if len(lengths) != 1 {
		t.Errorf("links of clips are of lengths %v", lengths)
	}
	got, err := b.studies.Progress(t.Context(), "study/s/A01/audio-00")
	if err != nil || len(got.Judgments) != 3 || got.Judgments[0].Naturalness != 4 || got.Judgments[0].SameSpeaker != annotation.No || !got.Judgments[0].Heard || got.Judgments[0].Millis != 5000 {
		t.Errorf("%+v, %v", got.Judgments, err)
	}
}

func TestClipLinksEnd(t *testing.T) {
	b := newWorld(t, study.Study{}).browser()
	b.in()
	link := clipLink.FindString(b.ask("/work", nil).body)
	other := b.browser()
	if got := other.ask(link, nil); got.status != http.StatusForbidden {
		t.Errorf("who isn't signed in hears it: %d", got.status)
	}
	b.clock.pass(61 * time.Minute)
	if got := b.ask(link, nil); got.status != http.StatusNotFound {
		t.Errorf("after an hour: %d", got.status)
	}
	b.clock.pass(12 * time.Hour)
	if got := b.ask("/work", nil); got.status != http.StatusForbidden {
		t.Errorf("after twelve hours the session answers %d", got.status)
	}
}

func TestNobodyElseGetsIn(t *testing.T) {
	w := newWorld(t, study.Study{})
	b := w.browser()
	for _, path := range []string{"/", "/consent", "/guidelines", "/work", "/lead", "/lead/long", "/clip/x"} {
		if got := b.ask(path, nil); got.status != http.StatusForbidden || !strings.Contains(got.body, "personal link") {
			t.Errorf("%s answers %d", path, got.status)
		}
	}
	for _, token := range []string{"", "x", strings.Repeat("A", 26), "../../people/links/x"} {
		if got := b.ask("/enter", url.Values{"token": {token}}); got.status != http.StatusForbidden || b.cookie != nil {
			t.Errorf("token %q: %d", token, got.status)
		}
	}
	for range 20 {
		b.ask("/enter", url.Values{"token": {"x"}})
	}
	if got := b.ask("/enter", url.Values{"token": {"x"}}); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("the many-th try: %d", got.status)
	}
	w.clock.pass(time.Minute)
	b.in()
	if got := b.ask("/lead", nil); got.status != http.StatusNotFound {
		t.Errorf("an annotator gets the leader's page: %d", got.status)
	}
	if err := w.people.Revoke(t.Context(), "s", "A01"); err != nil {
		t.Fatal(err)
	}
	if got := b.ask("/work", nil); got.status != http.StatusForbidden {
		t.Errorf("after revoking: %d", got.status)
	}
}

func TestForgedForms(t *testing.T) {
	b := newWorld(t, study.Study{}).browser()
	b.in()
	page := b.ask("/work", nil)
	b.clock.pass(5 * time.Second)
	for name, got := range map[string]reply{
		"without the session's token": b.ask("/judge", b.form(page, "label", "YES", "csrf", "")),
		"from another site": b.ask("/judge", b.form(page, "label", "YES"), func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}),
		"too large":                b.ask("/judge", b.form(page, "label", "YES", "note", strings.Repeat("x", 40<<10))),
		"with a ticket of its own": b.ask("/judge", b.form(page, "label", "YES", "ticket", "AAAA")),
	} {
		if got.status < 300 {
			t.Errorf("a form %s: %d", name, got.status)
		}
	}
	p, err := b.studies.Progress(t.Context(), "study/s/A01/audio-00")
	if err != nil || len(p.Judgments) > 0 {
		t.Errorf("%v was taken, %v", p.Judgments, err)
	}
}

// What could not be saved is said so, and not lost.
func TestNotSaved(t *testing.T) {
	b := newWorld(t, study.Study{}).browser()
	b.in()
	page := b.ask("/work", nil)
	b.studies.fail(errors.New("the secret's at store.internal"))
	got := b.answer(page, "YES", "note", "kept words")
	b.has(got, "not saved yet", "kept words", "Your answer: YES")
	if got.status != http.StatusServiceUnavailable || strings.Contains(got.body, "store.internal") {
		t.Errorf("%d\n%s", got.status, got.body)
	}
	b.studies.fail(annotate.Refusal("the study is paused"))
	if got = b.answer(got, "YES"); got.status != http.StatusUnprocessableEntity {
		t.Errorf("%d", got.status)
	}
	b.studies.fail(nil)
	b.has(b.answer(got, "YES"), "Dialogue 2 of 3")
}

func TestConsentIsAskedAgain(t *testing.T) {
	b := newWorld(t, study.Study{}).browser()
	b.in()
	text := consentText
	text.Pay = "Ten an hour."
	if _, err := b.people.SetConsentText(t.Context(), "s", text); err != nil {
		t.Fatal(err)
	}
	b.clock.pass(31 * time.Second)
	page := b.follow(b.ask("/work", nil))
	b.has(page, "Ten an hour.", "version 2")
	if got := b.ask("/consent", b.form(page, "accept", "yes")); got.status != http.StatusBadRequest {
		t.Errorf("without saying to be of age: %d", got.status)
	}
	if got := b.ask("/consent", b.form(page, "accept", "yes", "adult", "yes", "version", "1")); got.status != http.StatusConflict {
		t.Errorf("of the version before: %d", got.status)
	}
	b.has(b.follow(b.ask("/consent", b.form(page, "accept", "yes", "adult", "yes"))), "Guidelines")
}

func TestLeader(t *testing.T) {
	b := newWorld(t, study.Study{}).browser()
	token, err := b.people.NewLeaderLink(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	page := b.follow(b.ask("/enter", url.Values{"token": {string(token)}}))
	b.has(page, "Study s", "audio-00: 0 of 3", "adjudication queue")
	if got := b.ask("/lead/long", nil); got.status != http.StatusOK || !strings.Contains(got.header.Get("Content-Disposition"), "s-long.csv") {
		t.Errorf("%+v", got)
	}
	b.has(b.ask("/lead/agreement", nil), "alpha")
	if got := b.ask("/lead/batches", nil); got.status != http.StatusNotFound {
		t.Errorf("a form that there isn't: %d", got.status)
	}
	if got := b.follow(b.ask("/work", nil)); !strings.Contains(got.body, "Study s") {
		t.Error("the leader may judge")
	}
	b.has(b.ask("/leave", b.form(page)), "Signed out")
	if got := b.ask("/lead", nil); got.status != http.StatusForbidden {
		t.Errorf("after signing out: %d", got.status)
	}
	var actions []string
	for _, e := range b.events.all {
		actions = append(actions, e.Who+" "+e.Action)
	}
	if want := "leader signed in, leader exported, leader exported, leader signed out"; strings.Join(actions, ", ") != want {
		t.Errorf("audit: %v", actions)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	b := newWorld(t, study.Study{}).browser()
	b.in()
	for _, path := range []string{"/", "/enter", "/work", "/nowhere", "/static/page.js", "/static/", "/static/../annotate.go", clipLink.FindString(b.ask("/work", nil).body)} {
		got := b.ask(path, nil)
		if policy := got.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Cache-Control") == "" {
			t.Errorf("%s: %v", path, got.header)
		}
		if strings.Contains(got.body, " style=") || strings.Contains(got.body, "<script>") || strings.Contains(got.body, "package annotate") {
			t.Errorf("%s has what its policy forbids, or what is nobody's business", path)
		}
	}
}
