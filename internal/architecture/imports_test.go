// Package architecture holds the product's import rules: who may import whom is
// a table, and everything that it doesn't allow fails.
package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// module begins every import path of the product; the tables leave it out, and
// "internal/" too.
const module = "github.com/speechmanip/speechmanip"

// everything is what the one room that wires all others may import. It takes
// the packages that only tests use out all the same.
const everything = "*"

var (
	domain = []string{"tactic", "dialogue", "voice", "audio", "vote", "score"}
	ports  = []string{"speech", "recognize", "detect", "objectstore"}

	// What any port, and what any adapter beside its own port, may import.
	forPorts    = []string{"dialogue", "voice", "tactic", "audio", "vote", "fault", "recognize"}
	forAdapters = []string{"prompt", "voice", "audio", "tactic", "dialogue", "vote", "fault", "prosody", "recognize"}
)

// allowed says which of the product's packages a package may import outside its
// tests. A package without a row fails: it needs a place in the house first.
var allowed = map[string][]string{
	"worker": {everything},
	"starter": {
		"workflows", "evaluation", "report", "dialogue", "voice", "vote", "audio", "annotation", "agreement", "score",
		"prompt", "sample", "archive", "detect", "detect/baseline", "export", "codec", "objectstore", "objectstore/s3",
		"config", "telemetry",
	},
	"workflows":  list(ports, "activities", "evaluation", "vote", "tactic", "dialogue", "voice"),
	"activities": list(slices.Concat(ports, domain), "evaluation", "archive", "prosody", "fault", "report"),

	"archive":    {"objectstore", "evaluation", "report", "dialogue", "detect"},
	"report":     list(ports, "evaluation", "score", "vote", "tactic", "dialogue", "voice", "audio"),
	"evaluation": slices.Concat(domain, ports),
	"config":     {"objectstore/s3"},
	"telemetry":  {},
	"sample":     {},
	"prompt":     {"dialogue", "tactic", "vote"},

	"score":    {"dialogue", "tactic", "vote"},
	"voice":    {"dialogue"},
	"vote":     {"tactic"},
	"dialogue": {"tactic"},
	"prosody":  {"audio"},
	"audio":    {},
	"tactic":   {},
	"fault":    {},

	"speech":      forPorts,
	"recognize":   forPorts,
	"detect":      forPorts,
	"objectstore": forPorts,

	"speech/flite":           list(forAdapters, "speech", "speech/program"),
	"speech/rhvoice":         list(forAdapters, "speech", "speech/program"),
	"speech/program":         {"speech", "voice", "fault"},
	"recognize/pocketsphinx": forAdapters,
	"detect/baseline":        list(forAdapters, "detect"),
	"detect/chat":            list(forAdapters, "detect"),
	"objectstore/s3":         list(forAdapters, "objectstore"),
	"objectstore/mem":        list(forAdapters, "objectstore"),
}

// testOnly are the packages that nothing but tests may import. They import what
// they need.
var testOnly = []string{
	"architecture", "devstacktest", "e2e", "simulator/chat",
	"speech/speechtest", "recognize/recognizetest", "detect/detecttest", "objectstore/objectstoretest",
}

// vendors says which packages may import the paths that begin so.
var vendors = map[string][]string{
	"go.temporal.io/":    {"workflows", "activities", "worker", "starter", "telemetry", "config"},
	"go.uber.org/zap":    {"activities", "worker", "starter", "telemetry", "config"},
	"github.com/aws/":    {"objectstore/s3"},
	"google.golang.org/": {}, // gRPC stays behind the Temporal SDK
}

// pure are the packages that compute, and impure is what those must not import.
// Audio alone may use os: it spools long clips to a temporary file.
var (
	pure   = []string{"tactic", "dialogue", "voice", "audio", "vote", "score", "evaluation", "report", "prosody"}
	impure = []string{"net", "net/http", "os", "os/exec", "syscall"}
)

func list(group []string, more ...string) []string { return slices.Concat(group, more) }

// pkg is one package as `go list -json` prints it.
type pkg struct {
	ImportPath string
	Dir        string
	Imports    []string // outside tests
}

func TestImports(t *testing.T) {
	root := moduleRoot(t)
	packages := listPackages(t, root)
	for _, problem := range check(packages) {
		t.Error(problem)
	}
	watch(t, root, packages)
}

