package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
)

// pageFiles are the page's templates, its style and its script.
//
//go:embed html
var pageFiles embed.FS

var pageTemplate = template.Must(template.New("").Funcs(template.FuncMap{
	"figure":   word,
	"bounds":   bounds,
	"between":  between,
	"within":   within,
	"signed":   signed,
	"spread":   differences,
	"outside":  outside,
	"optional": optional,
	"looked":   scheduledLine,
	"result":   func(id, title string, r any) resultView { return newResultView(id, title, r) },
}).ParseFS(pageFiles, "html/*.tmpl"))

// WriteHTML writes the report as one page that needs nothing beside it: no
// network, no script to be read, no other file.
func WriteHTML(w io.Writer, r Report) error { return writePage(w, r, nil) }

// HTMLWriter returns the writer of a page that also shows what was said in the
// dialogues, and plays their clips.
func HTMLWriter(media Media) Writer {
	return func(w io.Writer, r Report) error { return writePage(w, r, media) }
}

func writePage(w io.Writer, r Report, media Media) error {
	page, err := newPage(r, media)
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

// policy allows the page its own style and script, and clips where it has some.
func policy(style, script inlined, clips bool) string {
	p := "default-src 'none'; img-src data:; style-src " + style.Hash + "; script-src " + script.Hash + "; base-uri 'none'; form-action 'none'"
	if clips {
		p += "; media-src 'self' file: https: http:"
	}
	return p
}
