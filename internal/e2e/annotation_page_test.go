//go:build integration && linux

package e2e

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAnnotationPage has a few people judge by the page, and looks for every answer that
// was acknowledged in what is exported.
func TestAnnotationPage(t *testing.T) {
	t.Parallel() // it waits more than it works
	crowd{annotators: 2, items: 8, batches: 2, minVotes: 1}.judge(t)
}

// TestAnnotationLoad has fifty people judge at once, one judgment each five seconds, for
// about a minute.
func TestAnnotationLoad(t *testing.T) {
	if os.Getenv("SPEECHMANIP_LOAD") == "" {
		t.Skip("a load test: make test-load")
	}
	took := crowd{annotators: 50, items: 100, batches: 10, minVotes: 3, each: 5 * time.Second}.judge(t)
	slices.Sort(took)
	at := func(percent int) time.Duration { return took[(len(took)-1)*percent/100].Round(100 * time.Microsecond) }
	t.Logf("%d judgments saved: p50 %s, p95 %s, p99 %s, the longest %s", len(took), at(50), at(95), at(99), at(100))
	if at(95) >= 150*time.Millisecond {
		t.Errorf("p95 of a saved judgment is %s, want under 150ms", at(95))
	}
}

// crowd is people who judge text through the page.
type crowd struct {
	annotators, items, batches, minVotes int
	each                                 time.Duration // how long one of them has for a judgment
}

// judge has everybody judge a batch and give it back. It returns how long each judgment
// took to be saved, and fails when one is not exported as it was acknowledged.
func (c crowd) judge(t *testing.T) []time.Duration {
	r := newRig(t)
	r.judged(t, "judged", c.items)
	r.worker(t, "--roles", "workflows")
	var names strings.Builder
	for i := range c.annotators {
		fmt.Fprintf(&names, "person %d\n", i)
	}
	r.starter(t, "annotation", "create", "--evaluation", "judged", "--items", fmt.Sprint(c.items), "--min-votes", fmt.Sprint(c.minVotes),
		"--batches", fmt.Sprint(c.batches), "--batches-each", "1", "--modality", "text",
		"--annotators", r.write(t, "annotators.txt", names.String()), "--consent", r.write(t, "consent.toml", consent))
	base := r.serve(t, nil, "annotation", "serve", "--audit", filepath.Join(r.dir, "audit.jsonl"))
	links := filepath.Join(r.dir, "links.csv")
	r.starter(t, "annotation", "links", "judged", "--base-url", base, "--out", links)
	data, err := os.ReadFile(links)
	if err != nil {
		t.Fatal(err)
	}
	people, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(people) < c.annotators {
		t.Fatalf("%d links, %v", len(people), err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	saved := &savedAnswers{labels: map[string]string{}}
	var all sync.WaitGroup
	for i, row := range people {
		_, token, _ := strings.Cut(row[2], "#")
		all.Go(func() {
			time.Sleep(c.each * time.Duration(i) / time.Duration(len(people))) // they don't press all at once
			p := &person{base: base, name: row[0], saved: saved}
			if err := p.batch(ctx, token, c.each); err != nil {
				t.Errorf("%s: %v", row[0], err)
			}
		})
	}
	all.Wait()

	exported := map[string]string{}
	for _, row := range rows(t, r.starter(t, "annotation", "export", "judged")) {
		exported[row["annotator"]+" "+row["item"]] = row["label"]
	}
	for key, label := range saved.labels {
		if exported[key] != label {
			t.Errorf("%s: %s was acknowledged, %q is exported", key, label, exported[key])
		}
	}
	if len(exported) != len(saved.labels) || len(exported) < c.items {
		t.Errorf("%d judgments exported, %d acknowledged, of %d items", len(exported), len(saved.labels), c.items)
	}
	leads(ctx, t, r, base)
	return saved.took
}

// leads looks at what the study's leader sees when all is judged.
func leads(ctx context.Context, t *testing.T, r *rig, base string) {
	t.Helper()
	link := filepath.Join(r.dir, "leader.csv")
	r.starter(t, "annotation", "links", "judged", "--base-url", base, "--out", link, "--leader")
	data, err := os.ReadFile(link)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(strings.TrimSpace(string(data)), "#")
	p := &person{base: base}
	if _, err := p.send(ctx, "/enter", url.Values{"token": {token}}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/lead": "Study judged", "/lead/long": r.starter(t, "annotation", "export", "judged"),
		"/lead/consensus": "adjudication", "/lead/agreement": "Krippendorff",
	} {
		if text, err := p.send(ctx, path, nil); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v\n%.1000s", path, err, text)
		}
	}
}

type savedAnswers struct {
	mu     sync.Mutex
	labels map[string]string // by annotator and item
	took   []time.Duration
}

// person is a browser without a screen.
type person struct {
	base, name, cookie string
	saved              *savedAnswers
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)
	itemShown   = regexp.MustCompile(`Turn one of (\d+)`)
)

// batch goes from the link to the batch that is given back.
func (p *person) batch(ctx context.Context, token string, each time.Duration) error {
	if _, err := p.send(ctx, "/enter", url.Values{"token": {token}}); err != nil {
		return err
	}
	page, err := p.send(ctx, "/consent", nil)
	if err != nil {
		return err
	}
	if _, err = p.send(ctx, "/consent", form(page, "adult", "yes", "accept", "yes")); err != nil {
		return err
	}
	for {
		began := time.Now()
		if page, err = p.send(ctx, "/work", nil); err != nil {
			return err
		}
		shown := itemShown.FindStringSubmatch(page)
		switch {
		case shown != nil:
			if err := p.answer(ctx, page, "i"+shown[1], began.Add(each)); err != nil {
				return err
			}
		case strings.Contains(page, "Give the batch back"):
			_, err := p.send(ctx, "/finish", form(page))
			return err
		case strings.Contains(page, "Look again"):
			time.Sleep(200 * time.Millisecond)
		default:
			return fmt.Errorf("a page that nobody expects: %.300s", page)
		}
	}
}

func (p *person) answer(ctx context.Context, page, item string, at time.Time) error {
	time.Sleep(time.Until(at))
	label := []string{"YES", "NO"}[len(item+p.name)%2]
	began := time.Now()
	if _, err := p.send(ctx, "/judge", form(page, "label", label)); err != nil {
		return err
	}
	p.saved.mu.Lock()
	defer p.saved.mu.Unlock()
	p.saved.took = append(p.saved.took, time.Since(began))
	p.saved.labels[p.name+" "+item] = label
	return nil
}

// form is what a page's forms hold, and more.
func form(page string, more ...string) url.Values {
	values := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		values.Set(m[1], m[2])
	}
	for i := 0; i < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return values
}

// send sends a request, with a form as POST, and follows nothing. What the page says
// can't be had right now is asked for again, as a person would.
func (p *person) send(ctx context.Context, path string, values url.Values) (string, error) {
	for {
		status, text, err := p.once(ctx, path, values)
		if status != http.StatusServiceUnavailable || ctx.Err() != nil {
			return text, err
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func (p *person) once(ctx context.Context, path string, values url.Values) (int, string, error) {
	method, want := http.MethodGet, http.StatusOK
	if values != nil {
		method, want = http.MethodPost, http.StatusSeeOther
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(values.Encode()))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Cookie", p.cookie)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	for _, c := range res.Cookies() {
		p.cookie = c.Name + "=" + c.Value
	}
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != want {
		err = fmt.Errorf("%s answers %d: %.500s", path, res.StatusCode, body)
	}
	return res.StatusCode, string(body), err
}
