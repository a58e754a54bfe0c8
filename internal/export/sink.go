package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
)

// Sink is where an export goes. Names have '/' between their parts.
type Sink interface {
	// Stat returns a finished file's hex SHA-256; false where there is none.
	Stat(ctx context.Context, name string) (sha256 string, there bool, err error)
	// Create begins a file. It gets its name, whole, by Commit, and never otherwise.
	Create(ctx context.Context, name string) (File, error)
}

// File is a file that is being written.
type File interface {
	io.Writer
	Commit(ctx context.Context) error
	Abort() // drops what was written; does nothing after Commit
}

// output writes an export's files into a sink and remembers their hashes.
type output struct {
	sink Sink
	sums map[string]string // hex SHA-256 by name
}

// tracked is a file whose hash is taken while it is written.
type tracked struct {
	File
	out  *output
	name string
	sum  hash.Hash
}

func (t *tracked) Write(p []byte) (int, error) {
	n, err := t.File.Write(p)
	t.sum.Write(p[:n])
	if err != nil {
		err = fmt.Errorf("write %s: %w", t.name, err)
	}
	return n, err
}

func (t *tracked) commit(ctx context.Context) error {
	if err := t.File.Commit(ctx); err != nil {
		return fmt.Errorf("write %s: %w", t.name, err)
	}
	t.out.sums[t.name] = hex.EncodeToString(t.sum.Sum(nil))
	return nil
}

// begin begins a file, unless it is there: then it returns nil. want is the hash that
// it must have, "" where that is not known: one that is there under its name is whole.
func (o *output) begin(ctx context.Context, name, want string) (*tracked, error) {
	have, there, err := o.sink.Stat(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", name, err)
	}
	if there && have == cmp.Or(want, have) {
		o.sums[name] = have
		return nil, nil
	}
	file, err := o.sink.Create(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &tracked{File: file, out: o, name: name, sum: sha256.New()}, nil
}

// put writes a file, unless it is there.
func (o *output) put(ctx context.Context, name, want string, write func(io.Writer) error) error {
	file, err := o.begin(ctx, name, want)
	if file == nil || err != nil {
		return err
	}
	defer file.Abort()
	if err := write(file); err != nil {
		return err
	}
	return file.commit(ctx)
}

// sumsFile is the last file of an export: where it is, the export is complete.
const sumsFile = "SHA256SUMS"

// finish writes the hashes of all files, for `sha256sum -c`.
func (o *output) finish(ctx context.Context) error {
	names := make([]string, 0, len(o.sums))
	for name := range o.sums {
		names = append(names, name)
	}
	slices.Sort(names)
	return o.put(ctx, sumsFile, "", func(w io.Writer) error {
		for _, name := range names {
			if _, err := fmt.Fprintf(w, "%s  %s\n", o.sums[name], name); err != nil {
				return err
			}
		}
		return nil
	})
}

// hashOf is the hex SHA-256 of data.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
