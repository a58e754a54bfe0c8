package annotate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/study"
)

// begin sends somebody to where they go on: to the guidelines before the first item.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, who visitor) {
	desk, progress, ok := s.desk(w, r, who)
	if !ok {
		return
	}
	next := "/work"
	if desk.Done == 0 && len(progress.Judgments) == 0 {
		next = "/guidelines"
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// desk returns what somebody has open; where that is nothing, it answers why and
// returns false.
func (s *Server) desk(w http.ResponseWriter, r *http.Request, who visitor) (study.Desk, study.Progress, bool) {
	desk, err := s.Studies.Desk(r.Context(), who.Study, who.Pseudonym)
	if err != nil {
		s.unavailable(w, err)
		return desk, study.Progress{}, false
	}
	if reason := nothingToDo(desk); reason.Title != "" {
		reason.shell = who.shell(reason.Title)
		show(w, http.StatusOK, "message", reason)
		return desk, study.Progress{}, false
	}
	progress, err := s.Studies.Progress(r.Context(), desk.Workflow)
	if err != nil {
		s.unavailable(w, err)
		return desk, progress, false
	}
	if progress.Finished {
		show(w, http.StatusOK, "message", message{shell: who.shell("Just a moment"), Title: "Just a moment", Text: "Your batch was given back. The next one is being made ready.", Again: true})
		return desk, progress, false
	}
	return desk, progress, true
}

func nothingToDo(desk study.Desk) message {
	switch {
	case !desk.Active:
		return message{Title: "You are not in this study any more", Text: "Thank you for what you judged."}
	case desk.Stage == study.Complete:
		return message{Title: "The study is complete", Text: "Thank you! There is nothing left to judge."}
	case desk.Paused:
		return message{Title: "The study is paused", Text: "What you judged is saved. Come back later.", Again: true}
	case desk.Open == nil && desk.Waiting > 0:
		return message{Title: "Just a moment", Text: "The next batch is being made ready.", Again: true}
	case desk.Open == nil:
		return message{Title: "Nothing to judge now", Text: "Thank you! When all have given back their batches, some dialogues may need another look: your link will show them.", Again: true}
	}
	return message{}
}

// itemView is an item as its annotator sees it.
type itemView struct {
	shell
	Batch, Number, Items, Judged int
	Review                       bool
	Audio                        bool
	Clip                         string         // where it plays
	Turns                        []turnView     // of text
	Ticket                       string         // names the item to the server
	Given                        study.Judgment // the answer before, if any
	Note                         string         // the note before
	Listening                    bool           // ask for naturalness and voices
	Scores                       []int          // of naturalness
	Labels                       []annotation.Label
	Noted                        bool // there was one
	Problem                      string
	Heard                        bool // no need to hear it again
}

type turnView struct{ Speaker, Text string }

// Before and After are the neighbouring numbers, 0 for none.
func (v itemView) Before() int { return v.Number - 1 }

// After is the next number that may be looked at without an answer here: 0 for none.
func (v itemView) After() int {
	if v.Given.Label == "" || v.Number >= v.Items {
		return 0
	}
	return v.Number + 1
}

type batchView struct {
	shell
	Part   string
	Items  []int
	Review bool
}

func (s *Server) work(w http.ResponseWriter, r *http.Request, who visitor) {
	desk, progress, ok := s.desk(w, r, who)
	if !ok {
		return
	}
	items := desk.Open.Items
	number := firstOpen(items, progress)
	if asked := r.URL.Query().Get("n"); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 || n > len(items) {
			notFound(w)
			return
		}
		number = n
	}
	if number > len(items) {
		view := batchView{shell: who.shell("All judged"), Part: desk.Open.Part(), Review: desk.Open.Round > 0}
		for i := range items {
			view.Items = append(view.Items, i+1)
		}
		show(w, http.StatusOK, "batch", view)
		return
	}
	s.showItem(w, r, who, desk, progress, shown{number: number, status: http.StatusOK})
}

// firstOpen is the number, from 1, of the first item without a judgment; one beyond the
// last when there is none.
func firstOpen(items []int, p study.Progress) int {
	for i, item := range items {
		if _, ok := given(p, item); !ok {
			return i + 1
		}
	}
	return len(items) + 1
}

func given(p study.Progress, item int) (study.Judgment, bool) {
	i := slices.IndexFunc(p.Judgments, func(j study.Judgment) bool { return j.Item == item })
	if i < 0 {
		return study.Judgment{}, false
	}
	return p.Judgments[i], true
}

// shown is how an item is shown: after an answer that was not taken with what it said.
type shown struct {
	number  int
	status  int
	problem string
	answer  *answer
	ticket  string // goes on counting the time
}

func (s *Server) showItem(w http.ResponseWriter, r *http.Request, who visitor, desk study.Desk, progress study.Progress, how shown) {
	open := *desk.Open
	item := open.Items[how.number-1]
	of, err := s.study(r.Context(), who.Study)
	if err == nil && item >= len(of.Items) {
		err = fmt.Errorf("study %s has no item %d", who.Study, item)
	}
	if err != nil {
		s.unavailable(w, err)
		return
	}
	before, _ := given(progress, item)
	view := itemView{
		shell: who.shell("Dialogue " + strconv.Itoa(how.number) + " of " + strconv.Itoa(len(open.Items))),
		Batch: desk.Done + 1, Number: how.number, Items: len(open.Items), Judged: len(progress.Judgments),
		Review: open.Round > 0, Audio: open.Modality == annotation.Audio, Given: before, Heard: before.Heard,
		Listening: listens(of, open), Scores: []int{1, 2, 3, 4, 5}, Labels: []annotation.Label{annotation.Yes, annotation.No},
		Problem: how.problem, Ticket: how.ticket,
	}
	if a := how.answer; a != nil {
		view.Given, view.Heard, view.Note, view.Noted = a.Judgment, a.Heard, a.note, a.hadNote
	} else if view.Note, err = s.note(r.Context(), who, open.Modality, item); err != nil {
		s.unavailable(w, err)
		return
	}
	if how.answer == nil {
		view.Noted = view.Note != ""
	}
	at := ticket{item: item, at: s.Now()}
	if view.Ticket == "" {
		view.Ticket = s.seal.ticket(at, "item", desk.Workflow)
	}
	if view.Audio {
		view.Clip = "/clip/" + s.seal.ticket(at, "clip", who.Study, who.Pseudonym)
	} else if view.Turns, err = s.turns(r.Context(), of, item); err != nil {
		s.unavailable(w, err)
		return
	}
	show(w, how.status, "item", view)
}

func listens(of study.Study, open study.Assignment) bool {
	return of.Listening && open.Modality == annotation.Audio && open.Round == 0
}

func (s *Server) note(ctx context.Context, who visitor, m annotation.Modality, item int) (string, error) {
	n, err := s.People.Note(ctx, who.Study, who.Pseudonym, m, item)
	return n.Text, err
}

func (s *Server) turns(ctx context.Context, of study.Study, item int) ([]turnView, error) {
	read, err := s.Archive.Dialogue(ctx, of.Lines, evaluation.Item{ID: of.Items[item].ID, Line: of.Items[item].Line})
	if err != nil {
		return nil, err
	}
	var turns []turnView
	for _, t := range read.Turns {
		turns = append(turns, turnView{string(t.Speaker), t.Text})
	}
	return turns, nil
}

func (s *Server) putNote(ctx context.Context, who visitor, m annotation.Modality, item int, text string) error {
	return s.People.PutNote(ctx, who.Study, people.Note{Pseudonym: who.Pseudonym, Modality: m, Item: item, Text: text})
}
