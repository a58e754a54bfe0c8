package annotation

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// The limits of what is read.
const (
	MaxBytes      = 64 << 20 // of one file
	MaxNameBytes  = 200      // of an item's or an annotator's name
	MaxAnnotators = 200
)

// Source is a file to read.
type Source struct {
	Name string // for messages
	// Modality is that of a wide file. Empty: audio when the file has the column
	// Audio File Name, else text. A long file names the modality in each row.
	Modality Modality
	Reader   io.Reader
}

// Read reads annotations from CSV files of either form, together one study:
//
//   - wide, as the paper's data has it: a row an item, with ID, MentalManip (the
//     truth) if known, and a column an annotator (1, 0 or empty). Audio File Name
//     and Dialogue are what was shown; Technique and Vulnerability are skipped.
//   - long: a row a vote, with item, modality, annotator, label and, if known,
//     time (RFC 3339) and truth. Other columns are skipped.
//
// Columns may stand in any order. The error is Problems when the files' text is
// at fault.
func Read(sources ...Source) (Set, error) {
	return newBuilder().readAll((*builder).read, sources)
}

// readAll reads the sources, each whole, one after the other.
func (b *builder) readAll(read func(*builder, []byte), sources []Source) (Set, error) {
	for _, source := range sources {
		text, err := io.ReadAll(io.LimitReader(source.Reader, MaxBytes+1))
		if err != nil {
			return Set{}, fmt.Errorf("read %s: %w", source.Name, err)
		}
		b.source = source
		if len(text) > MaxBytes {
			b.problem(1, "the file has more than %d bytes", MaxBytes)
			continue
		}
		read(b, text)
	}
	return b.finish()
}

// Problem is what is wrong at one place of a file.
type Problem struct {
	File string
	Unit string // what Line counts: "line", or "task" of a JSON list
	Line int
	What string
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s %d: %s", p.File, p.Unit, p.Line, p.What) }

// maxProblems bounds what is listed: a file of another kind breaks on every line.
const maxProblems = 20

// Problems is the error of files that can't be used: a line for each problem.
type Problems struct {
	List []Problem
	More int // problems beyond the list
}

// Error returns the problems, one a line.
func (p *Problems) Error() string {
	var lines []string
	for _, problem := range p.List {
		lines = append(lines, problem.String())
	}
	if p.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more problems", p.More))
	}
	return strings.Join(lines, "\n")
}

// builder gathers what files say, and where each said it first.
type builder struct {
	source     Source
	unit       string // what the source's places are counted in
	set        Set
	problems   Problems
	annotators map[string]bool
	items      map[itemKey]bool
	votes      map[voteKey]place
	truths     map[string]place
}

type itemKey struct {
	modality Modality
	item     string
}

type voteKey struct {
	itemKey
	annotator string
}

// place is where something was said.
type place struct {
	file, unit string
	line       int
}

func (p place) String() string { return fmt.Sprintf("%s, %s %d", p.file, p.unit, p.line) }

func newBuilder() *builder {
	return &builder{
		unit:       "line",
		set:        Set{Items: map[Modality][]string{}, Truth: map[string]dialogue.Truth{}, Shown: map[string]Shown{}},
		annotators: map[string]bool{}, items: map[itemKey]bool{}, votes: map[voteKey]place{}, truths: map[string]place{},
	}
}

func (b *builder) finish() (Set, error) {
	if len(b.problems.List) > 0 {
		return Set{}, &b.problems
	}
	return b.set, nil
}

func (b *builder) problem(line int, format string, args ...any) {
	if len(b.problems.List) == maxProblems {
		b.problems.More++
		return
	}
	b.problems.List = append(b.problems.List, Problem{File: b.source.Name, Unit: b.unit, Line: line, What: fmt.Sprintf(format, args...)})
}

// read reads one file: its first line says which form it has.
func (b *builder) read(text []byte) {
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	reader.FieldsPerRecord = -1 // a row of another length is a problem of that row
	names, err := reader.Read()
	if errors.Is(err, io.EOF) {
		b.problem(1, "the file is empty: its first line must name the columns")
		return
	}
	if err != nil {
		b.broken(err)
		return
	}
	row, ok := b.form(newHeader(names))
	if !ok {
		return
	}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.broken(err)
			return
		}
		line, _ := reader.FieldPos(0)
		if len(record) != len(names) {
			b.problem(line, "the row has %d columns, the first line %d (text with a comma needs quotes)", len(record), len(names))
			continue
		}
		row(line, record)
	}
}

// form returns what reads the rows under this header.
func (b *builder) form(h header) (func(line int, record []string), bool) {
	if twice := h.repeated(); twice != "" {
		b.problem(1, "the column %s is there more than once", quote(twice))
		return nil, false
	}
	if h.has("annotator") && h.has("label") {
		return b.long(h)
	}
	if h.has("id") {
		return b.wide(h)
	}
	b.problem(1, "the columns %s are of neither form: use ID and a column an annotator, or item, modality, annotator, label",
		quoteAll(h.names))
	return nil, false
}

// broken says where the file's quoting breaks.
func (b *builder) broken(err error) {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		b.problem(parse.StartLine, "broken quoting: %v (a field with quotes must stand in quotes, each inner one doubled)", parse.Err)
		return
	}
	b.problem(1, "%v", err)
}

// header is the names of the columns.
type header struct {
	names []string       // trimmed
	index map[string]int // by lower-cased name
}

func newHeader(names []string) header {
	h := header{index: map[string]int{}}
	for i, name := range names {
		name = strings.TrimSpace(name)
		h.names = append(h.names, name)
		if _, ok := h.index[strings.ToLower(name)]; !ok {
			h.index[strings.ToLower(name)] = i
		}
	}
	return h
}

func (h header) has(name string) bool {
	_, ok := h.index[name]
	return ok
}

// repeated returns a name that stands twice. Annotators may differ by case alone.
func (h header) repeated() string {
	for i, name := range h.names {
		if name != "" && slices.Contains(h.names[i+1:], name) {
			return name
		}
	}
	return ""
}

// field returns a row's trimmed text in the column; "" when there is none.
func (h header) field(record []string, name string) string {
	i, ok := h.index[name]
	if !ok {
		return ""
	}
	return strings.TrimSpace(record[i])
}
