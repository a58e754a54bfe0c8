package report

import (
	"encoding/json"
	"io"
)

// Writer writes a report in one form.
type Writer = func(io.Writer, Report) error

// File is one file of a stored report.
type File struct {
	Name        string
	ContentType string
	Write       Writer
}

// Files returns the files of a report, the JSON form first.
func Files() []File {
	return []File{
		{"report.json", "application/json", WriteJSON},
		{"report.txt", "text/plain; charset=utf-8", WriteText},
		{"report.html", "text/html; charset=utf-8", WriteHTML},
		{"figures.csv", "text/csv; charset=utf-8", WriteFiguresCSV},
		{"dialogues.csv", "text/csv; charset=utf-8", WriteDialoguesCSV},
		{"passes.csv", "text/csv; charset=utf-8", WritePassesCSV},
		{"tables.md", "text/markdown; charset=utf-8", WriteMarkdown},
		{"tables.tex", "application/x-tex; charset=utf-8", WriteLaTeX},
	}
}

// WriteJSON writes the whole report, indented.
func WriteJSON(w io.Writer, r Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
