package objectstore_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
)

// endless answers every Open with zeros that don't end.
type endless struct{ objectstore.Store }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func (endless) Open(context.Context, objectstore.Ref) (io.ReadCloser, error) {
	return io.NopCloser(zeros{}), nil
}

func TestBytesHasALimit(t *testing.T) {
	_, err := objectstore.Bytes(t.Context(), endless{}, objectstore.Ref{Key: "k"})
	if fault.KindOf(err) != fault.Permanent {
		t.Errorf("got %v", err)
	}
}

func TestPutJSONRefusesNaN(t *testing.T) {
	_, err := objectstore.PutJSON(t.Context(), mem.New(), "k", math.NaN(), objectstore.PutOptions{})
	if fault.KindOf(err) != fault.Permanent {
		t.Errorf("got %v", err)
	}
}

// Verify must see every byte however the body hands them out, and must not take
// a broken connection for a wrong hash.
func TestVerify(t *testing.T) {
	ref, err := objectstore.Measure("k", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("connection reset")
	for _, test := range []struct {
		name string
		body io.Reader
		want error
	}{
		{"whole", strings.NewReader("hello"), nil},
		{"byte by byte", iotest.OneByteReader(strings.NewReader("hello")), nil},
		{"end with the last bytes", iotest.DataErrReader(strings.NewReader("hello")), nil},
		{"changed", strings.NewReader("hellO"), objectstore.ErrCorrupt},
		{"cut", strings.NewReader("hell"), objectstore.ErrCorrupt},
		{"longer", iotest.DataErrReader(strings.NewReader("hello!")), objectstore.ErrCorrupt},
		{"empty", strings.NewReader(""), objectstore.ErrCorrupt},
		{"broken off", io.MultiReader(strings.NewReader("hel"), iotest.ErrReader(broken)), broken},
	} {
		_, err := io.ReadAll(objectstore.Verify(io.NopCloser(test.body), ref))
		if !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}
