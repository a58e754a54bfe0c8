package chat

import (
	"math"
	"regexp"
	"strings"

	"github.com/speechmanip/speechmanip/internal/vote"
)

// verbalizers returns the spellings of a word that count as saying it.
func verbalizers(word string) []string {
	title := strings.ToUpper(word[:1]) + word[1:]
	upper := strings.ToUpper(word)
	return []string{upper, title, word, " " + upper, " " + title, " " + word}
}

var (
	loneLetter = regexp.MustCompile(`^[\s"'*(\[]*([AB])[)\].:,"'*\s]*(.*)$`)
	startsWord = regexp.MustCompile(`(?i)^[\s"'*(\[]*(yes|no)\b`)
)

// readLetter reads a decision. A constrained answer is exactly one of the
// letters; a free one may say it with marks and words around it, but not
// ambiguously: "A" may also begin a sentence.
func (d *Detector) readLetter(text string, constrained bool) vote.Vote {
	yes, no := d.config.Order.Letters()
	byLetter := map[string]vote.Vote{yes: vote.VoteYes, no: vote.VoteNo}
	if v, ok := byLetter[strings.TrimSpace(text)]; ok {
		return v
	}
	if constrained {
		return vote.VoteInvalid
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if m := startsWord.FindStringSubmatch(line); m != nil {
		return wordVote(m[1])
	}
	m := loneLetter.FindStringSubmatch(line)
	if m == nil {
		return vote.VoteInvalid
	}
	rest := startsWord.FindStringSubmatch(m[2])
	marked := len(line) > len(m[1])+len(m[2]) && strings.ContainsAny(line[:len(line)-len(m[2])], ").]:")
	switch v := byLetter[m[1]]; {
	case m[2] == "", rest == nil && marked:
		return v
	case rest != nil && wordVote(rest[1]) == v:
		return v
	}
	return vote.VoteInvalid
}

func wordVote(word string) vote.Vote {
	if strings.EqualFold(word, "yes") {
		return vote.VoteYes
	}
	return vote.VoteNo
}

// mass returns the summed probability of the spellings of one answer. None
// observed: at most what as many unlisted tokens can have.
func (r reply) mass(spellings ...string) vote.Mass {
	if !r.hasFirst {
		return vote.Mass{P: vote.One}
	}
	sum, seen := 0.0, false
	for _, s := range spellings {
		if p, ok := r.first.p[s]; ok {
			sum, seen = sum+p, true
		}
	}
	if !seen {
		return unobserved(float64(len(spellings)) * r.first.floor)
	}
	return vote.Mass{P: nano(sum), Observed: true}
}

// unobserved bounds a probability that wasn't seen. A bound of 0 would mean that
// none is known.
func unobserved(bound float64) vote.Mass { return vote.Mass{P: max(nano(bound), 1)} }

// nano rounds down, so that parts never add up to more than the whole.
func nano(p float64) vote.Nano {
	return vote.Nano(math.Floor(min(max(p, 0), 1) * float64(vote.One)))
}

// share returns the probability of YES among the two letters: what a constrained
// answer is drawn from at temperature 1.
func share(yes, no vote.Mass) vote.Mass {
	out := vote.Mass{P: vote.One, Observed: yes.Observed && no.Observed}
	if !yes.Observed && no.Observed || out.Observed {
		if yes.P+no.P > 0 {
			out.P = nano(float64(yes.P) / float64(yes.P+no.P))
		} else {
			out.Observed = false
		}
	}
	return out
}
