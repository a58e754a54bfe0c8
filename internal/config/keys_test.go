package config

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/codec"
)

var (
	keyOne = base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes, one!!"))
	keyTwo = base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes, two!!"))
)

func keyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPayloadKeys(t *testing.T) {
	for name, test := range map[string]struct {
		pairs []string
		want  int
	}{
		"none":                      {nil, 0},
		"empty variables":           {[]string{codec.EnvKeys, "", codec.EnvKeyFile, ""}, 0},
		"the environment":           {[]string{codec.EnvKeys, keyOne + "," + keyTwo}, 2},
		"a file":                    {[]string{codec.EnvKeyFile, keyFile(t, "# new\n"+keyOne+"\n# old\n"+keyTwo+"\n")}, 2},
		"a file, an empty variable": {[]string{codec.EnvKeys, "", codec.EnvKeyFile, keyFile(t, keyOne)}, 1},
	} {
		cfg, err := load(t, test.pairs...)
		if err != nil || len(cfg.Payloads.Keys) != test.want {
			t.Errorf("%s: %d keys, %v", name, len(cfg.Payloads.Keys), err)
		} else if test.want > 0 && !strings.HasSuffix(string(cfg.Payloads.Keys[0].Secret), "one!!") {
			t.Errorf("%s: the first key is not the first", name)
		}
	}
}

// What is wrong is said with its variable, and without what was read.
func TestPayloadKeysThatAreWrong(t *testing.T) {
	for name, test := range map[string]struct {
		pairs []string
		want  string
	}{
		"both":         {[]string{codec.EnvKeys, keyOne, codec.EnvKeyFile, "f"}, codec.EnvKeys + " and " + codec.EnvKeyFile + " are both set"},
		"short":        {[]string{codec.EnvKeys, keyOne + "," + keyTwo[:40]}, codec.EnvKeys + ": key 2: it has 30 bytes, not 32"},
		"no base64":    {[]string{codec.EnvKeys, keyOne[:43] + "!"}, codec.EnvKeys + ": key 1: it is not base64"},
		"no file":      {[]string{codec.EnvKeyFile, filepath.Join(t.TempDir(), "none")}, codec.EnvKeyFile + ": open "},
		"a folder":     {[]string{codec.EnvKeyFile, t.TempDir()}, codec.EnvKeyFile + ": read "},
		"a large file": {[]string{codec.EnvKeyFile, keyFile(t, strings.Repeat("#\n", maxKeyFile))}, "larger than 65536 bytes"},
		// A mount that failed must not turn encryption off.
		"an empty file": {[]string{codec.EnvKeyFile, keyFile(t, "")}, codec.EnvKeyFile + ": there is no key in it"},
	} {
		cfg, err := load(t, test.pairs...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if text := fmt.Sprintf("%v %+v", err, cfg); strings.Contains(text, keyOne[:20]) || strings.Contains(text, "thirty-two") {
			t.Errorf("%s: a key in %s", name, text)
		}
	}
}

func TestPayloadKeysAreNotPrinted(t *testing.T) {
	cfg, err := load(t, codec.EnvKeys, keyOne, EnvCodecToken, "some-token")
	if err != nil || cfg.Payloads.Token != "some-token" {
		t.Fatalf("%v, %v", cfg.Payloads, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg.Payloads); strings.Contains(text, "thirty-two") || strings.Contains(text, keyOne) || strings.Contains(text, "some-token") {
		t.Errorf("a secret in %s", text)
	}
}
