package report

import (
	"encoding/json"
	"io"

	"github.com/speechmanip/speechmanip/internal/evaluation"
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
		{evaluation.ReportJSON, "application/json", WriteJSON},
		{evaluation.ReportText, "text/plain; charset=utf-8", WriteText},
		{evaluation.ReportCSV, "text/csv; charset=utf-8", WriteDialoguesCSV},
		{evaluation.ReportPasses, "text/csv; charset=utf-8", WritePassesCSV},
	}
}

// WriteJSON writes the whole report, indented.
func WriteJSON(w io.Writer, r Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
