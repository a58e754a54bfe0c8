package check

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// repository is the root of the working tree.
const repository = "../.."

// program returns the path of a built program; where it is missing the test fails.
func program(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("SPEECHMANIP_BIN")
	if folder == "" {
		folder = filepath.Join(repository, "bin")
	}
	path, err := filepath.Abs(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run `make build` first", err)
	}
	return path
}

// container is what compose and Kubernetes say about one of the product's own.
type container struct {
	name    string
	command []string // "/worker" or "/starter", and its arguments
	env     map[string]string
	grace   time.Duration // between SIGTERM and SIGKILL
}

// check fails for a variable that the product doesn't read, a value or flag that it
// refuses, and a grace period in which it can't drain. It returns the queue that a
// worker polls, "" for starter.
func (c container) check(t *testing.T) (queue string) {
	t.Helper()
	read := map[string]bool{}
	cfg, err := config.Load(func(name string) (string, bool) {
		read[name] = true
		value, ok := c.env[name]
		return value, ok
	})
	if err != nil {
		t.Errorf("%s: its environment is refused: %v", c.name, err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.env)) {
		if !read[name] {
			t.Errorf("%s: nothing reads %s", c.name, name)
		}
	}
	if len(c.command) == 0 || c.command[0] != "/worker" && c.command[0] != "/starter" {
		t.Fatalf("%s: %q is no program of the images", c.name, c.command)
	}
	// Flags are parsed in order: --help at the end shows that all before it are known.
	out, err := exec.Command(program(t, c.command[0][1:]), append(slices.Clone(c.command[1:]), "--help")...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %q: %v: %s", c.name, c.command, err, out)
	}
	if c.command[0] == "/starter" {
		return ""
	}
	if c.grace <= cfg.Drain {
		t.Errorf("%s: %s to stop, but it may drain for %s", c.name, c.grace, cfg.Drain)
	}
	return c.queue(t)
}

// queue is what the worker's flags make it poll.
func (c container) queue(t *testing.T) string {
	t.Helper()
	flags := map[string]string{"synthesizer": "flite", "accelerator": "cpu", "pool": "baseline"}
	for _, arg := range c.command[1:] {
		name, value, ok := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !ok {
			t.Fatalf("%s: write %q as --flag=value", c.name, arg)
		}
		flags[name] = value
	}
	switch flags["roles"] {
	case "workflows":
		return evaluation.QueueMain
	case "audio":
		return evaluation.QueueAudio
	case "speech":
		return evaluation.SpeechQueue(flags["synthesizer"])
	case "detect":
		return evaluation.DetectQueue(flags["accelerator"], flags["pool"])
	default:
		t.Fatalf("%s: --roles=%q: one role a container", c.name, flags["roles"])
		return ""
	}
}

// pinned fails for an image whose content can change under its name.
func pinned(t *testing.T, where, image string) {
	t.Helper()
	name := image[strings.LastIndex(image, "/")+1:]
	_, tag, ok := strings.Cut(name, ":")
	if !ok || tag == "" || tag == "latest" || !strings.ContainsAny(tag, "0123456789") {
		t.Errorf("%s: image %q has no version", where, image)
	}
}
