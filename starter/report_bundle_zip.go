package main

import (
	"archive/zip"
	"context"
	"io"
	"time"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// zipBundle is a bundle in one archive, below one folder. The same report makes the
// same bytes: what an archive would say of its making is left out.
type zipBundle struct {
	*zip.Writer
	folder string
}

func newZipBundle(w io.Writer, folder string) zipBundle { return zipBundle{zip.NewWriter(w), folder} }

// archived is the oldest time that a zip can hold.
var archived = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func (z zipBundle) create(name string, method uint16) (io.Writer, error) {
	header := &zip.FileHeader{Name: z.folder + "/" + name, Method: method, Modified: archived}
	header.SetMode(0o644)
	return z.CreateHeader(header)
}

func (z zipBundle) write(name string, write func(io.Writer) error) error {
	file, err := z.create(name, zip.Deflate)
	if err != nil {
		return err
	}
	return write(file)
}

// fetch keeps audio as it is: packing hardly makes it smaller.
func (z zipBundle) fetch(ctx context.Context, store objectstore.Store, ref objectstore.Ref, name string) error {
	return copyObject(ctx, store, ref, func(body io.Reader) error {
		file, err := z.create(name, zip.Store)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, body)
		return err
	})
}
