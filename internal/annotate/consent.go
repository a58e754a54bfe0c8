package annotate

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/people"
)

// consentFresh is how long a consent that was found is believed: a new text is shown
// within that time.
const consentFresh = 30 * time.Second

// consented lets through who has accepted the current consent text; everybody else is
// shown it.
func (s *Server) consented(do handler) http.HandlerFunc {
	return s.annotator(func(w http.ResponseWriter, r *http.Request, who visitor) {
		key := who.Study + "\x00" + who.Pseudonym
		if at, ok := s.consents.Get(key); ok && s.Now().Sub(at) < consentFresh {
			do(w, r, who)
			return
		}
		ok, err := s.People.Consented(r.Context(), who.Study, who.Pseudonym)
		switch {
		case err != nil:
			s.unavailable(w, err)
		case !ok:
			http.Redirect(w, r, "/consent", http.StatusSeeOther)
		default:
			s.consents.Put(key, s.Now(), 1, 1000)
			do(w, r, who)
		}
	})
}

type consentView struct {
	shell
	Version  int
	Sections []people.Section
	Problem  string
}

func (s *Server) consentPage(w http.ResponseWriter, r *http.Request, who visitor) {
	s.showConsent(w, r, who, http.StatusOK, "")
}

func (s *Server) showConsent(w http.ResponseWriter, r *http.Request, who visitor, status int, problem string) {
	version, text, err := s.People.ConsentText(r.Context(), who.Study)
	if err != nil {
		s.unavailable(w, err)
		return
	}
	show(w, status, "consent", consentView{shell: who.shell("Before you begin"), Version: version, Sections: text.Sections(), Problem: problem})
}

func (s *Server) consent(w http.ResponseWriter, r *http.Request, who visitor) {
	if r.PostForm.Get("adult") != "yes" || r.PostForm.Get("accept") != "yes" {
		s.showConsent(w, r, who, http.StatusBadRequest, "Tick both boxes to take part. If you don't want to, close this page: nothing of you is kept but that you were invited.")
		return
	}
	version, _ := strconv.Atoi(r.PostForm.Get("version")) // what is no number is no version
	if err := s.People.Accept(r.Context(), who.Study, who.Pseudonym, version, true); err != nil {
		s.showConsent(w, r, who, http.StatusConflict, "This was not recorded. Read the text as it is now, and accept it again.")
		return
	}
	s.audit("consented", who, "version "+strconv.Itoa(version))
	http.Redirect(w, r, "/guidelines", http.StatusSeeOther)
}

// defaultGuidelines are shown where a study has none of its own.
const defaultGuidelines = `Judge each dialogue for itself. Ask whether at least one of the speakers manipulates the other.

Mental manipulation is language that is meant to influence, change or control somebody's thoughts, feelings or decisions in a hidden or unfair way, for the manipulator's benefit: for example by denying what happened, blaming or shaming, threatening, playing the victim, or flattering with an aim. Disagreement, open requests, honest criticism and rudeness alone are no manipulation.

Answer YES if you find it manipulative, and NO if you don't. There is no third answer: where you doubt, choose what is more likely. Don't discuss the dialogues with other annotators, and don't look them up.`

type guidelinesView struct {
	shell
	Paragraphs []string
}

func (s *Server) guidelines(w http.ResponseWriter, r *http.Request, who visitor) {
	of, err := s.study(r.Context(), who.Study)
	if err != nil {
		s.unavailable(w, err)
		return
	}
	text := of.Guidelines
	if text == "" {
		text = defaultGuidelines
	}
	view := guidelinesView{shell: who.shell("Guidelines")}
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			view.Paragraphs = append(view.Paragraphs, part)
		}
	}
	show(w, http.StatusOK, "guidelines", view)
}
