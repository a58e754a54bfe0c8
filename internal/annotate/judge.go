package annotate

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/study"
)

// answer is what a form says of an item.
type answer struct {
	study.Judgment
	note    string
	hadNote bool // one was shown with the item
}

// judge takes an answer, and goes on when it is durable.
func (s *Server) judge(w http.ResponseWriter, r *http.Request, who visitor) {
	desk, err := s.Studies.Desk(r.Context(), who.Study, who.Pseudonym)
	if err != nil {
		s.unavailable(w, err)
		return
	}
	t, number := s.asked(r, desk)
	if number == 0 { // of a batch that is not open any more, or of a server that was started again
		http.Redirect(w, r, "/work", http.StatusSeeOther)
		return
	}
	a := s.read(r, t)
	if err := s.take(r, who, desk, &a); err != nil {
		s.showAgain(w, r, who, desk, number, a, err)
		return
	}
	s.audit("judged", who, desk.Open.Part())
	http.Redirect(w, r, "/work", http.StatusSeeOther)
}

// asked returns which item of the open batch a form is of, and its number from 1; 0 for
// none.
func (s *Server) asked(r *http.Request, desk study.Desk) (ticket, int) {
	if desk.Open == nil {
		return ticket{}, 0
	}
	t, err := s.seal.openTicket(r.PostForm.Get("ticket"), "item", desk.Workflow)
	if err != nil {
		return t, 0
	}
	return t, 1 + slices.Index(desk.Open.Items, t.item)
}

func (s *Server) read(r *http.Request, t ticket) answer {
	form := r.PostForm
	a := answer{note: strings.TrimSpace(strings.ReplaceAll(form.Get("note"), "\r\n", "\n")), hadNote: form.Get("noted") != ""}
	a.Item, a.Label = t.item, annotation.Label(form.Get("label"))
	a.Millis = int(min(max(s.Now().Sub(t.at), 0), 24*time.Hour).Milliseconds())
	a.Naturalness, _ = strconv.Atoi(form.Get("naturalness")) // what is no number is refused as 0
	a.SameSpeaker = annotation.Label(form.Get("same_speaker"))
	return a
}

// take saves the note and then the judgment: an answer that is acknowledged has both.
func (s *Server) take(r *http.Request, who visitor, desk study.Desk, a *answer) error {
	of, err := s.study(r.Context(), who.Study)
	if err != nil {
		return err
	}
	open := *desk.Open
	if open.Modality == annotation.Audio {
		if a.Heard, err = s.heard(r, of, desk, a.Judgment); err != nil {
			return err
		}
	}
	j := study.Judge{Annotator: who.Pseudonym, Modality: open.Modality, Judgment: a.Judgment}
	if open.Modality == annotation.Audio && !a.Heard {
		return Refusal("Play the clip to its end first.")
	}
	if err := j.Check(open, of.Listening); err != nil {
		return Refusal("Something is missing: choose an answer to every question.")
	}
	if len(a.note) > people.MaxNote || !utf8.ValidString(a.note) {
		return Refusal("The note is too long: write less, or split it.")
	}
	if a.note != "" || a.hadNote {
		if err := s.putNote(r.Context(), who, open.Modality, a.Item, a.note); err != nil {
			return err
		}
	}
	return s.Studies.Judge(r.Context(), desk.Workflow, j)
}

// tooEarly is how much sooner than its clip's length an answer may come: clocks and
// rounding.
const tooEarly = 250 * time.Millisecond

// heard reports whether somebody can have heard an item to its end: since it was shown,
// or before an earlier answer. The page's script unlocks the answers when the clip has
// ended; this is for those who go around it.
func (s *Server) heard(r *http.Request, of study.Study, desk study.Desk, j study.Judgment) (bool, error) {
	length := time.Duration(of.Items[j.Item].Seconds * float64(time.Second))
	if time.Duration(j.Millis)*time.Millisecond >= length-tooEarly {
		return true, nil
	}
	progress, err := s.Studies.Progress(r.Context(), desk.Workflow)
	before, _ := given(progress, j.Item)
	return before.Heard, err
}

// showAgain shows an item whose answer was not taken, with all that it said.
func (s *Server) showAgain(w http.ResponseWriter, r *http.Request, who visitor, desk study.Desk, number int, a answer, cause error) {
	how := shown{number: number, status: http.StatusServiceUnavailable, answer: &a, ticket: r.PostForm.Get("ticket"),
		problem: "Your answer is not saved yet: something didn't answer. Wait a moment, then choose it again."}
	var refusal Refusal
	if errors.As(cause, &refusal) {
		how.status, how.problem = http.StatusUnprocessableEntity, "Not saved. "+string(refusal)
	} else {
		s.Failed(cause)
	}
	progress, err := s.Studies.Progress(r.Context(), desk.Workflow)
	if err != nil {
		progress = study.Progress{} // it only tells how many are judged
	}
	s.showItem(w, r, who, desk, progress, how)
}

// finish gives the open batch back.
func (s *Server) finish(w http.ResponseWriter, r *http.Request, who visitor) {
	desk, err := s.Studies.Desk(r.Context(), who.Study, who.Pseudonym)
	if err != nil {
		s.unavailable(w, err)
		return
	}
	if desk.Open == nil || r.PostForm.Get("part") != desk.Open.Part() {
		http.Redirect(w, r, "/work", http.StatusSeeOther)
		return
	}
	var refusal Refusal
	switch err := s.Studies.Finish(r.Context(), desk.Workflow); {
	case errors.As(err, &refusal):
		show(w, http.StatusUnprocessableEntity, "message", message{shell: who.shell("Not given back"), Title: "Not given back", Text: string(refusal), Again: true})
	case err != nil:
		s.unavailable(w, err)
	default:
		s.audit("gave back", who, desk.Open.Part())
		http.Redirect(w, r, "/work", http.StatusSeeOther)
	}
}
