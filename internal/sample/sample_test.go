package sample

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/tactic"
)

// The budget of the sample: six minutes at a synthesizer's usual pace. The
// word limit is the tighter bound; it leaves room for slow voices.
const (
	maxSeconds     = 360.0
	maxWords       = 880
	wordsPerMinute = 165.0
	gapSeconds     = 0.2
)

var speakerLabel = regexp.MustCompile(`^Person[1-4]$`)

type turn struct{ speaker, text string }

type row struct {
	id      string
	turns   []turn
	yes     bool
	tactics []string
}

// parse reads rows the plain way on purpose: the files must be good CSV
// without help from the project's own lenient reader.
func parse(t *testing.T, file []byte) []row {
	t.Helper()
	if !utf8.Valid(file) {
		t.Fatal("not UTF-8")
	}
	if bytes.ContainsRune(file, '\r') {
		t.Fatal("holds a carriage return; line ends are LF")
	}
	reader := csv.NewReader(bytes.NewReader(file))
	records, err := reader.ReadAll()
	if err != nil {
		t.Fatalf("read csv: %v", err)
	}
	header := []string{"ID", "Dialogue", "Manipulative", "Technique", "Vulnerability"}
	if diff := cmp.Diff(header, records[0]); diff != "" {
		t.Fatalf("header (-want +got):\n%s", diff)
	}
	var rows []row
	for _, record := range records[1:] {
		r := row{id: record[0], yes: record[2] == "1"}
		if record[2] != "1" && record[2] != "0" {
			t.Errorf("%s: Manipulative is %q, want 1 or 0", r.id, record[2])
		}
		if record[3] != "" {
			r.tactics = strings.Split(record[3], ",")
		}
		for line := range strings.SplitSeq(record[1], "\n") {
			speaker, text, ok := strings.Cut(line, ": ")
			if !ok || !speakerLabel.MatchString(speaker) {
				t.Errorf("%s: line %q is no turn of Person1..Person4", r.id, line)
			}
			r.turns = append(r.turns, turn{speaker, text})
		}
		rows = append(rows, r)
	}
	return rows
}

func speakers(r row) int {
	names := map[string]bool{}
	for _, turn := range r.turns {
		names[turn.speaker] = true
	}
	return len(names)
}

// sentences returns the normalised sentences of r with at least four words.
func sentences(r row) []string {
	var found []string
	fold := strings.NewReplacer("’", "", "'", "")
	for _, turn := range r.turns {
		text := fold.Replace(strings.ToLower(turn.text))
		for sentence := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(".!?…", c) }) {
			words := strings.FieldsFunc(sentence, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
			if len(words) >= 4 {
				found = append(found, strings.Join(words, " "))
			}
		}
	}
	return found
}

func TestEveryRowIsSound(t *testing.T) {
	files := map[string]struct {
		file []byte
		id   *regexp.Regexp
	}{
		"sample":   {Dialogues(), regexp.MustCompile(`^s\d{3}$`)},
		"training": {Training(), regexp.MustCompile(`^t\d{3}$`)},
	}
	for name, test := range files {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, r := range parse(t, test.file) {
				if !test.id.MatchString(r.id) || seen[r.id] {
					t.Errorf("id %q is malformed or used twice", r.id)
				}
				seen[r.id] = true
				if n := speakers(r); n < 2 || n > 4 {
					t.Errorf("%s: %d speakers, want 2 to 4", r.id, n)
				}
				if !r.yes && len(r.tactics) > 0 {
					t.Errorf("%s: a NO names %v", r.id, r.tactics)
				}
				for i, name := range r.tactics {
					if !slices.Contains(tactic.All(), tactic.Tactic(name)) {
						t.Errorf("%s: unknown tactic %q", r.id, name)
					}
					if slices.Contains(r.tactics[:i], name) {
						t.Errorf("%s: %q named twice", r.id, name)
					}
				}
			}
		})
	}
}

func TestSampleCoversTruthsAndTactics(t *testing.T) {
	rows := parse(t, Dialogues())
	yes, unnamed, several, many := 0, 0, 0, 0
	mentions := map[string]int{}
	for _, r := range rows {
		if speakers(r) > 2 {
			many++
		}
		if !r.yes {
			continue
		}
		yes++
		if len(r.tactics) == 0 {
			unnamed++
		}
		if len(r.tactics) > 1 {
			several++
		}
		for _, name := range r.tactics {
			mentions[name]++
		}
	}
	if len(rows) < 24 || yes != 14 || len(rows)-yes < 10 {
		t.Errorf("%d dialogues, %d YES; want at least 24, 14 YES and 10 NO", len(rows), yes)
	}
	if unnamed == 0 || several == 0 || many == 0 {
		t.Errorf("YES without tactic %d, with several %d, more than two speakers %d; want each at least once", unnamed, several, many)
	}
	for _, name := range tactic.All() {
		if mentions[string(name)] == 0 {
			t.Errorf("no YES shows %q", name)
		}
	}
}

