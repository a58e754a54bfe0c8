package check

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// terraformFiles parses all of infra/terraform; it fails for a syntax error, and for a
// file that isn't formatted.
func terraformFiles(t *testing.T) []*hclsyntax.Body {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(repository, "infra/terraform/*.tf"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	var bodies []*hclsyntax.Body
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, problems := hclsyntax.ParseConfig(text, path, hcl.InitialPos)
		if problems.HasErrors() {
			t.Fatal(problems)
		}
		if !bytes.Equal(hclwrite.Format(text), text) {
			t.Errorf("%s is not formatted: tofu fmt", path)
		}
		bodies = append(bodies, file.Body.(*hclsyntax.Body))
	}
	return bodies
}

// Every reference is to something that the files define.
func TestTerraform(t *testing.T) {
	defined := map[string]bool{}
	bodies := terraformFiles(t)
	for _, body := range bodies {
		for _, block := range body.Blocks {
			switch block.Type {
			case "resource":
				defined[block.Labels[0]+"."+block.Labels[1]] = true
			case "data":
				defined["data."+block.Labels[0]+"."+block.Labels[1]] = true
			case "variable":
				defined["var."+block.Labels[0]] = true
			case "locals":
				for name := range block.Body.Attributes {
					defined["local."+name] = true
				}
			case "terraform", "output":
			default:
				t.Errorf("unknown block %q", block.Type)
			}
		}
	}
	for _, body := range bodies {
		for _, block := range body.Blocks {
			for _, name := range references(block.Body) {
				if !defined[name] {
					t.Errorf("%s %v refers to %s, which is nowhere", block.Type, block.Labels, name)
				}
			}
		}
	}
}

// references lists what a block refers to outside itself.
func references(body *hclsyntax.Body) []string {
	var names []string
	for _, attribute := range body.Attributes {
		for _, traversal := range attribute.Expr.Variables() {
			root := traversal.RootName()
			parts := 2
			switch root {
			case "each", "statement", "self", "string", "map":
				continue
			case "data":
				parts = 3
			}
			name := root
			for _, step := range traversal[1:min(parts, len(traversal))] {
				attr, ok := step.(hcl.TraverseAttr)
				if !ok {
					break
				}
				name += "." + attr.Name
			}
			if len(traversal) > 1 {
				names = append(names, name)
			}
		}
	}
	for _, block := range body.Blocks {
		names = append(names, references(block.Body)...)
	}
	return names
}
