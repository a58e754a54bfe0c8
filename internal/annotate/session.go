package annotate

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/secret"
)

// The session is a sealed cookie that holds the link's token: each request asks whether
// the link is still valid, so that revoking it ends the session.
const (
	cookieName  = "__Host-session" // the prefix has browsers bind it to this host, over HTTPS
	sessionLife = 12 * time.Hour
)

// visitor is who is signed in.
type visitor struct {
	people.Link
	csrf string // what their forms carry
}

func (v visitor) name() string {
	if v.Leader {
		return "leader"
	}
	return v.Pseudonym
}

// session is what the cookie holds. It is never printed; a secret.Text would be sealed as
// its placeholder.
type session struct {
	Token string    `json:"token"`
	CSRF  string    `json:"csrf"`
	Until time.Time `json:"until"`
}

type handler func(w http.ResponseWriter, r *http.Request, who visitor)

func (s *Server) enterPage(w http.ResponseWriter, _ *http.Request) {
	show(w, http.StatusOK, "enter", message{})
}

func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	from := address(r, s.BehindProxy)
	if allowed, first := s.sign.allow(from); !allowed {
		if first { // a line a minute: the log can't be flooded
			s.audit("too many tries to sign in", visitor{}, "")
		}
		w.Header().Set("Retry-After", "60")
		show(w, http.StatusTooManyRequests, "enter", message{Text: "Too many tries. Wait a minute, then open your link again."})
		return
	}
	token := secret.Text(r.PostFormValue("token"))
	link, err := s.People.Find(r.Context(), token)
	if errors.Is(err, people.ErrNoLink) {
		s.sign.failed(from)
		s.audit("sign-in refused", visitor{}, "")
		show(w, http.StatusForbidden, "enter", message{Text: "This link is not valid, or not any more. Ask whoever sent it to you for a new one."})
		return
	}
	if err != nil {
		s.unavailable(w, err)
		return
	}
	csrf := s.seal.seal(nil, "csrf") // its nonce is random
	plain, err := json.Marshal(session{Token: string(token), CSRF: csrf, Until: s.Now().Add(sessionLife)})
	if err != nil {
		s.unavailable(w, err)
		return
	}
	setCookie(w, s.seal.seal(plain, "session"), int(sessionLife.Seconds()))
	s.audit("signed in", visitor{Link: link}, "")
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func setCookie(w http.ResponseWriter, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: seconds, Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

func (s *Server) leave(w http.ResponseWriter, _ *http.Request, who visitor) {
	setCookie(w, "", -1)
	s.audit("signed out", who, "")
	show(w, http.StatusOK, "message", message{Title: "Signed out", Text: "What you judged is saved. Your link lets you in again, here or on another device."})
}

// visitor returns who is signed in. The error is people.ErrNoLink for nobody.
func (s *Server) visitor(r *http.Request) (visitor, error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return visitor{}, people.ErrNoLink
	}
	plain, err := s.seal.open(cookie.Value, "session")
	var in session
	if err != nil || json.Unmarshal(plain, &in) != nil || !s.Now().Before(in.Until) {
		return visitor{}, people.ErrNoLink
	}
	link, err := s.People.Find(r.Context(), secret.Text(in.Token))
	return visitor{Link: link, csrf: in.CSRF}, err
}

// signedIn answers whoever is signed in, and of forms those that carry their session's
// token.
func (s *Server) signedIn(do handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := s.visitor(r)
		switch {
		case errors.Is(err, people.ErrNoLink):
			show(w, http.StatusForbidden, "enter", message{})
			return
		case err != nil:
			s.unavailable(w, err)
			return
		}
		if r.Method == http.MethodPost {
			if err := r.ParseForm(); err != nil {
				show(w, http.StatusRequestEntityTooLarge, "message", message{Title: "Too much text", Text: "Go back, and write a shorter note."})
				return
			}
			if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("csrf")), []byte(who.csrf)) != 1 {
				s.audit("form without the session's token", who, "")
				show(w, http.StatusForbidden, "message", message{Title: "This page was too old", Text: "Open your link again. What you judged is saved."})
				return
			}
		}
		do(w, r, who)
	}
}

func (s *Server) leader(do handler) http.HandlerFunc {
	return s.signedIn(func(w http.ResponseWriter, r *http.Request, who visitor) {
		if !who.Leader {
			s.audit("refused the leader's page", who, "")
			notFound(w)
			return
		}
		do(w, r, who)
	})
}

func (s *Server) annotator(do handler) http.HandlerFunc {
	return s.signedIn(func(w http.ResponseWriter, r *http.Request, who visitor) {
		if who.Leader {
			http.Redirect(w, r, "/lead", http.StatusSeeOther)
			return
		}
		do(w, r, who)
	})
}

func (s *Server) home(w http.ResponseWriter, r *http.Request, who visitor) {
	if who.Leader {
		http.Redirect(w, r, "/lead", http.StatusSeeOther)
		return
	}
	s.consented(s.begin)(w, r)
}
