package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/annotation"
)

// convertRequest is what annotation convert is asked for.
type convertRequest struct {
	in             []string
	out            string
	from, modality string
	how            annotation.Writing
	to             string
}

func (a *app) annotationConvertCommand() *cobra.Command {
	var r convertRequest
	cmd := &cobra.Command{
		Use:   "convert IN... OUT --from FORM --to FORM",
		Short: "Rewrite annotations or items to judge for another tool, or from one",
		Long: `Rewrite annotations, or items to judge, for another tool or from one. All files are read
as one study; - is standard input or output.

  long         CSV, a row a vote
  wide         CSV as the paper has it, a row an item, of one modality
  labelstudio  JSON list of Label Studio's tasks, with annotations or without
  potato       JSON lines of potato's instances, judged or not
  metadata     metadata.jsonl of "starter export": items to judge (only --from)

What annotators must not see (the truth; in audio the text) is not in the last three,
unless --truth says that nobody judges any more.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("%s takes the files to read and the one to write (see `%[1]s --help`)", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			r.in, r.out = args[:len(args)-1], args[len(args)-1]
			return a.convertAnnotations(r)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.from, "from", "", "form of the files to read")
	f.StringVar(&r.to, "to", "", "form of the file to write")
	f.StringVar(&r.modality, "modality", "", "only text or audio; also that of a file which doesn't say its own")
	f.BoolVar(&r.how.Truth, "truth", false, "write the truth into labelstudio and potato files too")
	f.StringVar(&r.how.AudioBase, "audio-base", "", "labelstudio and potato: what stands before a clip's name, e.g. https://host/clips/")
	return cmd
}

func (a *app) convertAnnotations(r convertRequest) error {
	from, err := annotation.ParseForm(r.from)
	if err != nil {
		return usagef("--from: %w", err)
	}
	if r.how.Form, err = annotation.ParseForm(r.to); err != nil {
		return usagef("--to: %w", err)
	}
	if r.how.Form == annotation.Metadata {
		return usagef("--to metadata: that form is only read")
	}
	if r.modality != "" {
		if r.how.Modality, err = annotation.ParseModality(r.modality); err != nil {
			return usagef("--modality: %w", err)
		}
	}
	set, err := a.readForm(from, r.in, r.how.Modality)
	if err != nil {
		return err
	}
	votes := 0
	write := func(w io.Writer) error { return annotation.Write(w, set, r.how) }
	if r.out == "-" {
		err = write(a.out)
	} else {
		err = writeFile(r.out, write)
	}
	if err != nil {
		return err
	}
	for _, m := range set.Modalities() {
		if r.how.Modality != "" && m != r.how.Modality {
			continue
		}
		for _, of := range set.Votes(m) {
			votes += len(of)
		}
		fmt.Fprintf(a.err, "%s: %d items, %d votes of %d annotators\n", m, len(set.Items[m]), votes, len(set.Annotators(m)))
		votes = 0
	}
	if r.how.Form == annotation.Long {
		fmt.Fprintln(a.err, "note: the long form has a row a vote; items without one are not in it")
	}
	return nil
}
