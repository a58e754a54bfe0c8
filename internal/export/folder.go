package export

import (
	"context"
	"io"

	"github.com/speechmanip/speechmanip/internal/report"
)

// folder lays clips out as files, with one file of metadata and what the format adds.
type folder struct {
	out    *output
	read   reader
	lines  []linesFile
	beside *besideFile
}

// linesFile is one file for all items, which gets lines for each. Its file is nil where
// it is there already.
type linesFile struct {
	name  string
	write func(io.Writer, Item) error
	file  *tracked
}

// besideFile is one file for each item whose turns have a place, beside its clip.
type besideFile struct {
	extension string
	write     func(io.Writer, Item) error
}

// clipsFolder is where the clips are.
const clipsFolder = "clips/"

func newFolder(ctx context.Context, out *output, format Format, read reader) (*folder, error) {
	f := &folder{out: out, read: read, lines: []linesFile{{
		name: "metadata.jsonl", write: func(w io.Writer, it Item) error { return writeLine(w, it) },
	}}}
	switch format {
	case NeMo:
		f.lines = append(f.lines, linesFile{name: "manifest.json", write: writeNeMo})
	case RTTM:
		f.lines = append(f.lines, linesFile{name: "dialogues.rttm", write: writeRTTM})
	case TextGrid:
		f.beside = &besideFile{extension: "TextGrid", write: writeTextGrid}
	}
	for i := range f.lines {
		var err error
		if f.lines[i].file, err = out.begin(ctx, f.lines[i].name, ""); err != nil {
			f.abort()
			return nil, err
		}
	}
	return f, nil
}

func (f *folder) add(ctx context.Context, d report.Dialogue) error {
	extension, err := clipExtension(d)
	if err != nil {
		return err
	}
	base := clipsFolder + clipName(d)
	clip := base + "." + extension
	err = f.out.put(ctx, clip, d.Clip.SHA256, func(w io.Writer) error { return f.read.copyClip(ctx, w, d) })
	if err != nil {
		return err
	}
	it, err := f.read.item(ctx, d, clip)
	if err != nil {
		return err
	}
	if f.beside != nil && it.timed() {
		err := f.out.put(ctx, base+"."+f.beside.extension, "", func(w io.Writer) error { return f.beside.write(w, it) })
		if err != nil {
			return err
		}
	}
	for _, l := range f.lines {
		if l.file == nil {
			continue
		}
		if err := l.write(l.file, it); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) end(ctx context.Context) error {
	for _, l := range f.lines {
		if l.file == nil {
			continue
		}
		if err := l.file.commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) abort() {
	for _, l := range f.lines {
		if l.file != nil {
			l.file.Abort()
		}
	}
}
