package voice

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/dialogue"
)

func mustBuiltIn(t *testing.T, name string) Pool {
	t.Helper()
	pool, err := BuiltIn(name)
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

func mustCast(t *testing.T, pool Pool, id string, speakers []dialogue.Speaker, seed uint64) Casting {
	t.Helper()
	casting, err := Cast(pool, id, speakers, seed, 1)
	if err != nil {
		t.Fatal(err)
	}
	return casting
}

var two = []dialogue.Speaker{"Person1", "Person2"}

// The golden castings guard stored audio: a change here means that every
// evaluation is cast anew.
func TestCastGolden(t *testing.T) {
	for _, c := range []struct {
		id   string
		seed uint64
		want string
	}{
		{"85514414", 0, "grandpa amanda sassy"},
		{"85514414", 1, "mark grandma ivanna"},
		{"s001", 0, "amanda sassy ivanna"},
	} {
		casting := mustCast(t, mustBuiltIn(t, "paper"), c.id, []dialogue.Speaker{"A", "B", "C"}, c.seed)
		var got []string
		for _, part := range casting {
			got = append(got, part.Voice)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("dialogue %s, seed %d (-want +got):\n%s", c.id, c.seed, diff)
		}
	}
}

func TestCastDistinctAndInSpeakerOrder(t *testing.T) {
	pool := mustBuiltIn(t, "flite")
	speakers := []dialogue.Speaker{"Z", "A", "M", "B", "Q", "C"}
	casting := mustCast(t, pool, "d", speakers, 7)
	var slugs []string
	for i, part := range casting {
		if part.Speaker != speakers[i] {
			t.Errorf("part %d is %q, want %q", i, part.Speaker, speakers[i])
		}
		slug, ok := casting.Voice(part.Speaker)
		if !ok || slug != part.Voice {
			t.Errorf("Voice(%q) = %q, %v", part.Speaker, slug, ok)
		}
		slugs = append(slugs, slug)
	}
	slices.Sort(slugs)
	if diff := cmp.Diff([]string{"v1", "v2", "v3", "v4", "v5", "v6"}, slugs); diff != "" {
		t.Error(diff)
	}
	if slug, ok := casting.Voice("nobody"); ok {
		t.Errorf("a speaker outside the dialogue has voice %q", slug)
	}
}

func TestCastIgnoresThePoolsOrderAndSynthesizer(t *testing.T) {
	flite, rhvoice := mustBuiltIn(t, "flite"), mustBuiltIn(t, "rhvoice")
	reversed := mustBuiltIn(t, "flite")
	slices.Reverse(reversed.Voices)
	for i := range 50 {
		id := fmt.Sprint(i)
		want := mustCast(t, flite, id, two, 0)
		for _, pool := range []Pool{rhvoice, reversed} {
			if diff := cmp.Diff(want, mustCast(t, pool, id, two, 0)); diff != "" {
				t.Errorf("dialogue %s: %s", id, diff)
			}
		}
	}
}

func TestCastSpeakerKeepsTheVoiceWhenOthersFollow(t *testing.T) {
	pool := mustBuiltIn(t, "paper")
	if diff := cmp.Diff(mustCast(t, pool, "d", two, 3), mustCast(t, pool, "d", append(slices.Clone(two), "Person3"), 3)[:2]); diff != "" {
		t.Error(diff)
	}
}

// Over a corpus of MentalManip's size each voice and each ordered pair comes up
// as often as chance would have it: within five standard deviations.
func TestCastBalance(t *testing.T) {
	pool := mustBuiltIn(t, "paper")
	const dialogues = 2915
	for _, seed := range []uint64{0, 1, math.MaxUint64} {
		voices, pairs := map[string]int{}, map[string]int{}
		for i := range dialogues {
			casting := mustCast(t, pool, fmt.Sprint(85514414+i), two, seed)
			for _, part := range casting {
				voices[part.Voice]++
			}
			pairs[casting[0].Voice+" "+casting[1].Voice]++
		}
		if len(voices) != 6 || len(pairs) != 30 {
			t.Fatalf("seed %d: %d voices and %d ordered pairs are used, want 6 and 30", seed, len(voices), len(pairs))
		}
		within := func(what string, counts map[string]int, p float64) {
			mean, deviation := dialogues*p, math.Sqrt(dialogues*p*(1-p))
			for name, n := range counts {
				if math.Abs(float64(n)-mean) > 5*deviation {
					t.Errorf("seed %d: %s %s comes up %d times, expected %.0f", seed, what, name, n, mean)
				}
			}
		}
		within("voice", voices, 2.0/6)
		within("pair", pairs, 1.0/30)
	}
}

// Within as many castings as the pool has, no voice speaks for one speaker twice,
// and all that come up speak for every speaker. The first is what number 0 is.
func TestCastRotates(t *testing.T) {
	pool := mustBuiltIn(t, "flite")
	speakers := []dialogue.Speaker{"A", "B", "C", "D", "E", "F"}
	for n, want := range map[int]int{1: 6, 2: 6, 3: 6, 4: 4, 5: 5, 6: 6} {
		if got := pool.Castings(n); got != want {
			t.Fatalf("%d speakers have %d castings, want %d", n, got, want)
		}
		spoke := map[Part]int{}
		voices := map[string]bool{}
		for number := 1; number <= want; number++ {
			casting, err := Cast(pool, "d", speakers[:n], 0, number)
			if err != nil {
				t.Fatal(err)
			}
			distinct := map[string]bool{}
			for _, part := range casting {
				spoke[part]++
				voices[part.Voice], distinct[part.Voice] = true, true
			}
			if len(distinct) != n {
				t.Errorf("%d speakers, casting %d: %v has a voice twice", n, number, casting)
			}
		}
		if len(spoke) != len(voices)*n {
			t.Errorf("%d speakers: %d parts of %d voices, want each voice to speak for each speaker", n, len(spoke), len(voices))
		}
		for part, times := range spoke {
			if times != 1 {
				t.Errorf("%d speakers: %v comes up %d times", n, part, times)
			}
		}
		zero, err := Cast(pool, "d", speakers[:n], 0, 0)
		if diff := cmp.Diff(mustCast(t, pool, "d", speakers[:n], 0), zero); diff != "" || err != nil {
			t.Errorf("%d speakers: number 0 is not the first (%v): %s", n, err, diff)
		}
	}
}

func TestCastTwiceSwaps(t *testing.T) {
	pool := mustBuiltIn(t, "paper")
	first := mustCast(t, pool, "85514414", two, 0)
	second, err := Cast(pool, "85514414", two, 0, 2)
	want := Casting{{"Person1", first[1].Voice}, {"Person2", first[0].Voice}}
	if diff := cmp.Diff(want, second); diff != "" || err != nil {
		t.Errorf("casting 2 (%v, -want +got):\n%s", err, diff)
	}
}

func TestCastSeedMatters(t *testing.T) {
	pool := mustBuiltIn(t, "paper")
	same := 0
	for i := range 1000 {
		id := fmt.Sprint(i)
		if cmp.Equal(mustCast(t, pool, id, two, 1), mustCast(t, pool, id, two, 2)) {
			same++
		}
	}
	if same > 100 { // 1000/30 by chance
		t.Errorf("%d of 1000 dialogues are cast the same with another seed", same)
	}
}

func TestCastErrors(t *testing.T) {
	pool := mustBuiltIn(t, "flite")
	seven := []dialogue.Speaker{"S1", "S2", "S3", "S4", "S5", "S6", "S7"}
	for _, c := range []struct {
		name     string
		pool     Pool
		speakers []dialogue.Speaker
		want     []string
	}{
		{"more speakers than voices", pool, seven, []string{`dialogue "d1"`, "7 speakers", `"S1"`, `"S7"`, "6 voices", `"flite"`, `"v1"`, `"v6"`}},
		{"speaker twice", pool, []dialogue.Speaker{"A", "A"}, []string{`dialogue "d1"`, `"A"`, "twice"}},
		{"invalid pool", Pool{Name: "x", Synthesizer: "flite"}, two, []string{`dialogue "d1"`, "no voices"}},
		{"more castings than the pool has", pool, seven[:4], []string{`dialogue "d1"`, `"flite"`, "6 voices", "4 castings", "4 speakers", "not 5"}},
	} {
		number := 1
		if strings.Contains(c.name, "castings") {
			number = 5
		}
		_, err := Cast(c.pool, "d1", c.speakers, 0, number)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q does not say %s", c.name, err, want)
			}
		}
	}
}
