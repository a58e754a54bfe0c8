// Command vulncheck reads what govulncheck found (-format json, any number of streams
// one after the other) and ends with 1 where a vulnerable symbol is in a program and no
// line of the list of accepted findings says why that is bearable.
//
//	govulncheck -mode binary -format json bin/worker | vulncheck accepted.txt
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: vulncheck ACCEPTED < FOUND")
	}
	list, err := os.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read the accepted findings: %w", err)
	}
	accepted, err := readAccepted(string(list))
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	found, err := readFound(in)
	if err != nil {
		return err
	}
	return judge(accepted, found, out)
}

// finding is a vulnerability in a module, "stdlib" for Go itself.
type finding struct{ id, module string }

// readAccepted reads lines "ID MODULE REASON"; # begins a comment's line.
func readAccepted(text string) (map[finding]string, error) {
	accepted := map[finding]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 3 {
			return nil, fmt.Errorf("line %d: want ID MODULE REASON", n)
		}
		accepted[finding{words[0], words[1]}] = strings.Join(words[2:], " ")
	}
	return accepted, lines.Err()
}

// details is what is known of a finding.
type details struct{ has, fixed, summary string }

// readFound returns the findings whose vulnerable symbols are there. Those that are
// only in a module or package of which the symbols were left out are none.
func readFound(in io.Reader) (map[finding]details, error) {
	found, summaries, scans := map[finding]details{}, map[string]string{}, 0
	messages := json.NewDecoder(in)
	for {
		var message struct {
			Config *struct{}
			OSV    *struct{ ID, Summary string }
			// A finding's trace begins with the vulnerable symbol.
			Finding *struct {
				OSV   string
				Fixed string `json:"fixed_version"`
				Trace []struct{ Module, Version, Function string }
			}
		}
		err := messages.Decode(&message)
		switch {
		case err == io.EOF && scans == 0:
			return nil, errors.New("govulncheck has found nothing out: its output is empty")
		case err == io.EOF:
			for f, d := range found {
				d.summary = summaries[f.id]
				found[f] = d
			}
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("read what govulncheck found: %w", err)
		}
		if message.Config != nil {
			scans++
		}
		if message.OSV != nil {
			summaries[message.OSV.ID] = message.OSV.Summary
		}
		if f := message.Finding; f != nil && len(f.Trace) > 0 && f.Trace[0].Function != "" {
			at := f.Trace[0]
			found[finding{f.OSV, at.Module}] = details{has: at.Version, fixed: f.Fixed}
		}
	}
}

// acceptedBy returns the line of the list that accepts a finding: that of its module or
// of one above it.
func acceptedBy(accepted map[finding]string, f finding) (finding, bool) {
	for module := f.module; module != "."; module = path.Dir(module) {
		if by := (finding{f.id, module}); accepted[by] != "" {
			return by, true
		}
	}
	return finding{}, false
}

// judge prints every finding, and fails for those that nobody has accepted.
func judge(accepted map[finding]string, found map[finding]details, out io.Writer) error {
	byName := func(a, b finding) int { return strings.Compare(a.id+a.module, b.id+b.module) }
	unknown, used := 0, map[finding]bool{}
	for _, f := range slices.SortedFunc(maps.Keys(found), byName) {
		if by, ok := acceptedBy(accepted, f); ok {
			used[by] = true
			fmt.Fprintf(out, "accepted %s %s: %s\n", f.id, f.module, accepted[by])
			continue
		}
		unknown++
		d := found[f]
		fix := "no fix is known"
		if d.fixed != "" {
			fix = "fixed in " + d.fixed
		}
		fmt.Fprintf(out, "FOUND    %s %s %s, %s: %s (https://pkg.go.dev/vuln/%s)\n", f.id, f.module, d.has, fix, d.summary, f.id)
	}
	for _, f := range slices.SortedFunc(maps.Keys(accepted), byName) {
		if !used[f] {
			fmt.Fprintf(out, "gone     %s %s: its line may go\n", f.id, f.module)
		}
	}
	if unknown > 0 {
		return fmt.Errorf("%d findings that nobody has looked at: raise the modules' versions, or accept them with the reason", unknown)
	}
	return nil
}
