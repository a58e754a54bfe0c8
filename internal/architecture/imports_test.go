// Package architecture tests that every package of the module imports only what
// the design allows it.
package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/speechmanip/speechmanip"
)

// guarded are the standard packages that reach beyond the process, or differ from
// run to run. net/url and path/filepath do neither.
var guarded = []string{"C", "crypto/rand", "log", "math/rand", "net", "net/http", "os", "os/exec", "os/signal", "os/user", "plugin", "runtime", "syscall", "testing", "unsafe"}

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string // without tests
	Imports    []string // of GoFiles
}

func TestImports(t *testing.T) {
	pkgs := list(t, root)
	if len(pkgs) < len(rules)/2 {
		t.Fatalf("go list names %d packages, the rules %d: it looked in the wrong place", len(pkgs), len(rules))
	}
	for _, pkg := range pkgs {
		for _, problem := range check(rules, pkg) {
			t.Error(problem)
		}
	}
}

func TestDevStackKnowsNothingOfTheProduct(t *testing.T) {
	pkgs := list(t, filepath.Join(root, "infra", "devstack"))
	if len(pkgs) == 0 || len(pkgs[0].Imports) == 0 {
		t.Fatal("go list names no package in infra/devstack, or not its imports")
	}
	for _, pkg := range pkgs {
		for _, path := range pkg.Imports {
			if name, ok := product(path); ok {
				t.Errorf("%s imports %s: the dev stack is reached over the network only", pkg.ImportPath, name)
			}
		}
	}
}

func TestNoClockInTheDomain(t *testing.T) {
	for _, pkg := range list(t, root) {
		name, _ := product(pkg.ImportPath)
		if !slices.Contains(timeless, name) {
			continue
		}
		for _, file := range pkg.GoFiles {
			for _, problem := range clocks(t, filepath.Join(pkg.Dir, file), nil) {
				t.Error(problem)
			}
		}
	}
}

// TestCheckFindsViolations keeps the checker honest: each case breaks one rule.
func TestCheckFindsViolations(t *testing.T) {
	made := map[string]rule{
		"vote":  {product: "tactic"},
		"store": {product: "fault", outside: "github.com/aws"},
	}
	for _, c := range []struct {
		name, pkg, imports string
		want               string // part of the problem; "" is none
	}{
		{"allowed", "internal/vote", module + "/internal/tactic errors time net/url", ""},
		{"allowed beneath", "internal/store", "github.com/aws/aws-sdk-go-v2/config", ""},
		{"product package", "internal/vote", module + "/internal/audio", "internal/vote imports audio"},
		{"top-level package", "internal/vote", module + "/workflows", "internal/vote imports workflows"},
		{"an allowed package's child", "internal/vote", module + "/internal/tactic/odd", "internal/vote imports tactic/odd"},
		{"third party", "internal/vote", "go.temporal.io/sdk/workflow", "internal/vote imports go.temporal.io/sdk/workflow"},
		{"a like-named third party", "internal/store", "github.com/awstats/x", "internal/store imports github.com/awstats/x"},
		{"guarded standard package", "internal/vote", "os", "internal/vote imports os"},
		{"package without a rule", "internal/helpers", "", "internal/helpers has no row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := check(made, listed{ImportPath: module + "/" + c.pkg, Imports: strings.Fields(c.imports)})
			switch {
			case c.want == "" && len(problems) > 0:
				t.Errorf("unexpected problems %q", problems)
			case c.want != "" && (len(problems) != 1 || !strings.Contains(problems[0], c.want)):
				t.Errorf("problems %q, want one with %q", problems, c.want)
			}
		})
	}
}

func TestClocksFindsACall(t *testing.T) {
	source := "package p\nimport clock \"time\"\nvar a, b = clock.Second, clock.Now()\n"
	if got := clocks(t, "p.go", source); len(got) != 1 || !strings.Contains(got[0], "p.go:3") {
		t.Errorf("clocks found %q, want one on line 3", got)
	}
}

// TestRulesNameOnlyRows finds the typing error that would allow nothing.
func TestRulesNameOnlyRows(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		for _, allowed := range strings.Fields(rules[name].product) {
			if _, ok := rules[allowed]; !ok {
				t.Errorf("the row of %s allows %s, which has no row", name, allowed)
			}
		}
	}
	for _, name := range timeless {
		if _, ok := rules[name]; !ok {
			t.Errorf("timeless names %s, which has no row", name)
		}
	}
}

// check returns what pkg imports against its rule, one sentence each.
func check(rules map[string]rule, pkg listed) []string {
	name, _ := product(pkg.ImportPath)
	path := strings.TrimPrefix(pkg.ImportPath, module+"/")
	row, ok := rules[name]
	if !ok {
		return []string{path + " has no row in internal/architecture/rules_test.go: add one that says what it may import"}
	}
	products, outsides := strings.Fields(row.product), strings.Fields(row.outside)
	var problems []string
	for _, imported := range pkg.Imports {
		shown, allowed := imported, true
		if other, ok := product(imported); ok {
			shown, allowed = other, slices.Contains(products, other)
		} else if needsRow(imported) {
			allowed = slices.ContainsFunc(outsides, func(p string) bool { return imported == p || strings.HasPrefix(imported, p+"/") })
		}
		if !allowed {
			problems = append(problems, fmt.Sprintf("%s imports %s, which the design does not allow it (internal/architecture/rules_test.go)", path, shown))
		}
	}
	return problems
}

// product returns the name that the rules use for a package of this module.
func product(importPath string) (string, bool) {
	name, ok := strings.CutPrefix(importPath, module+"/")
	return strings.TrimPrefix(name, "internal/"), ok
}

func needsRow(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return strings.Contains(first, ".") || slices.Contains(guarded, importPath)
}

// clocks returns where the file reads the clock or waits for it; source is as in
// parser.ParseFile.
func clocks(t *testing.T, file string, source any) []string {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	clock := ""
	for _, spec := range parsed.Imports {
		if spec.Path.Value == `"time"` {
			clock = "time"
			if spec.Name != nil {
				clock = spec.Name.Name
			}
		}
	}
	readers := []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok && slices.Contains(readers, call.Sel.Name) {
			if left, ok := call.X.(*ast.Ident); ok && clock != "" && left.Name == clock {
				found = append(found, fmt.Sprintf("%s: time.%s in a package that reads no clock: let the caller pass the time", set.Position(call.Pos()), call.Sel.Name))
			}
		}
		return true
	})
	return found
}

// list returns the packages of the module in dir.
func list(t *testing.T, dir string) []listed {
	t.Helper()
	// go test's cache sees the files that a test reads, not those that go list
	// reads for it: without this a cached "ok" would outlive a new import.
	if err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != dir && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v\n%s", dir, err, stderr.String())
	}
	var pkgs []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("go list in %s: %v", dir, err)
		}
		pkgs = append(pkgs, pkg)
	}
}
