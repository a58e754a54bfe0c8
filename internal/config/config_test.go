package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap/zapcore"

	"github.com/speechmanip/speechmanip/internal/objectstore/s3"
)

// load reads the variables given as pairs, and no file of whoever runs the test.
func load(t *testing.T, pairs ...string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "temporal.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TEMPORAL_CONFIG_FILE": file}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return Load(func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
}

func TestDefaultsAreTheDevStack(t *testing.T) {
	cfg, err := load(t)
	if err != nil {
		t.Fatal(err)
	}
	want := s3.Config{
		Endpoint: "http://127.0.0.1:7070", Bucket: "speechmanip", PathStyle: true, Checksums: "when_supported",
		AccessKey: "devstack", SecretKey: "devstack-secret",
	}
	if cfg.Store != want {
		t.Errorf("store %+v", cfg.Store)
	}
	if cfg.Temporal.HostPort != "localhost:7233" || cfg.Temporal.Namespace != "default" {
		t.Errorf("Temporal at %q, namespace %q", cfg.Temporal.HostPort, cfg.Temporal.Namespace)
	}
	if cfg.UI != "http://127.0.0.1:8233" || cfg.LogJSON || cfg.LogLevel != zapcore.InfoLevel || cfg.Drain != DefaultDrain {
		t.Errorf("UI %q, JSON %v, level %s, drain %s", cfg.UI, cfg.LogJSON, cfg.LogLevel, cfg.Drain)
	}
}

func TestStore(t *testing.T) {
	for _, test := range []struct {
		name  string
		pairs []string
		want  s3.Config
	}{
		{"another server", []string{EnvEndpoint, "https://s3.example.org", EnvAccessKey, "k", EnvSecretKey, "s", EnvBucket, "mine", EnvChecksums, "when_required"},
			s3.Config{Endpoint: "https://s3.example.org", Bucket: "mine", PathStyle: true, Checksums: "when_required", AccessKey: "k", SecretKey: "s"}},
		{"aws: no endpoint, no keys of its own, virtual hosts", []string{EnvEndpoint, "aws", EnvRegion, "eu-central-1"},
			s3.Config{Region: "eu-central-1", Bucket: "speechmanip", Checksums: "when_supported"}},
		{"aws with keys and path style", []string{EnvEndpoint, "aws", EnvAccessKey, "k", EnvSecretKey, "s", EnvPathStyle, "true"},
			s3.Config{Bucket: "speechmanip", PathStyle: true, Checksums: "when_supported", AccessKey: "k", SecretKey: "s"}},
		{"an empty variable is an unset one", []string{EnvEndpoint, "", EnvBucket, "", EnvPathStyle, ""},
			s3.Config{Endpoint: devEndpoint, Bucket: "speechmanip", PathStyle: true, Checksums: "when_supported", AccessKey: devAccessKey, SecretKey: devSecretKey}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := load(t, test.pairs...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, cfg.Store); diff != "" {
				t.Errorf("store (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTemporal(t *testing.T) {
	cfg, err := load(t, "TEMPORAL_ADDRESS", "temporal:7233", "TEMPORAL_NAMESPACE", "n")
	if err != nil || cfg.Temporal.HostPort != "temporal:7233" || cfg.Temporal.Namespace != "n" {
		t.Errorf("Temporal at %q, namespace %q, %v", cfg.Temporal.HostPort, cfg.Temporal.Namespace, err)
	}
}

func TestChatServers(t *testing.T) {
	for value, want := range map[string][]string{
		"": nil, " , ": nil, "http://one:1": {"http://one:1"}, "http://one:1, https://two/v1,": {"http://one:1", "https://two/v1"},
	} {
		if cfg, err := load(t, EnvChatURL, value); err != nil || !slices.Equal(cfg.Chat.URLs, want) {
			t.Errorf("%q: %q, %v; want %q", value, cfg.Chat.URLs, err, want)
		}
	}
}

func TestElevenLabs(t *testing.T) {
	cfg, err := load(t, EnvElevenKey, "k", EnvElevenURL, "http://127.0.0.1:1")
	if want := (ElevenLabs{URL: "http://127.0.0.1:1", Key: "k"}); err != nil || cfg.Eleven != want {
		t.Errorf("%+v, %v", cfg.Eleven, err)
	}
	if cfg, err = load(t); err != nil || cfg.Eleven != (ElevenLabs{}) {
		t.Errorf("nothing set: %+v, %v", cfg.Eleven, err)
	}
}

func TestEveryErrorAtOnce(t *testing.T) {
	_, err := load(t,
		EnvEndpoint, "ftp://nowhere",
		EnvBucket, "Not A Bucket",
		EnvAccessKey, "alone",
		EnvPathStyle, "perhaps",
		EnvChecksums, "never",
		EnvLogFormat, "xml",
		EnvLogLevel, "loud",
		EnvDrain, "-1s",
		"TEMPORAL_PROFILE", "no-such-profile",
	)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"s3 endpoint", "s3 bucket", "s3 access key and secret key: set both",
		EnvPathStyle + `="perhaps": use true or false`,
		EnvChecksums + `="never": use when_supported or when_required`,
		EnvLogFormat + `="xml": use console or json`,
		EnvLogLevel + `="loud": use debug, info, warn or error`,
		EnvDrain + `="-1s": use a duration such as "90s"`,
		"temporal configuration",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error leaves out %q:\n%v", want, err)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	const secret = "hunter2"
	cfg, err := load(t, EnvEndpoint, "https://s3.example.org", EnvAccessKey, secret, EnvSecretKey, secret, EnvChatURL, "http://127.0.0.1:8000", EnvChatKey, secret, EnvElevenKey, secret, "TEMPORAL_API_KEY", secret)
	if err != nil {
		t.Fatal(err)
	}
	store, err := json.Marshal(cfg.Store)
	if err != nil {
		t.Fatal(err)
	}
	_, broken := load(t, EnvEndpoint, "https://user:"+secret+"@s3.example.org", EnvAccessKey, secret, EnvSecretKey, secret)
	if broken == nil {
		t.Fatal("a user name in the endpoint is no error")
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", cfg.Store, cfg.Store, cfg.Store), fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg), string(store), broken.Error()} {
		if strings.Contains(text, secret) {
			t.Errorf("a secret in %s", text)
		}
	}
}
