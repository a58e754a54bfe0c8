package export

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/speechmanip/speechmanip/internal/report"
)

// shards lays items out in tar archives: KEY.wav and then KEY.json of each. Which items
// a shard has follows from the clips' sizes alone, so that a finished one needn't be
// read again.
type shards struct {
	out   *output
	read  reader
	limit int64 // bytes of audio in a shard, unless one clip has more

	number int
	open   bool
	bytes  int64    // of audio in the open shard
	file   *tracked // nil where the open shard is there already
	tar    *tar.Writer
}

func (s *shards) add(ctx context.Context, d report.Dialogue) error {
	if s.open && s.bytes+d.Clip.Size > s.limit {
		if err := s.end(ctx); err != nil {
			return err
		}
	}
	if !s.open {
		var err error
		if s.file, err = s.out.begin(ctx, fmt.Sprintf("shard-%06d.tar", s.number), ""); err != nil {
			return err
		}
		if s.file != nil {
			s.tar = tar.NewWriter(s.file)
		}
		s.open, s.bytes = true, 0
	}
	s.bytes += d.Clip.Size
	if s.file == nil {
		return nil
	}
	return s.write(ctx, d)
}

func (s *shards) write(ctx context.Context, d report.Dialogue) error {
	extension, err := clipExtension(d)
	if err != nil {
		return err
	}
	key := clipName(d)
	it, err := s.read.item(ctx, d, key+"."+extension)
	if err != nil {
		return err
	}
	if err := s.header(it.FileName, d.Clip.Size); err != nil {
		return err
	}
	if err := s.read.copyClip(ctx, s.tar, d); err != nil {
		return err
	}
	var metadata bytes.Buffer
	if err := writeLine(&metadata, it); err != nil {
		return err
	}
	if err := s.header(key+".json", int64(metadata.Len())); err != nil {
		return err
	}
	_, err = s.tar.Write(metadata.Bytes())
	return err
}

// header begins a file of the archive. It has no owner and the earliest time there is,
// so that the same content gives the same archive.
func (s *shards) header(name string, size int64) error {
	return s.tar.WriteHeader(&tar.Header{
		Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0).UTC(), Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
	})
}

// end ends the open shard.
func (s *shards) end(ctx context.Context) error {
	if !s.open {
		return nil
	}
	s.open = false
	s.number++
	if s.file == nil {
		return nil
	}
	if err := s.tar.Close(); err != nil {
		return fmt.Errorf("write %s: %w", s.file.name, err)
	}
	err := s.file.commit(ctx)
	if err == nil {
		s.file = nil
	}
	return err
}

func (s *shards) abort() {
	if s.file != nil {
		s.file.Abort()
	}
}
