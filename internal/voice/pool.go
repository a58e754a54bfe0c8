package voice

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed pools/*.toml
var builtIn embed.FS

// BuiltInNames returns the names of the pools that come with the program.
func BuiltInNames() []string { return []string{"paper", "flite", "rhvoice"} }

// BuiltIn returns the pool of that name. The error names the pools there are.
func BuiltIn(name string) (Pool, error) {
	for _, known := range BuiltInNames() {
		if name != known {
			continue
		}
		text, err := builtIn.ReadFile("pools/" + name + ".toml")
		if err != nil {
			return Pool{}, fmt.Errorf("read built-in voice pool %q: %w", name, err)
		}
		return ParsePool(text)
	}
	return Pool{}, fmt.Errorf("no built-in voice pool %q; there are %s", name, strings.Join(BuiltInNames(), ", "))
}

// Synthesizers returns the names of those that have a built-in pool, sorted.
func Synthesizers() []string {
	return slices.Sorted(maps.Keys(ownPools))
}

// ownPools holds each synthesizer's own pool, by name.
var ownPools = map[string]string{"elevenlabs": "paper", "flite": "flite", "rhvoice": "rhvoice"}

// For returns a synthesizer's own pool. The error names the synthesizers there are.
func For(synthesizer string) (Pool, error) {
	name, ok := ownPools[synthesizer]
	if !ok {
		return Pool{}, fmt.Errorf("no voice pool for synthesizer %q: use one of %s", synthesizer, strings.Join(Synthesizers(), ", "))
	}
	return BuiltIn(name)
}

// ParsePool reads a pool from TOML and validates it. A key that means nothing
// is an error that names it: a misspelt one must not be ignored.
func ParsePool(text []byte) (Pool, error) {
	var pool Pool
	meta, err := toml.Decode(string(text), &pool)
	if err != nil {
		return Pool{}, fmt.Errorf("read voice pool: %w", err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		keys := make([]string, len(unknown))
		for i, key := range unknown {
			keys[i] = key.String()
		}
		return Pool{}, fmt.Errorf("read voice pool: unknown key %s; a pool has name, synthesizer and [[voices]] with slug, traits and params", strings.Join(keys, ", "))
	}
	if err := pool.Validate(); err != nil {
		return Pool{}, err
	}
	return pool, nil
}

// Slugs, the names of pools and those of synthesizers become parts of object
// keys and queue names.
var slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`)

// Validate checks what every synthesizer relies on: a named pool and
// synthesizer, at least one voice, unique slugs that are fit for keys, and no
// two voices with the same params, as they would sound alike. The error names
// every problem.
func (p Pool) Validate() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	const form = "want 1 to 32 of a-z, 0-9, - and _, the first a letter or digit"
	if !slugForm.MatchString(p.Name) {
		problem("name %q: %s", p.Name, form)
	}
	if !slugForm.MatchString(p.Synthesizer) {
		problem("synthesizer %q: %s", p.Synthesizer, form)
	}
	if len(p.Voices) == 0 {
		problem("it has no voices")
	}
	for i, v := range p.Voices {
		if !slugForm.MatchString(v.Slug) {
			problem("slug %q of voice %d: %s", v.Slug, i+1, form)
		}
		for _, earlier := range p.Voices[:i] {
			if earlier.Slug == v.Slug {
				problem("slug %q is used twice", v.Slug)
			} else if len(v.Params) > 0 && maps.Equal(earlier.Params, v.Params) {
				problem("voices %q and %q have the same params, so they sound alike", earlier.Slug, v.Slug)
			}
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("voice pool %q: %w", p.Name, errors.Join(problems...))
	}
	return nil
}

// Slugs returns the slugs of the pool's voices, in its order.
func (p Pool) Slugs() []string {
	slugs := make([]string, len(p.Voices))
	for i, v := range p.Voices {
		slugs[i] = v.Slug
	}
	return slugs
}

// Voice returns the voice with that slug, and false when there is none.
func (p Pool) Voice(slug string) (Voice, bool) {
	for _, v := range p.Voices {
		if v.Slug == slug {
			return v, true
		}
	}
	return Voice{}, false
}
