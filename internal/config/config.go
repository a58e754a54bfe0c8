// Package config reads how starter and worker reach Temporal and the object
// store, from the environment.
package config

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.uber.org/zap/zapcore"

	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/objectstore/s3"
	"github.com/speechmanip/speechmanip/internal/secret"
	"github.com/speechmanip/speechmanip/internal/webhook"
)

// The variables, beside those of package codec. Temporal's own (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// TEMPORAL_API_KEY, TEMPORAL_PROFILE, ...) are read by envconfig.
const (
	EnvEndpoint   = "SPEECHMANIP_S3_ENDPOINT"   // a URL, or "aws"; unset: the local dev stack
	EnvRegion     = "SPEECHMANIP_S3_REGION"     // default us-east-1
	EnvBucket     = "SPEECHMANIP_S3_BUCKET"     // default speechmanip
	EnvAccessKey  = "SPEECHMANIP_S3_ACCESS_KEY" // unset: the dev stack's, or the AWS credential chain for aws
	EnvSecretKey  = "SPEECHMANIP_S3_SECRET_KEY"
	EnvPathStyle  = "SPEECHMANIP_S3_PATH_STYLE"  // default: true unless the endpoint is aws
	EnvChecksums  = "SPEECHMANIP_S3_CHECKSUMS"   // when_supported (default) or when_required
	EnvChatURL    = "SPEECHMANIP_CHAT_URL"       // role detect: the chat server, e.g. http://127.0.0.1:8000; several that are alike, with commas
	EnvChatKey    = "SPEECHMANIP_CHAT_KEY"       // its key; unset sends none
	EnvChatKind   = "SPEECHMANIP_CHAT_DIALECT"   // auto (default), vllm, llama-server or generic
	EnvElevenKey  = "SPEECHMANIP_ELEVENLABS_KEY" // role speech with elevenlabs: the account's key
	EnvElevenURL  = "SPEECHMANIP_ELEVENLABS_URL" // a proxy's or a test server's address; unset: ElevenLabs' own
	EnvPrices     = "SPEECHMANIP_PRICES"         // starter: the file of what calls cost
	EnvUI         = "SPEECHMANIP_UI"             // the Web UI's address, for the links that are printed
	EnvLogFormat  = "SPEECHMANIP_LOG_FORMAT"     // console (default) or json
	EnvLogLevel   = "SPEECHMANIP_LOG_LEVEL"      // debug, info (default), warn, error
	EnvCodecToken = "SPEECHMANIP_CODEC_TOKEN"    // starter codec-server: who may decode
	EnvDrain      = "SPEECHMANIP_DRAIN"          // how long a stopping worker lets calls finish; default DefaultDrain
)

// DefaultDrain exceeds the longest call that somebody may have paid for, with time to
// store its result.
const DefaultDrain = 150 * time.Second

// The dev stack's defaults, so that a newcomer configures nothing.
const (
	devEndpoint  = "http://127.0.0.1:7070"
	devAccessKey = "devstack"
	devSecretKey = "devstack-secret"
	devUI        = "http://127.0.0.1:8233"
	awsEndpoint  = "aws"
)

// Config is everything read from the environment.
type Config struct {
	Temporal client.Options
	Payloads Payloads
	Store    s3.Config
	Chat     Chat
	Eleven   ElevenLabs
	Webhooks map[string]webhook.Hook // by name
	UI       string                  // without a slash at its end
	LogJSON  bool
	LogLevel zapcore.Level
	Drain    time.Duration
}

// Payloads says how what crosses Temporal is encrypted.
type Payloads struct {
	Keys  codec.Keys  // none: nothing is encrypted
	Token secret.Text // of the codec server; "" where there is none
}

// Chat is the chat server behind a detect worker, or several.
type Chat struct {
	URLs    []string // of servers that are alike; none where there is no server
	Key     secret.Text
	Dialect string
}

// ElevenLabs is the account behind a worker that speaks with it.
type ElevenLabs struct {
	URL string      // "" is the service's own
	Key secret.Text // "" where there is none
}

