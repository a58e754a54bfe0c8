package objectstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
)

func TestTry(t *testing.T) {
	store := mem.New()
	if err := objectstore.Try(t.Context(), store, "diagnosis/a"); err != nil {
		t.Fatal(err)
	}
	for entry, err := range store.List(t.Context(), "") {
		t.Errorf("it leaves %q behind (%v)", entry.Key, err)
	}
	if err := objectstore.Try(t.Context(), keeping{store}, "diagnosis/b"); err == nil || !strings.Contains(err.Error(), "may not delete") {
		t.Errorf("a store that doesn't delete gives %v", err)
	}
}

// keeping is a store that lets nothing be deleted.
type keeping struct{ objectstore.Store }

func (keeping) Delete(context.Context, string) error { return errors.New("may not delete") }
