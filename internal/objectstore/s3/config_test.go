package s3

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestConfigHidesSecrets(t *testing.T) {
	cfg := Config{Bucket: "b", AccessKey: "AKIA-visible", SecretKey: "top-hidden"}
	encoded, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"json": string(encoded), "nested": fmt.Sprintf("%+v", struct{ C *Config }{&cfg})}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts[verb] = fmt.Sprintf(verb, cfg)
	}
	for how, text := range texts {
		for _, secret := range []string{"visible", "hidden", fmt.Sprintf("%x", "hidden")} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows a secret: %s", how, text)
			}
		}
	}
	if !strings.Contains(texts["%+v"], "SecretKey:[redacted]") {
		t.Errorf("a set key should be told from an unset one: %s", texts["%+v"])
	}
	if got := fmt.Sprint(Config{}.SecretKey); got != "" {
		t.Errorf("an unset key prints %q", got)
	}
}

func TestConfigValidate(t *testing.T) {
	good := Config{
		Endpoint: "http://127.0.0.1:7070", Bucket: "speechmanip", AccessKey: "a", SecretKey: "s", Checksums: WhenRequired,
	}
	for _, test := range []struct {
		name   string
		change func(*Config)
		want   string // empty: valid
	}{
		{"all set", func(*Config) {}, ""},
		{"AWS with its chain", func(c *Config) { *c = Config{Bucket: "my.bucket-1"} }, ""},
		{"no bucket", func(c *Config) { c.Bucket = "" }, `bucket ""`},
		{"bucket with a slash", func(c *Config) { c.Bucket = "a/../b" }, "bucket"},
		{"no scheme", func(c *Config) { c.Endpoint = "localhost:7070" }, "want a URL"},
		{"another scheme", func(c *Config) { c.Endpoint = "ftp://x" }, "want a URL"},
		{"a password", func(c *Config) { c.Endpoint = "http://user:pass@x" }, "has a user name"},
		{"a query", func(c *Config) { c.Endpoint = "http://x/?a=b" }, "no query"},
		{"half a key pair", func(c *Config) { c.SecretKey = "" }, "set both"},
		{"unknown checksums", func(c *Config) { c.Checksums = "never" }, "want when_supported or when_required"},
	} {
		cfg := good
		test.change(&cfg)
		err := cfg.Validate()
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %q in it", test.name, err, test.want)
		case err != nil && strings.Contains(err.Error(), "pass@"):
			t.Errorf("%s shows the password: %v", test.name, err)
		}
	}
	if err := (Config{Endpoint: "x", SecretKey: "s", Checksums: "y"}).Validate(); strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("want all four problems at once, got %v", err)
	}
}
