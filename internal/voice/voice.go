// Package voice holds pools of voices and the deterministic casting of a
// dialogue's speakers to them.
package voice

// Voice is one voice of a pool.
type Voice struct {
	Slug   string            `json:"slug" toml:"slug"`                         // unique in its pool, used in keys and reports
	Traits map[string]string `json:"traits,omitempty" toml:"traits,omitempty"` // name, gender, age, accent: what reports show
	Params map[string]string `json:"params,omitempty" toml:"params,omitempty"` // what the synthesizer needs, opaque here (a voice id, an engine's settings)
}

// Pool is the voices that an evaluation casts from, all of one synthesizer.
type Pool struct {
	Name        string  `json:"name" toml:"name"`
	Synthesizer string  `json:"synthesizer" toml:"synthesizer"`
	Voices      []Voice `json:"voices" toml:"voices"`
}
