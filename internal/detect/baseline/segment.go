package baseline

import (
	"strings"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/recognize"
)

// pause is the shortest silence between recognised words that ends an
// utterance, in seconds.
const pause = 0.25

// segment is a piece of an item that can be its evidence, with its words.
type segment struct {
	detect.Evidence
	words []string
}

// utterances splits a transcript at its pauses.
func utterances(transcript recognize.Transcript) []segment {
	var segments []segment
	for i, word := range transcript.Words {
		if i == 0 || word.Start-transcript.Words[i-1].End >= pause {
			segments = append(segments, segment{Evidence: detect.Evidence{Start: word.Start}})
		}
		last := &segments[len(segments)-1]
		last.Quote = strings.TrimSpace(last.Quote + " " + word.Text)
		last.End = word.End
		last.words = append(last.words, dialogue.Words(word.Text)...)
	}
	return segments
}

// sentences splits turns into their sentences; a sentence never spans turns.
func sentences(turns []dialogue.Turn) []segment {
	var segments []segment
	for _, turn := range turns {
		for _, sentence := range splitSentences(turn.Text) {
			segments = append(segments, segment{Evidence: detect.Evidence{Quote: sentence}, words: dialogue.Words(sentence)})
		}
	}
	return segments
}

// splitSentences cuts text after each run of closing marks that white space
// follows; sentences without a word are dropped.
func splitSentences(text string) []string {
	var found []string
	keep := func(s string) {
		if !dialogue.Wordless(s) {
			found = append(found, strings.TrimSpace(s))
		}
	}
	start, closed := 0, false
	for at, r := range text {
		switch {
		case strings.ContainsRune(".!?…", r):
			closed = true
		case strings.ContainsRune(`"'”’)]`, r): // may follow a closing mark
		case unicode.IsSpace(r) && closed:
			keep(text[start:at])
			start, closed = at, false
		default:
			closed = false
		}
	}
	keep(text[start:])
	return found
}

// words returns the words of all segments in order.
func words(segments []segment) []string {
	var all []string
	for _, s := range segments {
		all = append(all, s.words...)
	}
	return all
}

// strongest returns the segment that adds most to the log-odds, given what each
// word adds; the first of equals, none when there are no words.
func strongest(segments []segment, added []float64) detect.Evidence {
	best, most := detect.Evidence{}, 0.0
	for _, s := range segments {
		sum := 0.0
		for _, x := range added[:len(s.words)] {
			sum += x
		}
		added = added[len(s.words):]
		if len(s.words) > 0 && (best.Quote == "" || sum > most) {
			best, most = s.Evidence, sum
		}
	}
	return best
}