// Load reads the environment through lookup (os.LookupEnv). The error names
// everything that is wrong, not only the first.
func Load(lookup func(string) (string, bool)) (Config, error) {
	env := reader{lookup: lookup}
	cfg := Config{
		UI:      env.text(EnvUI, devUI),
		Drain:   env.duration(EnvDrain, DefaultDrain),
		LogJSON: env.choice(EnvLogFormat, "console", "json") == "json",
	}
	cfg.Payloads = Payloads{Keys: env.keys(), Token: secret.Text(env.text(EnvCodecToken, ""))}
	cfg.Store = env.store()
	cfg.Chat = Chat{
		URLs:    env.list(EnvChatURL),
		Key:     secret.Text(env.text(EnvChatKey, "")),
		Dialect: env.choice(EnvChatKind, "auto", "vllm", "llama-server", "generic"),
	}
	cfg.Eleven = ElevenLabs{URL: env.text(EnvElevenURL, ""), Key: secret.Text(env.text(EnvElevenKey, ""))}
	cfg.Webhooks = env.webhooks()
	if err := cfg.LogLevel.Set(env.text(EnvLogLevel, "info")); err != nil {
		env.fail(EnvLogLevel, "use debug, info, warn or error")
	}
	if err := cfg.Store.Validate(); err != nil {
		env.errs = append(env.errs, err)
	}
	var err error
	cfg.Temporal, err = envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: environment(lookup)})
	if err != nil {
		env.errs = append(env.errs, fmt.Errorf("temporal configuration: %w", err))
	}
	if cfg.Temporal.HostPort == "" {
		cfg.Temporal.HostPort = client.DefaultHostPort
	}
	if cfg.Temporal.Namespace == "" {
		cfg.Temporal.Namespace = client.DefaultNamespace
	}
	return cfg, errors.Join(env.errs...)
}

type reader struct {
	lookup func(string) (string, bool)
	errs   []error
}

func (r *reader) fail(name, hint string) {
	value, _ := r.lookup(name)
	r.errs = append(r.errs, fmt.Errorf("%s=%q: %s", name, value, hint))
}

func (r *reader) text(name, fallback string) string {
	if value, ok := r.lookup(name); ok && value != "" {
		return value
	}
	return fallback
}

// list reads values with commas between them.
func (r *reader) list(name string) []string {
	var out []string
	for _, value := range strings.Split(r.text(name, ""), ",") {
		if value = strings.TrimSpace(value); value != "" {
			out = append(out, value)
		}
	}
	return out
}

func (r *reader) choice(name, fallback string, others ...string) string {
	value := r.text(name, fallback)
	for _, valid := range append(others, fallback) {
		if value == valid {
			return value
		}
	}
	r.fail(name, "use "+strings.Join(append([]string{fallback}, others...), " or "))
	return fallback
}

func (r *reader) duration(name string, fallback time.Duration) time.Duration {
	text := r.text(name, fallback.String())
	value, err := time.ParseDuration(text)
	if err != nil || value < 0 {
		r.fail(name, `use a duration such as "90s"`)
	}
	return value
}

func (r *reader) store() s3.Config {
	endpoint := r.text(EnvEndpoint, devEndpoint)
	cfg := s3.Config{
		Endpoint:  endpoint,
		Region:    r.text(EnvRegion, ""),
		Bucket:    r.text(EnvBucket, "speechmanip"),
		AccessKey: secret.Text(r.text(EnvAccessKey, "")),
		SecretKey: secret.Text(r.text(EnvSecretKey, "")),
		PathStyle: endpoint != awsEndpoint,
		Checksums: r.choice(EnvChecksums, "when_supported", "when_required"),
	}
	if endpoint == devEndpoint && cfg.AccessKey == "" && cfg.SecretKey == "" {
		cfg.AccessKey, cfg.SecretKey = devAccessKey, devSecretKey
	}
	if endpoint == awsEndpoint {
		cfg.Endpoint = ""
	} else if cfg.AccessKey == "" || cfg.SecretKey == "" {
		// The AWS chain's keys are not for another's server.
		// Without the value: an endpoint may hold a password.
		r.errs = append(r.errs, fmt.Errorf("%s: set %s and %s for this server", EnvEndpoint, EnvAccessKey, EnvSecretKey))
	}
	if text := r.text(EnvPathStyle, ""); text != "" {
		value, err := strconv.ParseBool(text)
		if err != nil {
			r.fail(EnvPathStyle, "use true or false")
		}
		cfg.PathStyle = value
	}
	return cfg
}

// environment lets envconfig read through the same lookup.
type environment func(string) (string, bool)

// Environ lists the process's own variables, for TEMPORAL_GRPC_META_*.
func (environment) Environ() []string { return os.Environ() }

// LookupEnv looks one variable up.
func (e environment) LookupEnv(name string) (string, bool) { return e(name) }
