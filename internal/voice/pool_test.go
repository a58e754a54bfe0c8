package voice

import (
	"strings"
	"testing"
)

func TestBuiltIn(t *testing.T) {
	for _, name := range BuiltInNames() {
		pool := mustBuiltIn(t, name)
		if pool.Name != name || len(pool.Voices) != 6 {
			t.Errorf("pool %q is named %q and has %d voices, want 6", name, pool.Name, len(pool.Voices))
		}
	}
	if _, err := BuiltIn("nope"); err == nil || !strings.Contains(err.Error(), "paper, flite, rhvoice") {
		t.Errorf("an unknown pool gives %v, want the names there are", err)
	}
}

func TestForIsTheSynthesizersOwn(t *testing.T) {
	for _, name := range Synthesizers() {
		if pool, err := For(name); err != nil || pool.Synthesizer != name {
			t.Errorf("the pool for %s is %q of %q, %v", name, pool.Name, pool.Synthesizer, err)
		}
	}
	if _, err := For("paper"); err == nil || !strings.Contains(err.Error(), "elevenlabs, flite, rhvoice") {
		t.Errorf("an unknown synthesizer gives %v, want the names there are", err)
	}
}

func TestPaperPoolIsThePapers(t *testing.T) {
	pool := mustBuiltIn(t, "paper")
	if pool.Synthesizer != "elevenlabs" {
		t.Errorf("synthesizer %q", pool.Synthesizer)
	}
	ids := map[string]string{
		"ivanna": "yM93hbw8Qtvdma2wCnJG", "mark": "UgBBYS2sOqTuMpoF3BR0", "amanda": "M6N6IdXhi5YNZyZSDe7k",
		"sassy": "03vEurziQfq3V8WZhQvn", "grandpa": "NOpBlnGInO9m6vDvFkFC", "grandma": "vFLqXa8bgbofGarf6fZh",
	}
	for slug, id := range ids {
		v, ok := pool.Voice(slug)
		if !ok || v.Params["id"] != id || v.Params["model"] != "eleven_multilingual_v2" {
			t.Errorf("voice %s is %v with params %v", slug, ok, v.Params)
		}
		for _, trait := range []string{"name", "gender", "age", "accent"} {
			if v.Traits[trait] == "" {
				t.Errorf("voice %s has no %s", slug, trait)
			}
		}
	}
	if _, ok := pool.Voice("v1"); ok {
		t.Error("voice v1 is in the paper's pool")
	}
}

func TestLocalPoolsClaimNoPerson(t *testing.T) {
	for _, name := range []string{"flite", "rhvoice"} {
		for _, v := range mustBuiltIn(t, name).Voices {
			for _, trait := range []string{"name", "gender", "age", "accent"} {
				if v.Traits[trait] != "" {
					t.Errorf("pool %s claims the %s of voice %s", name, trait, v.Slug)
				}
			}
			if v.Traits["source"] == "" || v.Traits["shift"] == "" {
				t.Errorf("pool %s does not say where voice %s comes from", name, v.Slug)
			}
		}
	}
}

const tiny = "name = 'tiny'\nsynthesizer = 'flite'\n[[voices]]\nslug = 'v1'\nparams = { voice = 'slt' }\n"

func TestParsePoolErrors(t *testing.T) {
	if _, err := ParsePool([]byte(tiny)); err != nil {
		t.Fatalf("a valid pool: %v", err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "colour = 1\n" + tiny, "colour"},
		{"unknown voice key", tiny + "pitch = 3\n", "voices.pitch"},
		{"broken", "name = ", "read voice pool"},
		{"number for a param", strings.Replace(tiny, "'slt'", "1.05", 1), "params"},
		{"empty", "", "no voices"},
		{"no synthesizer", strings.Replace(tiny, "synthesizer = 'flite'", "", 1), `synthesizer ""`},
		{"slug with a slash", strings.Replace(tiny, "'v1'", "'../v1'", 1), `slug "../v1"`},
		{"slug with a newline", strings.Replace(tiny, "'v1'", `"v1\n"`, 1), `slug "v1\n"`},
		{"slug in capitals", strings.Replace(tiny, "'v1'", "'V1'", 1), `slug "V1"`},
		{"slug twice", tiny + "[[voices]]\nslug = 'v1'\n", `"v1" is used twice`},
		{"same params", tiny + "[[voices]]\nslug = 'v2'\nparams = { voice = 'slt' }\n", "sound alike"},
	} {
		if _, err := ParsePool([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %s", c.name, err, c.want)
		}
	}
}

func FuzzParsePool(f *testing.F) {
	for _, name := range BuiltInNames() {
		text, err := builtIn.ReadFile("pools/" + name + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("voices = [[{slug='a'}]]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		pool, err := ParsePool(text)
		if err != nil {
			return
		}
		for _, slug := range pool.Slugs() {
			if strings.ContainsAny(slug, "/. \n") {
				t.Errorf("slug %q was let through", slug)
			}
		}
	})
}
