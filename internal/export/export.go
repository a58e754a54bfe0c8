// Package export lays out an evaluation's clips, with what is known and was found of
// them, as a data set that other tools read.
//
// The same evaluation and options give the same bytes, whenever and however often an
// export is begun: nothing in it depends on a clock, and a file has its name only when
// it is whole. So an export that was broken off goes on where it ended.
package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
)

// Format is the layout of an export.
type Format string

// The formats.
const (
	AudioFolder Format = "audiofolder" // Hugging Face: clips and metadata.jsonl
	WebDataset  Format = "webdataset"  // tar shards of KEY.wav and KEY.json
	NeMo        Format = "nemo"        // manifest.json: a line a turn
	RTTM        Format = "rttm"        // dialogues.rttm: who speaks when
	TextGrid    Format = "textgrid"    // Praat: a tier a speaker, beside each clip
)

// Formats returns all formats.
func Formats() []Format { return []Format{AudioFolder, WebDataset, NeMo, RTTM, TextGrid} }

// ParseFormat reads a format's name. The error names those there are.
func ParseFormat(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if name == string(f) {
			return f, nil
		}
		names = append(names, string(f))
	}
	return "", fmt.Errorf("format %q: use one of %s", name, strings.Join(names, ", "))
}

// ErrOther says that the sink holds an export of something else, or of the same with
// other options.
var ErrOther = errors.New("another export is there")

// Source reads what an evaluation's report refers to.
type Source interface {
	Dialogue(ctx context.Context, id string) (dialogue.Dialogue, error)
	// Timeline returns nil where there is none.
	Timeline(ctx context.Context, ref objectstore.Ref) (*audio.Timeline, error)
	Clip(ctx context.Context, ref objectstore.Ref) (io.ReadCloser, error)
}

// layout takes an export's items one after the other, and then ends its files.
type layout interface {
	add(ctx context.Context, d report.Dialogue) error
	end(ctx context.Context) error
	abort()
}

// Write writes a set into a sink, one clip at a time, and goes on where an earlier Write
// of the same set ended. It calls progress after every item. What is there and isn't of
// this set is ErrOther.
func Write(ctx context.Context, sink Sink, set Set, from Source, progress func(done int)) error {
	out := &output{sink: sink, sums: map[string]string{}}
	if err := out.settle(ctx, set); err != nil {
		return err
	}
	if _, complete, err := sink.Stat(ctx, sumsFile); complete || err != nil {
		return err
	}
	if err := out.put(ctx, "README.md", "", func(w io.Writer) error { return writeStatement(w, set) }); err != nil {
		return err
	}
	if err := out.put(ctx, leftOutFile, "", func(w io.Writer) error { return writeLines(w, set.LeftOut) }); err != nil {
		return err
	}
	read := reader{from: from}
	to, err := newLayout(ctx, out, set, read)
	if err != nil {
		return err
	}
	defer to.abort()
	for i, d := range set.Dialogues {
		if err := to.add(ctx, d); err != nil {
			return err
		}
		progress(i + 1)
	}
	if err := to.end(ctx); err != nil {
		return err
	}
	return out.finish(ctx)
}

func newLayout(ctx context.Context, out *output, set Set, read reader) (layout, error) {
	if set.Options.Format == WebDataset {
		return &shards{out: out, read: read, limit: set.Options.ShardBytes}, nil
	}
	return newFolder(ctx, out, set.Options.Format, read)
}

// settle writes what the export is of, or makes sure that the sink holds the same.
func (o *output) settle(ctx context.Context, set Set) error {
	var settings bytes.Buffer
	if err := set.writeSettings(&settings); err != nil {
		return err
	}
	want := hashOf(settings.Bytes())
	have, there, err := o.sink.Stat(ctx, SettingsFile)
	if err != nil {
		return fmt.Errorf("look for %s: %w", SettingsFile, err)
	}
	if there && have != want {
		return fmt.Errorf("%s differs: %w (of another evaluation or of other options, or what is stored of the evaluation has changed): use another place", SettingsFile, ErrOther)
	}
	return o.put(ctx, SettingsFile, want, func(w io.Writer) error {
		_, err := w.Write(settings.Bytes())
		return err
	})
}

// reader reads what belongs to one dialogue.
type reader struct{ from Source }

// item reads the dialogue's text and timeline. file is its clip's name.
func (r reader) item(ctx context.Context, d report.Dialogue, file string) (Item, error) {
	text, err := r.from.Dialogue(ctx, d.ID)
	if err != nil {
		return Item{}, fmt.Errorf("export dialogue %q: %w", d.ID, err)
	}
	var timeline *audio.Timeline
	if !d.Timeline.IsZero() {
		if timeline, err = r.from.Timeline(ctx, d.Timeline); err != nil {
			return Item{}, fmt.Errorf("export dialogue %q: read its timeline: %w", d.ID, err)
		}
	}
	return newItem(d, text, timeline, file), nil
}

// copyClip copies the dialogue's clip as it is.
func (r reader) copyClip(ctx context.Context, w io.Writer, d report.Dialogue) error {
	body, err := r.from.Clip(ctx, d.Clip)
	if err != nil {
		return fmt.Errorf("export the clip of dialogue %q: %w", d.ID, err)
	}
	defer body.Close()
	n, err := io.Copy(w, body)
	if err != nil {
		return fmt.Errorf("export the clip of dialogue %q: %w", d.ID, err)
	}
	if n != d.Clip.Size {
		return fmt.Errorf("export the clip of dialogue %q: it has %d bytes, not %d", d.ID, n, d.Clip.Size)
	}
	return nil
}
