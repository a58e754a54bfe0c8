package dialogue

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The columns that are read; any order, any case, others are ignored.
const (
	columnID        = "ID"
	columnDialogue  = "Dialogue"
	columnTruth     = "Manipulative"
	columnTechnique = "Technique" // optional: tactics separated by commas
)

// ReadCSV reads MentalManip's CSV: ID, Dialogue ("PersonN: text" lines),
// Manipulative (1 or 0) and, if present, Technique. A row that breaks a rule is
// a problem in the validation, and left out of the dialogues if it can't be
// used. The error is for a file that is of no use as a whole: it names missing
// columns beside the present ones, or the line where the quoting breaks.
func ReadCSV(r io.Reader) (Dataset, error) {
	data, err := load(r)
	if err != nil {
		return Dataset{}, err
	}
	return readCSV(data)
}

func readCSV(data []byte) (Dataset, error) {
	reader := csv.NewReader(bytes.NewReader(data))
	reader.FieldsPerRecord = -1 // a row of another length is a problem of that row
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return Dataset{}, errors.New("read CSV: the file is empty: its first line must name the columns")
	}
	if err != nil {
		return Dataset{}, csvError(err)
	}
	columns, err := findColumns(header)
	if err != nil {
		return Dataset{}, err
	}
	b := newBuilder()
	for number := 1; ; number++ {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return b.finish(), nil
		}
		if err != nil {
			return Dataset{}, csvError(err)
		}
		line, _ := reader.FieldPos(0)
		b.add(csvRow(number, line, record, len(header), columns))
	}
}

// csvRow reads one record; columns gives the place of each column that is read.
func csvRow(number, line int, record []string, want int, columns map[string]int) *row {
	r := &row{number: number, line: line}
	if i := columns[columnID]; i < len(record) {
		r.setID(record[i])
	}
	if len(record) != want {
		r.fatal(Columns, "the row has %d columns, the header %d; text with a comma needs quotes", len(record), want)
		return r
	}
	r.setText(record[columns[columnDialogue]])
	truth, err := parseManipulative(record[columns[columnTruth]])
	if err != nil {
		r.fatal(BadTruth, "%s: %v", columnTruth, err)
	}
	r.dialogue.Truth = truth
	if i, ok := columns[columnTechnique]; ok {
		r.setTactics(strings.SplitN(record[i], ",", MaxTactics+1))
	}
	r.finish()
	return r
}

// findColumns returns the place of each column that is read.
func findColumns(header []string) (map[string]int, error) {
	columns := map[string]int{}
	var missing []string
	for _, want := range []string{columnID, columnDialogue, columnTruth, columnTechnique} {
		is := func(name string) bool { return strings.EqualFold(strings.TrimSpace(name), want) }
		first := slices.IndexFunc(header, is)
		switch {
		case first < 0 && want == columnTechnique:
		case first < 0:
			missing = append(missing, want)
		case slices.ContainsFunc(header[first+1:], is):
			return nil, fmt.Errorf("read CSV: the column %s is there more than once", want)
		default:
			columns[want] = first
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("read CSV: missing columns: %s; the first line has: %s (needed: %s, %s, %s, separated by commas)",
			strings.Join(missing, ", "), columnNames(header), columnID, columnDialogue, columnTruth)
	}
	return columns, nil
}

func columnNames(header []string) string {
	const most = 20
	var names []string
	for i, name := range header {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(header)-most))
			break
		}
		names = append(names, quote(name))
	}
	return strings.Join(names, ", ")
}

// csvError says where a record breaks. An open quote is only noticed where the
// file ends, so the line where the record starts is named too.
func csvError(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("read CSV: %w", err)
	}
	where := fmt.Sprintf("line %d", parse.Line)
	if parse.StartLine != parse.Line {
		where = fmt.Sprintf("line %d (in the row that starts at line %d)", parse.Line, parse.StartLine)
	}
	return fmt.Errorf("read CSV: %s: broken quoting: %w (a field with quotes must stand in quotes, each inner one doubled)", where, parse.Err)
}
