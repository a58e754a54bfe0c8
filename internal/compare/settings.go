package compare

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/report"
)

// Setting is something that is not the same in all evaluations.
type Setting struct {
	Name   string   `json:"name"`   // where it stands in the report's settings, or "server." and a fact's name
	Values []string `json:"values"` // in the order of the evaluations; "" where it is not set
}

// aside are settings that can't change a verdict, or only point to what can.
var aside = []string{
	"spec.id", "spec.note", "spec.dataset.lines", "spec.dataset.clips", "spec.dataset.from", "spec.quality", "spec.limits", "spec.prices", "spec.budget", "spec.search_attributes", "spec.private",
	"spec.detection.accelerator", "spec.detection.pool",
	"engines.exemplars", "engines.rendering", "engines.facts", "engines.seen", "engines.shares_prefix", "engines.needs_words",
}

// spoken made the clips: where they are the same, it doesn't matter.
var spoken = []string{"spec.speech", "spec.compose", "engines.speech"}

// differing reads the settings as they are stored, so that none is forgotten.
func differing(reports []report.Report, sameClips bool) []Setting {
	without := aside
	if sameClips {
		without = append(slices.Clip(aside), spoken...)
	}
	all := make([]map[string]string, len(reports))
	names := map[string]bool{}
	for i, r := range reports {
		all[i] = flatten(r.Settings)
		for _, fact := range r.Server {
			all[i]["server."+fact.Name] = fact.Value
		}
		for name := range all[i] {
			names[name] = true
		}
	}
	out := []Setting{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s := Setting{Name: name}
		for _, values := range all {
			s.Values = append(s.Values, values[name])
		}
		if !within(name, without) && slices.ContainsFunc(s.Values, func(v string) bool { return v != s.Values[0] }) {
			out = append(out, s)
		}
	}
	return out
}

func within(name string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return name == path || strings.HasPrefix(name, path+".") })
}

// flatten returns the leaves of a value's JSON by their path; a list is a leaf.
func flatten(value any) map[string]string {
	out := map[string]string{}
	data, err := json.Marshal(value)
	if err != nil {
		return out // only plain data comes here
	}
	var walk func(path string, data json.RawMessage)
	walk = func(path string, data json.RawMessage) {
		var object map[string]json.RawMessage
		if data[0] == '{' && json.Unmarshal(data, &object) == nil {
			for name, part := range object {
				walk(strings.TrimPrefix(path+"."+name, "."), part)
			}
			return
		}
		var text string
		if json.Unmarshal(data, &text) == nil {
			out[path] = text
			return
		}
		var compact bytes.Buffer
		if json.Compact(&compact, data) == nil {
			out[path] = compact.String()
		}
	}
	walk("", data)
	return out
}
