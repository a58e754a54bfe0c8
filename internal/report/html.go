package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"time"
)

// pageFiles are the page's templates, its style and its script.
//
//go:embed html
var pageFiles embed.FS

var pageTemplate = template.Must(template.New("").Funcs(template.FuncMap{
	"figure":    word,
	"bounds":    bounds,
	"between":   between,
	"signed":    signed,
	"outside":   outside,
	"optional":  optional,
	"looked":    scheduledLine,
	"rendition": rendition,
}).ParseFS(pageFiles, "html/*.tmpl"))

// WriteHTML writes the report as one page that needs nothing beside it: no
// network, no script to be read, no other file.
func WriteHTML(w io.Writer, r Report) error { return writePage(w, r, shown{}) }

// HTMLWriter returns the writer of a page that also shows what was said in the
// dialogues, and plays their clips, which lie beside it.
func HTMLWriter(media Media) Writer {
	return func(w io.Writer, r Report) error { return writePage(w, r, shown{media: media}) }
}

// LinkedHTMLWriter returns the writer of such a page whose clips are somewhere
// else, behind links that may be followed until a time, which the page says.
func LinkedHTMLWriter(media Media, until time.Time) Writer {
	return func(w io.Writer, r Report) error { return writePage(w, r, shown{media, until}) }
}

func writePage(w io.Writer, r Report, with shown) error {
	page, err := newPage(r, with)
	if err != nil {
		return err
	}
	// Whole or not at all: half a page looks like a page.
	var b bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&b, "page", page); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// inlined is a style or a script of the page, and the hash by which the page's
// policy lets it in, and nothing else.
type inlined struct {
	Element template.HTML
	Hash    string
}

func inline(element, name string) (inlined, error) {
	text, err := pageFiles.ReadFile("html/" + name)
	if err != nil {
		return inlined{}, err
	}
	sum := sha256.Sum256(text)
	return inlined{
		Element: template.HTML("<" + element + ">" + string(text) + "</" + element + ">"), // our own file
		Hash:    "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
	}, nil
}

// policy allows the page its own style and script, and clips where it has some:
// those beside it, or, where it has links that end, those of the web.
func policy(style, script inlined, with shown) string {
	p := "default-src 'none'; img-src data:; style-src " + style.Hash + "; script-src " + script.Hash + "; base-uri 'none'; form-action 'none'"
	switch {
	case !with.media.clips():
		return p
	case with.until.IsZero():
		return p + "; media-src 'self' file:"
	default:
		return p + "; media-src https: http:"
	}
}