func TestSampleHoldsTheShapesThatBreakThings(t *testing.T) {
	contains := func(pattern string) func(turn) bool {
		expression := regexp.MustCompile(pattern)
		return func(t turn) bool { return expression.MatchString(t.text) }
	}
	shapes := map[string]func(turn) bool{
		"typographic apostrophe":  contains(`\pL’\pL`),
		"typographic quotes":      contains(`“[^”]+”`),
		"ampersand":               contains(`&`),
		"less-than":               contains(`<`),
		"double dash":             contains(`--`),
		"ellipsis turn":           contains(`^\.\.\.$`),
		"empty turn":              contains(`^$`),
		"emphasis":                contains(`(^|\s)_\pL+_`),
		"stage direction":         contains(`\[\pL+\]`),
		"letters with diacritics": contains(`[é-ÿ]`),
		"turn of 600 characters": func(t turn) bool {
			n := utf8.RuneCountInString(t.text)
			return n >= 600 && n <= 650
		},
	}
	rows := parse(t, Dialogues())
	for name, holds := range shapes {
		found := slices.ContainsFunc(rows, func(r row) bool { return slices.ContainsFunc(r.turns, holds) })
		if !found {
			t.Errorf("no turn with this shape: %s", name)
		}
	}
	if !slices.ContainsFunc(rows, sameSpeakerTwice) {
		t.Error("nobody speaks twice in a row")
	}
}

func sameSpeakerTwice(r row) bool {
	for i := 1; i < len(r.turns); i++ {
		if r.turns[i].speaker == r.turns[i-1].speaker {
			return true
		}
	}
	return false
}

func TestSampleFitsSixMinutes(t *testing.T) {
	words, gaps := 0, 0
	for _, r := range parse(t, Dialogues()) {
		gaps += len(r.turns) - 1
		for _, turn := range r.turns {
			words += len(strings.Fields(turn.text))
		}
	}
	seconds := float64(words)/wordsPerMinute*60 + float64(gaps)*gapSeconds
	if words > maxWords || seconds > maxSeconds {
		t.Errorf("%d words, about %.0f s; want at most %d words and %.0f s", words, seconds, maxWords, maxSeconds)
	}
}

func TestTrainingCoversTruthsAndTactics(t *testing.T) {
	rows := parse(t, Training())
	yes := 0
	mentions := map[string]int{}
	for _, r := range rows {
		if len(r.turns) < 2 || len(r.turns) > 5 {
			t.Errorf("%s: %d turns, want 2 to 5", r.id, len(r.turns))
		}
		if r.yes {
			yes++
		}
		for _, name := range r.tactics {
			mentions[name]++
		}
	}
	if len(rows) < 130 {
		t.Errorf("%d dialogues, want at least 130", len(rows))
	}
	if share := float64(yes) / float64(len(rows)); share < 0.45 || share > 0.55 {
		t.Errorf("%.2f of the dialogues are YES, want about half", share)
	}
	for _, name := range tactic.All() {
		if mentions[string(name)] < 5 {
			t.Errorf("%q named %d times, want at least 5", name, mentions[string(name)])
		}
	}
}

func TestTrainingSharesNoSentenceWithTheSample(t *testing.T) {
	origin := map[string]string{}
	for _, r := range parse(t, Dialogues()) {
		for _, sentence := range sentences(r) {
			origin[sentence] = r.id
		}
	}
	for _, r := range parse(t, Training()) {
		for _, sentence := range sentences(r) {
			if id, shared := origin[sentence]; shared {
				t.Errorf("%s and %s both say %q", id, r.id, sentence)
			}
		}
	}
}

func TestCallersCannotChangeTheText(t *testing.T) {
	for name, read := range map[string]func() []byte{"sample": Dialogues, "training": Training, "exemplars": Exemplars} {
		before := read()[0]
		read()[0] = 'X'
		if got := read()[0]; got != before {
			t.Errorf("%s: first byte is %q after a caller wrote to its copy", name, got)
		}
	}
}
