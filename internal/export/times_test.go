package export_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/export"
)

func TestRTTM(t *testing.T) {
	want := "SPEAKER " + hostileName + " 1 0.000000 0.500000 <NA> <NA> Person1 <NA> <NA>\n" +
		"SPEAKER " + hostileName + " 1 1.200000 0.500000 <NA> <NA> Person1 <NA> <NA>\n" +
		"SPEAKER =41 1 0.000000 0.500000 <NA> <NA> Person1 <NA> <NA>\n" +
		"SPEAKER =41 1 0.600000 0.500000 <NA> <NA> Person=20.2=3b. <NA> <NA>\n" +
		"SPEAKER a 1 0.000000 0.500000 <NA> <NA> Person1 <NA> <NA>\n" +
		"SPEAKER late 1 0.000000 0.500000 <NA> <NA> Person1 <NA> <NA>\n"
	got := string(exported(t, newWorld(t), export.RTTM)["dialogues.rttm"])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for line := range strings.Lines(got) {
		if n := len(strings.Fields(line)); n != 10 {
			t.Errorf("%q has %d fields, want 10", line, n)
		}
	}
}

// tiers are what praatTiers prints of the hostile dialogue's TextGrid: for each tier its
// name, then start, end and text of each interval.
var tiers = []string{
	"Person1", "0.000|0.500|" + `He said "you owe me", <b>é</b>.`, "0.500|1.200|", "1.200|1.700|-- “So?”  \\item [1]: 漢字",
}

const praatTiers = `
form: "read"
  infile: "path", ""
endform
Read from file: path$
tiers = Get number of tiers
for tier to tiers
  name$ = Get tier name: tier
  appendInfoLine: name$
  intervals = Get number of intervals: tier
  for i to intervals
    t1 = Get start time of interval: tier, i
    t2 = Get end time of interval: tier, i
    text$ = Get label of interval: tier, i
    appendInfoLine: fixed$ (t1, 3), "|", fixed$ (t2, 3), "|", text$
  endfor
endfor
`

func TestPraat(t *testing.T) {
	dir := onDisk(t, newWorld(t), export.TextGrid)
	script := filepath.Join(t.TempDir(), "tiers.praat")
	if err := os.WriteFile(script, []byte(praatTiers), 0o600); err != nil {
		t.Fatal(err)
	}
	out := program(t, dir, "praat", "--utf8", "--run", script, filepath.Join(dir, "clips", hostileName+".TextGrid"))
	// Praat writes a time of 0 as "0".
	out = strings.ReplaceAll("\n"+out, "\n0|", "\n0.000|")
	if diff := cmp.Diff(tiers, strings.Split(strings.Trim(out, "\n"), "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The same by a strict reader of our own, where Praat isn't: every tier is without a gap.
func TestTextGrid(t *testing.T) {
	files := exported(t, newWorld(t), export.TextGrid)
	for name, want := range map[string][]string{
		hostileName: tiers,
		"=41":       {"Person1", "0.000|0.500|Tea?", "0.500|1.100|", "Person 2;", "0.000|0.600|", "0.600|1.100|Or coffee?"},
		"a":         {"Person1", "0.000|0.500|Hm."},
	} {
		got := readTextGrid(t, string(files["clips/"+name+".TextGrid"]))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// readTextGrid returns what praatTiers prints.
func readTextGrid(t *testing.T, text string) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	at := 0
	next := func(key string) string {
		t.Helper()
		if at == len(lines) {
			t.Fatalf("the file ends before %s", key)
		}
		value, ok := strings.CutPrefix(strings.TrimLeft(lines[at], " "), key)
		if !ok {
			t.Fatalf("line %d is %q, want %s", at+1, lines[at], key)
		}
		at++
		return strings.TrimSuffix(strings.TrimPrefix(value, " = "), " ")
	}
	number := func(key string) float64 {
		t.Helper()
		value, err := strconv.ParseFloat(next(key), 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	quoted := func(key string) string {
		t.Helper()
		value := next(key)
		inner := strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`)
		if len(inner)+2 != len(value) || strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`) {
			t.Fatalf("%s is not quoted: %s", key, value)
		}
		return strings.ReplaceAll(inner, `""`, `"`)
	}
	var out []string
	next(`File type = "ooTextFile"`)
	next(`Object class = "TextGrid"`)
	next("")
	number("xmin")
	end := number("xmax")
	next("tiers? <exists>")
	size := int(number("size"))
	next("item []:")
	for range size {
		next("item [")
		next("class")
		out = append(out, quoted("name"))
		number("xmin")
		number("xmax")
		intervals, last := int(number("intervals: size")), 0.0
		for range intervals {
			next("intervals [")
			from, to := number("xmin"), number("xmax")
			if from != last || to <= from {
				t.Errorf("an interval from %v to %v follows one that ends at %v", from, to, last)
			}
			last = to
			out = append(out, strconv.FormatFloat(from, 'f', 3, 64)+"|"+strconv.FormatFloat(to, 'f', 3, 64)+"|"+quoted("text"))
		}
		if last != end {
			t.Errorf("a tier ends at %v, the file at %v", last, end)
		}
	}
	if at != len(lines) {
		t.Errorf("%d lines are left", len(lines)-at)
	}
	return out
}
