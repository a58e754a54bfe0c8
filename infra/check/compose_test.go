package check

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// composeSecrets stand in for what the operator fills in.
var composeSecrets = []string{
	"POSTGRES_PASSWORD=made-up-1", "S3_ACCESS_KEY=made-up-2", "S3_SECRET_KEY=made-up-3", "SPEECHMANIP_VERSION=1.2.3", "SPEECHMANIP_ELEVENLABS_KEY=made-up-4",
}

func loadCompose(env []string, overrides ...string) (*types.Project, error) {
	files := []string{filepath.Join(repository, "infra/compose.yaml")}
	for _, name := range overrides {
		files = append(files, filepath.Join(repository, "infra/compose", name))
	}
	options, err := cli.NewProjectOptions(files,
		cli.WithEnv(env), cli.WithProfiles([]string{"*"}), cli.WithResolvedPaths(true))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background()) // by Compose's own schema, strictly
}

func TestCompose(t *testing.T) {
	project, err := loadCompose(composeSecrets)
	if err != nil {
		t.Fatal(err)
	}
	var queues []string
	for name, service := range project.Services {
		pinned(t, name, service.Image)
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %d is published beyond this machine", name, port.Target)
			}
		}
		if !strings.HasPrefix(service.Image, "speechmanip") || strings.HasPrefix(service.Image, "speechmanip-vllm") {
			continue
		}
		c := container{name: name, env: map[string]string{}, command: append(slices.Clone(service.Entrypoint), service.Command...)}
		for key, value := range service.Environment {
			if value == nil {
				t.Errorf("%s: %s comes from the operator's shell", name, key)
				continue
			}
			c.env[key] = *value
		}
		if service.StopGracePeriod != nil {
			c.grace = time.Duration(*service.StopGracePeriod)
		}
		if queue := c.check(t); queue != "" {
			queues = append(queues, queue)
		}
	}
	slices.Sort(queues)
	want := []string{"audio", "detect-cpu-baseline", "detect-gpu-qwen25omni", "speech-elevenlabs", "speech-flite", "speechmanip"}
	if !slices.Equal(queues, want) {
		t.Errorf("polled are %q, want %q", queues, want)
	}
}

// With encryption, whoever talks to Temporal finds the keys where its variable says.
func TestComposeEncrypted(t *testing.T) {
	project, err := loadCompose(composeSecrets, "encrypted.yaml")
	if err != nil {
		t.Fatal(err)
	}
	talking := 0
	for name, service := range project.Services {
		if !strings.HasPrefix(service.Image, "speechmanip") || service.Environment["TEMPORAL_ADDRESS"] == nil || name == "setup" {
			continue // setup starts no workflow
		}
		talking++
		path := service.Environment["SPEECHMANIP_CODEC_KEY_FILE"]
		if path == nil || len(service.Secrets) != 1 || *path != "/run/secrets/"+service.Secrets[0].Source {
			t.Errorf("%s: keys at %v, secrets %v", name, path, service.Secrets)
		}
	}
	if talking != 7 {
		t.Errorf("%d services", talking)
	}
}

// Without its secrets nothing starts, and none is in the files.
func TestComposeSecrets(t *testing.T) {
	for _, required := range composeSecrets[:4] {
		name, _, _ := strings.Cut(required, "=")
		env := slices.DeleteFunc(slices.Clone(composeSecrets), func(s string) bool { return s == required })
		if _, err := loadCompose(env); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	project, err := loadCompose(composeSecrets)
	if err != nil {
		t.Fatal(err)
	}
	for name, service := range project.Services {
		for key, value := range service.Environment {
			secret := slices.ContainsFunc([]string{"PASSWORD", "PWD", "SECRET", "TOKEN", "_KEY"}, func(word string) bool { return strings.Contains(key, word) })
			if secret && value != nil && *value != "" && !strings.HasPrefix(*value, "made-up-") {
				t.Errorf("%s: %s is in the file", name, key)
			}
		}
	}
}
