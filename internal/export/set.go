package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/report"
)

// Schema names the shape of export.json and of the metadata.
const Schema = "speechmanip.export/1"

// Files that every export has, beside sumsFile and README.md.
const (
	SettingsFile = "export.json"
	leftOutFile  = "left_out.jsonl"
)

// The limits of a shard's audio, in bytes.
const (
	DefaultShardBytes = 256 << 20
	MinShardBytes     = 1 << 20
	MaxShardBytes     = 4 << 30 // an object store takes 5 GiB at once
)

// Options say what is exported, and how.
type Options struct {
	Format     Format         `json:"format"`
	Truth      dialogue.Truth `json:"truth,omitempty"`       // only dialogues of this truth
	Rights     string         `json:"rights,omitempty"`      // as stated by who exports
	ShardBytes int64          `json:"shard_bytes,omitempty"` // of WebDataset: the most audio in a shard
}

// Set is what an export is of. Use NewSet.
type Set struct {
	Options   Options
	Report    report.Report
	Terms     Terms
	Dialogues []report.Dialogue // with a clip, by id
	LeftOut   []LeftOut
}

// LeftOut is a dialogue of the evaluation that an export lacks.
type LeftOut struct {
	ID            string `json:"id"`
	CastingNumber int    `json:"casting_number,omitempty"` // the one that is meant; 0 is the dialogue
	Reason        string `json:"reason"`
}

// NewSet selects what of an evaluation is exported: dialogues with a clip, those that
// failed later among them, but no exemplar. gone are those whose clip the
// store doesn't have any more. It fails where there is nothing to export, where the
// rights must be stated and aren't, and where the format needs what is not known.
func NewSet(r report.Report, o Options, gone map[evaluation.Rendition]bool) (Set, error) {
	if o.Format != WebDataset {
		o.ShardBytes = 0
	} else if o.ShardBytes < MinShardBytes || o.ShardBytes > MaxShardBytes {
		return Set{}, fmt.Errorf("shards of %d bytes: use %d to %d", o.ShardBytes, MinShardBytes, int64(MaxShardBytes))
	}
	s := Set{Options: o, Report: r}
	timed := false
	for _, d := range r.Dialogues {
		switch {
		case d.Clip.IsZero() && d.Failure != nil:
			s.LeftOut = append(s.LeftOut, LeftOut{d.ID, d.CastingNumber, "failed: " + failureOf(*d.Failure)})
		case d.Clip.IsZero():
			s.LeftOut = append(s.LeftOut, LeftOut{d.ID, d.CastingNumber, "has no clip"})
		case o.Truth != dialogue.Unknown && d.Truth != o.Truth:
			s.LeftOut = append(s.LeftOut, LeftOut{d.ID, d.CastingNumber, "truth is not " + string(o.Truth)})
		case gone[d.Rendition()]:
			s.LeftOut = append(s.LeftOut, LeftOut{d.ID, d.CastingNumber, "its clip is not in the store any more"})
		default:
			if _, err := clipExtension(d); err != nil {
				return s, err
			}
			s.Dialogues = append(s.Dialogues, d)
			timed = timed || !d.Timeline.IsZero()
		}
	}
	for _, e := range r.Exemplars {
		s.LeftOut = append(s.LeftOut, LeftOut{e.ID, e.CastingNumber, e.Reason})
	}
	if len(s.Dialogues) == 0 {
		return s, errors.New("nothing to export: no selected dialogue has a clip")
	}
	if !timed && (o.Format == RTTM || o.Format == TextGrid) {
		return s, fmt.Errorf("format %s needs to know when each turn is heard, and no clip has a timeline: clips that were given have none", o.Format)
	}
	s.Terms = termsOf(s)
	if o.Rights == "" && len(s.Terms.Unknown) > 0 {
		return s, &RightsError{Unknown: s.Terms.Unknown}
	}
	return s, nil
}

// settings is export.json.
type settings struct {
	Schema     string          `json:"schema"`
	Evaluation string          `json:"evaluation"`
	Options    Options         `json:"options"`
	Dialogues  int             `json:"dialogues"`
	LeftOut    int             `json:"left_out"`
	Pending    int             `json:"pending"` // without a record when the export began
	Records    string          `json:"records"` // SHA-256 of what was found of the dialogues
	Settings   report.Settings `json:"settings"`
}

// writeSettings writes what the export is of: another set has other bytes.
func (s Set) writeSettings(w io.Writer) error {
	sum := sha256.New()
	for _, d := range s.Dialogues {
		if err := writeLine(sum, d); err != nil {
			return err
		}
	}
	for _, l := range s.LeftOut {
		if err := writeLine(sum, l); err != nil {
			return err
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(settings{
		Schema: Schema, Evaluation: s.Report.Evaluation, Options: s.Options,
		Dialogues: len(s.Dialogues), LeftOut: len(s.LeftOut), Pending: s.Report.Pending,
		Records: hex.EncodeToString(sum.Sum(nil)), Settings: s.Report.Settings,
	})
}

func writeLines[T any](w io.Writer, values []T) error {
	for _, v := range values {
		if err := writeLine(w, v); err != nil {
			return err
		}
	}
	return nil
}
