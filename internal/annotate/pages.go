package annotate

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed static/page.css static/page.js
var staticFiles embed.FS

// pages are the templates, each with the frame around it.
var pages = parsePages("enter", "consent", "guidelines", "item", "batch", "message", "lead")

func parsePages(names ...string) map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, name := range names {
		all[name] = template.Must(template.ParseFS(pageFiles, "pages/frame.html", "pages/"+name+".html"))
	}
	return all
}

// shell is what the frame of every page shows.
type shell struct {
	Heading string
	CSRF    string // "" where nobody is signed in
	Leader  bool
}

func (v visitor) shell(heading string) shell {
	return shell{Heading: heading, CSRF: v.csrf, Leader: v.Leader}
}

// message is a page that only says something.
type message struct {
	shell
	Title, Text string
	Again       bool // offer to look again
}

// show writes a page, or nothing of it.
func show(w http.ResponseWriter, status int, name string, view any) {
	var page bytes.Buffer
	if err := pages[name].ExecuteTemplate(&page, "frame", view); err != nil {
		http.Error(w, "the page can't be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // who has gone needs no answer
}

// unavailable says that something behind the page doesn't answer. Why is for the
// server's log and not for the page.
func (s *Server) unavailable(w http.ResponseWriter, why error) {
	s.Failed(why)
	w.Header().Set("Retry-After", "10")
	show(w, http.StatusServiceUnavailable, "message", message{Title: "Not reachable right now", Text: "What you judged is saved. Try again in a minute.", Again: true})
}

func notFound(w http.ResponseWriter) {
	show(w, http.StatusNotFound, "message", message{Title: "There is nothing here", Text: "Go back, or open your personal link again."})
}

// static serves the style and the script, and no other file.
func static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		notFound(w)
		return
	}
	kind := "text/css; charset=utf-8"
	if strings.HasSuffix(name, ".js") {
		kind = "text/javascript; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write(data)
}
