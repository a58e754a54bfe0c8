package voice

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

// Part is one speaker and the slug of the voice that speaks for them.
type Part struct {
	Speaker dialogue.Speaker `json:"speaker"`
	Voice   string           `json:"voice"`
}

// Casting is the parts of one dialogue, in the order of its speakers.
type Casting []Part

// Voice returns the slug of the voice cast for the speaker, and false when the
// speaker is not in the casting.
func (c Casting) Voice(speaker dialogue.Speaker) (string, bool) {
	for _, part := range c {
		if part.Speaker == speaker {
			return part.Voice, true
		}
	}
	return "", false
}

// Cast gives each of a dialogue's speakers a voice of its own.
//
// The pool's voices are ordered by SHA-256 of (seed, dialogue id, slug) and
// dealt to the speakers in turn. So a casting depends on nothing but these and
// the speakers' order: not on other dialogues, not on the order of the pool's
// file, not on its synthesizer (pools with the same slugs are cast alike), and
// over many dialogues every voice and every pair of voices comes up about
// equally often.
//
// number counts a dialogue's castings from 1; 0 is the first too. The castings
// take turns: as many as there are speakers share their voices, which move on by
// one speaker each time, and the next ones do so with the next voices. So with two
// speakers casting 2 exchanges the voices of casting 1, and no voice speaks for one
// speaker twice.
//
// It fails on an invalid pool, on a speaker given twice, when there are more
// speakers than voices, and when the pool has no casting of that number.
func Cast(pool Pool, dialogueID string, speakers []dialogue.Speaker, seed uint64, number int) (Casting, error) {
	if err := pool.Validate(); err != nil {
		return nil, fmt.Errorf("cast dialogue %q: %w", dialogueID, err)
	}
	if len(speakers) > len(pool.Voices) {
		return nil, fmt.Errorf("cast dialogue %q: its %d speakers (%s) are more than the %d voices of pool %q (%s); use a pool with more voices or leave the dialogue out",
			dialogueID, len(speakers), list(speakers), len(pool.Voices), pool.Name, list(pool.Slugs()))
	}
	if most := pool.Castings(len(speakers)); number > 1 && number > most {
		return nil, fmt.Errorf("cast dialogue %q: pool %q of %d voices has %d castings for %d speakers, not %d; use fewer castings or a pool with more voices",
			dialogueID, pool.Name, len(pool.Voices), most, len(speakers), number)
	}
	slugs := shuffled(pool.Slugs(), dialogueID, seed)
	first, shift := 0, 0
	if number > 1 {
		shift = (number - 1) % len(speakers)
		first = number - 1 - shift
	}
	casting := make(Casting, 0, len(speakers))
	for i, speaker := range speakers {
		if _, twice := casting.Voice(speaker); twice {
			return nil, fmt.Errorf("cast dialogue %q: speaker %q is given twice", dialogueID, speaker)
		}
		casting = append(casting, Part{Speaker: speaker, Voice: slugs[first+(i+shift)%len(speakers)]})
	}
	return casting, nil
}

// Castings returns how many castings the pool has for so many speakers in which no
// voice speaks for one speaker twice; 0 when it has too few voices.
func (p Pool) Castings(speakers int) int {
	if speakers < 1 {
		return 0
	}
	return len(p.Voices) / speakers * speakers
}

// shuffled orders slugs by the hash that belongs to the dialogue and the seed.
func shuffled(slugs []string, dialogueID string, seed uint64) []string {
	rank := make(map[string]string, len(slugs))
	for _, slug := range slugs {
		text := binary.BigEndian.AppendUint64([]byte("speechmanip-casting-v1\x00"), seed)
		text = binary.BigEndian.AppendUint64(text, uint64(len(dialogueID))) // so that id and slug can't run into each other
		text = append(text, dialogueID...)
		text = append(text, slug...)
		sum := sha256.Sum256(text)
		rank[slug] = string(sum[:])
	}
	slices.SortFunc(slugs, func(a, b string) int { return cmp.Compare(rank[a], rank[b]) })
	return slugs
}

// list joins names for an error message, the first eight of them.
func list[S ~string](names []S) string {
	var quoted []string
	for i, name := range names {
		if i == 8 {
			quoted = append(quoted, "...")
			break
		}
		quoted = append(quoted, fmt.Sprintf("%q", string(name)))
	}
	return strings.Join(quoted, ", ")
}
