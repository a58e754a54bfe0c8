package evaluation

import (
	"testing"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Every variation of a question has a key of its own, whatever it is called.
func TestVariantKeys(t *testing.T) {
	own := Variation{Name: "own", Order: OrderStraight, Exemplars: objectstore.Ref{Key: "a", SHA256: "a"}}
	swapped, turned, words := own, own, own
	swapped.Order, turned.Exemplars.SHA256, words.Words = OrderSwapped, "b", true
	other := question
	other.Input = "another clip"
	keys := map[string]string{
		"own": VariantKey(question, own), "order": VariantKey(question, swapped), "exemplars": VariantKey(question, turned),
		"words": VariantKey(question, words), "item": VariantKey(other, own),
	}
	allDiffer(t, keys)
	if want := "passes/905fcd73f323421d04c333e7a6e2a0ea6e92c1a6f438de9b3bd716b0c38314d9.json"; keys["own"] != want {
		t.Errorf("key %s, want %s", keys["own"], want)
	}
	renamed := own
	renamed.Name, renamed.Exemplars.Key = "another name", "another place"
	if VariantKey(question, renamed) != keys["own"] {
		t.Error("a name makes another key")
	}
}