// The dev stack is reached over the network only, so that product and stack
// keep their own versions of everything.
func TestDevstackImportsNothingOfTheProduct(t *testing.T) {
	root := filepath.Join(moduleRoot(t), "infra")
	files := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		files++
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		imports, err := importsOf(source)
		for _, imported := range imports {
			if strings.HasPrefix(imported, module+"/") && !strings.HasPrefix(imported, module+"/infra/") {
				t.Errorf("%s imports %s", path, imported)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatalf("no Go files under %s", root)
	}
}

// The checker itself: each line breaks one rule, or none.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		from, imports string
		want          []string
	}{
		{"internal/vote", module + "/internal/tactic", nil},
		{"internal/vote", module + "/internal/score", []string{"vote must not import score"}},
		{"internal/detect/chat", module + "/internal/detect", nil},
		{"internal/detect/chat", module + "/internal/speech", []string{"detect/chat must not import speech"}},
		{"activities", module + "/internal/speech/flite", []string{"activities must not import speech/flite"}},
		{"activities", module + "/workflows", []string{"activities must not import workflows"}},
		{"worker", module + "/internal/speech/flite", nil},
		{"worker", module + "/internal/simulator/chat", []string{"worker must not import simulator/chat: it is for tests"}},
		{"internal/e2e", module + "/internal/simulator/chat", nil},
		{"internal/shared", "fmt", []string{"shared has no row in the table of allowed imports"}},
		{"internal/score", "go.temporal.io/sdk/workflow", []string{"score must not import go.temporal.io/sdk/workflow"}},
		{"workflows", "go.temporal.io/sdk/workflow", nil},
		{"workflows", "go.uber.org/zap", []string{"workflows must not import go.uber.org/zap"}},
		{"config", "github.com/aws/aws-sdk-go-v2/aws", []string{"config must not import github.com/aws/aws-sdk-go-v2/aws"}},
		{"internal/report", "net/http", []string{"report is pure, it must not import net/http"}},
		{"internal/report", "os", []string{"report is pure, it must not import os"}},
		{"internal/audio", "os", nil},
		{"internal/telemetry", "net/http", nil},
	} {
		got := check([]pkg{{ImportPath: module + "/" + test.from, Imports: []string{test.imports}}})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s imports %s (-want +got):\n%s", test.from, test.imports, diff)
		}
	}
	imports, err := importsOf([]byte("package x\nimport (\n\tother \"a/b\"\n\t_ \"c\"\n)\nnot parsed"))
	if diff := cmp.Diff([]string{"a/b", "c"}, imports); diff != "" || err != nil {
		t.Errorf("importsOf: %v\n%s", err, diff)
	}
}

// check returns one line for every import that the tables don't allow.
func check(packages []pkg) []string {
	var problems []string
	for _, p := range packages {
		from := short(p.ImportPath)
		row, known := allowed[from]
		if !known && !slices.Contains(testOnly, from) {
			problems = append(problems, from+" has no row in the table of allowed imports")
			continue
		}
		for _, path := range p.Imports {
			problems = append(problems, problem(from, row, path)...)
		}
	}
	return problems
}

func problem(from string, row []string, path string) []string {
	if !strings.HasPrefix(path, module+"/") {
		return external(from, path)
	}
	to := short(path)
	switch {
	case slices.Contains(testOnly, from):
		return nil
	case slices.Contains(testOnly, to):
		return []string{fmt.Sprintf("%s must not import %s: it is for tests", from, to)}
	case slices.Contains(row, to), slices.Contains(row, everything):
		return nil
	}
	return []string{fmt.Sprintf("%s must not import %s", from, to)}
}

func external(from, path string) []string {
	if slices.Contains(pure, from) && slices.Contains(impure, path) && !(from == "audio" && path == "os") {
		return []string{fmt.Sprintf("%s is pure, it must not import %s", from, path)}
	}
	for prefix, users := range vendors {
		if strings.HasPrefix(path, prefix) && !slices.Contains(users, from) {
			return []string{fmt.Sprintf("%s must not import %s", from, path)}
		}
	}
	return nil
}

// short is how the tables write a package.
func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module+"/"), "internal/")
}

func listPackages(t *testing.T, root string) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// watch reads the folders that `go list` read, so that `go test` notices when a
// cached result of this test is out of date.
func watch(t *testing.T, root string, packages []pkg) {
	t.Helper()
	for _, p := range packages {
		for dir := p.Dir; len(dir) >= len(root); dir = filepath.Dir(dir) {
			if _, err := os.ReadDir(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func importsOf(source []byte) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// moduleRoot is the folder with go.mod above this package.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above this package")
		}
		dir = parent
	}
}
