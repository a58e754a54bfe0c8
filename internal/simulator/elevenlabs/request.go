package elevenlabs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// model is what differs between the service's models: the most characters in one
// request, and what a hundred characters cost.
type model struct{ characters, credits int }

var models = map[string]model{
	"eleven_multilingual_v2": {10000, 100},
	"eleven_flash_v2_5":      {40000, 50},
	"eleven_turbo_v2_5":      {40000, 50},
	"eleven_flash_v2":        {30000, 50},
	"eleven_turbo_v2":        {30000, 50},
	"eleven_v3":              {5000, 100},
}

// rates of pcm_ and wav_ formats. The others (mp3, opus, ulaw) are not simulated.
var rates = []int{8000, 16000, 22050, 24000, 32000, 44100, 48000}

// request is what the service's audio depends on.
type request struct {
	voice     string
	container string // pcm or wav
	rate      int

	Text     string          `json:"text"`
	Model    string          `json:"model_id"`
	Settings json.RawMessage `json:"voice_settings"`
	Seed     *int64          `json:"seed"`
	Before   string          `json:"previous_text"`
	After    string          `json:"next_text"`
}

// cost is in credits, a begun one counts.
func (r request) cost() int {
	return (utf8.RuneCountInString(r.Text)*models[r.Model].credits + 99) / 100
}

// parse reads a request for speech. It answers a wrong one itself, and returns
// false.
func (s *Server) parse(w http.ResponseWriter, voice, format string, body []byte) (request, bool) {
	r := request{voice: voice, Model: "eleven_multilingual_v2"}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(body, &r) != nil {
		unprocessable(w, "JSON decode error", "body")
		return r, false
	}
	if _, ok := fields["text"]; !ok {
		unprocessable(w, "Field required", "body", "text")
		return r, false
	}
	if r.Seed != nil && (*r.Seed < 0 || *r.Seed > 4294967295) {
		unprocessable(w, "Input should be from 0 to 4294967295", "body", "seed")
		return r, false
	}
	var rate string
	r.container, rate, _ = strings.Cut(format, "_")
	r.rate, _ = strconv.Atoi(rate)
	if r.container != "pcm" && r.container != "wav" || !slices.Contains(rates, r.rate) {
		unprocessable(w, "Input should be an output format", "query", "output_format")
		return r, false
	}
	known, ok := models[r.Model]
	if !ok {
		s.fail(w, problem{http.StatusBadRequest, "validation_error", "model_not_found",
			fmt.Sprintf("A model with model ID %s does not exist ...", r.Model)})
		return r, false
	}
	if n := utf8.RuneCountInString(r.Text); n > known.characters {
		s.fail(w, problem{http.StatusBadRequest, "validation_error", "max_character_limit_exceeded",
			fmt.Sprintf("This request's text has %d characters and exceeds the character limit of %d characters.", n, known.characters)})
		return r, false
	}
	if wrong := outOfRange(r.Settings); wrong != "" {
		s.fail(w, problem{http.StatusBadRequest, "validation_error", "invalid_voice_settings", "Invalid setting for " + wrong})
		return r, false
	}
	return r, true
}

// outOfRange returns the first of the voice settings that the service would not
// take, "" when there is none.
func outOfRange(settings json.RawMessage) string {
	var given struct {
		Stability  *float64 `json:"stability"`
		Similarity *float64 `json:"similarity_boost"`
		Style      *float64 `json:"style"`
		Speed      *float64 `json:"speed"`
		Boost      *bool    `json:"use_speaker_boost"`
	}
	if len(settings) == 0 {
		return ""
	}
	if json.Unmarshal(settings, &given) != nil {
		return "voice_settings"
	}
	for _, c := range []struct {
		name     string
		value    *float64
		min, max float64
	}{
		{"stability", given.Stability, 0, 1}, {"similarity_boost", given.Similarity, 0, 1},
		{"style", given.Style, 0, 1}, {"speed", given.Speed, 0.7, 1.2},
	} {
		if c.value != nil && (*c.value < c.min || *c.value > c.max) {
			return c.name
		}
	}
	return ""
}
