package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// setting is one value of the settings, by its path in the JSON form.
type setting struct{ Path, Value string }

// listSettings returns every setting, so that none can be forgotten here.
func listSettings(s Settings) ([]setting, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("list the settings: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // a seed has more digits than a float
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("list the settings: %w", err)
	}
	return flatten(nil, "", tree), nil
}

func flatten(into []setting, path string, tree any) []setting {
	switch v := tree.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below := name
			if path != "" {
				below = path + "." + name
			}
			into = flatten(into, below, v[name])
		}
	case []any:
		for i, element := range v {
			into = flatten(into, fmt.Sprintf("%s[%d]", path, i), element)
		}
	case nil:
		// nothing was chosen
	default:
		into = append(into, setting{outside(path), outside(fmt.Sprint(v))})
	}
	return into
}
