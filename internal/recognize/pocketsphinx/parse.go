package pocketsphinx

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/speechmanip/speechmanip/internal/recognize"
)

// maxSeconds bounds the times of a transcript: a day is no clip.
const maxSeconds = 24 * 60 * 60

// parse reads what `pocketsphinx_continuous -time yes` prints: for every
// utterance one line of its text, then a line "word start end confidence" for
// each word and each filler. Times count from the start of the file through all
// utterances; the next utterance may begin before the end of the last one, whose
// times the recogniser overstates now and then. Utterance lines and fillers (<s>, <sil>, [NOISE], ++NOISE++) are
// skipped, pronunciation marks such as "to(2)" are cut off. The error names a
// word line that can't be true.
func parse(output string) ([]recognize.Word, error) {
	words := []recognize.Word{}
	for line := range strings.Lines(output) {
		word, ok := parseLine(line)
		if !ok {
			continue
		}
		if word.Start < 0 || word.End < word.Start || word.End > maxSeconds {
			return nil, fmt.Errorf("impossible times in %q", strings.TrimSpace(line))
		}
		words = append(words, word)
	}
	return words, nil
}

// parseLine reads one word line; it reports false for fillers and for every
// other line. An utterance of four words can't pass for a word line: the
// dictionary has no numerals.
func parseLine(line string) (recognize.Word, bool) {
	fields := strings.Fields(line)
	if len(fields) != 4 {
		return recognize.Word{}, false
	}
	var numbers [3]float64
	for i := range numbers {
		n, err := strconv.ParseFloat(fields[i+1], 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			return recognize.Word{}, false
		}
		numbers[i] = n
	}
	text := plain(fields[0])
	if text == "" {
		return recognize.Word{}, false
	}
	// The confidence is computed in a coarse log base and may be a hair above 1.
	return recognize.Word{Text: text, Start: numbers[0], End: numbers[1], Confidence: min(numbers[2], 1)}, true
}

// plain returns a word without its pronunciation mark, "" for a filler.
func plain(token string) string {
	if strings.HasPrefix(token, "<") || strings.HasPrefix(token, "[") || strings.HasPrefix(token, "++") {
		return ""
	}
	if at := strings.LastIndexByte(token, '('); at > 0 && strings.HasSuffix(token, ")") {
		if _, err := strconv.ParseUint(token[at+1:len(token)-1], 10, 16); err == nil {
			return token[:at]
		}
	}
	return token
}
