package annotate_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/annotate"
	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/study"
)

// inMemory is a study without Temporal: the same State and Sheets that the workflows
// hold.
type inMemory struct {
	now func() time.Time

	mu      sync.Mutex
	state   study.State
	sheets  map[string]*study.Sheet // by workflow
	ended   map[string]study.Sheet
	failing error // what Judge answers instead
}

func newInMemory(s study.Study, now func() time.Time) *inMemory {
	m := &inMemory{now: now, state: study.NewState(s), sheets: map[string]*study.Sheet{}, ended: map[string]study.Sheet{}}
	m.advance()
	return m
}

func (m *inMemory) advance() {
	for _, i := range m.state.Advance() {
		sheet := m.state.Sheet(i, m.now())
		sheet.Open(m.now())
		m.sheets[study.AssignmentWorkflowID(m.state.ID, sheet.Assignment)] = &sheet
	}
}

func (m *inMemory) Desk(_ context.Context, _, annotator string) (study.Desk, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Desk(annotator), nil
}

func (m *inMemory) Progress(_ context.Context, workflow string) (study.Progress, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sheets[workflow].Progress(), nil
}

func (m *inMemory) Judge(_ context.Context, workflow string, j study.Judge) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing != nil {
		return m.failing
	}
	sheet := m.sheets[workflow]
	if err := sheet.Check(j); err != nil {
		return annotate.Refusal(err.Error())
	}
	sheet.Judge(j.Judgment, m.now())
	return nil
}

func (m *inMemory) Finish(_ context.Context, workflow string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sheet := m.sheets[workflow]
	if err := sheet.CheckFinish(); err != nil {
		return annotate.Refusal(err.Error())
	}
	m.state.Done(sheet.Done(sheet.Batch(study.Finished, m.now())))
	m.advance()
	return nil
}

func (m *inMemory) Status(context.Context, string) (study.Status, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Status(), nil
}

func (m *inMemory) Export(_ context.Context, _, form string, w io.Writer) error {
	_, err := fmt.Fprintln(w, "item,", form)
	return err
}

func (m *inMemory) Agreement(_ context.Context, _ string, w io.Writer) error {
	_, err := fmt.Fprintln(w, "alpha undefined")
	return err
}

func (m *inMemory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failing = err
}

// What must not reach somebody who judges by ear.
const (
	secretID    = "dialogue-85514415"
	secretWords = "Zanzibar"
	secretVoice = "voicename"
)

// newStudy stores a study of so many items, with clips of so many seconds.
func newStudy(t *testing.T, store objectstore.Store, s study.Study, items int, seconds float64) study.Study {
	t.Helper()
	a := archive.Archive{Store: store}
	var dialogues []dialogue.Dialogue
	for i := range items {
		dialogues = append(dialogues, dialogue.Dialogue{ID: fmt.Sprint(secretID, "-", i), Truth: dialogue.Yes, Turns: []dialogue.Turn{
			{Speaker: "Person1", Text: fmt.Sprintf("<b>%s</b> is where we go, number %d.", secretWords, i)}, {Speaker: "Person2", Text: "You always decide."},
		}})
	}
	lines, places, err := a.PutDataset(t.Context(), dialogues)
	if err != nil {
		t.Fatal(err)
	}
	s.Lines = lines
	for i, d := range dialogues {
		clip, err := store.Put(t.Context(), fmt.Sprintf("clips/%s-%d.wav", secretVoice, i), bytes.NewReader(quiet(t, seconds, i)), objectstore.PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s.Items = append(s.Items, study.Item{ID: d.ID, Truth: d.Truth, Line: places[i], Clip: clip, Seconds: seconds})
	}
	if err := a.PutStudy(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// quiet is a clip as the composer writes it: it names its dialogue.
func quiet(t *testing.T, seconds float64, i int) []byte {
	t.Helper()
	pcm := audio.PCM{Rate: 8000, Samples: make([]float32, int(seconds*8000))}
	pcm.Samples[i] = 0.5
	var out audio.Buffer
	if err := audio.EncodeWAV(&out, pcm, &audio.Provenance{Title: fmt.Sprint(secretID, "-", i), Synthesizer: secretVoice, Software: secretVoice}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func assignments(annotator string, items ...int) []study.Assignment {
	return []study.Assignment{
		{Annotator: annotator, Modality: annotation.Audio, Items: items},
		{Annotator: annotator, Modality: annotation.Text, Items: items},
	}
}

// design has one annotator, who judges all by ear and then by reading.
func design(items ...int) study.Design {
	return study.Design{
		Modalities: []annotation.Modality{annotation.Text, annotation.Audio}, Annotators: []string{"A01"},
		Batches: [][]int{items}, Assignments: assignments("A01", items...), Repeat: study.SameItems,
	}
}

var consentText = people.ConsentText{Purpose: "To learn.", ContentWarning: "Harsh words.", DataCollected: "Answers.", Pay: "None.",
	Withdrawal: "At any time.", Retention: "A year.", Publication: "Numbers.", Ethics: "none", Contact: "Ann."}

// world is a study with a server before it.
type world struct {
	t       *testing.T
	clock   *clock
	people  people.Registry
	studies *inMemory
	server  *annotate.Server
	events  *events
	store   *mem.Store
}

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type events struct {
	mu  sync.Mutex
	all []annotate.Event
}

func (e *events) add(event annotate.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
}

func newWorld(t *testing.T, s study.Study) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{at: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}, events: &events{}, store: mem.New()}
	s.ID = "s"
	s.Rules = study.Rules{MinVotes: 1}
	s.Design = design(0, 1, 2)
	s = newStudy(t, w.store, s, 3, 4)
	w.people = people.Registry{Store: w.store, Now: w.clock.now}
	if _, err := w.people.Add(t.Context(), "s", []string{"ann@example.org"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.people.SetConsentText(t.Context(), "s", consentText); err != nil {
		t.Fatal(err)
	}
	w.studies = newInMemory(s, w.clock.now)
	server, err := annotate.New(annotate.Config{Archive: archive.Archive{Store: w.store}, People: w.people, Studies: w.studies, Now: w.clock.now, Audit: w.events.add,
		Failed: func(err error) { t.Logf("failed: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	w.server = server
	return w
}
