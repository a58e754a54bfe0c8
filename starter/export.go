package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/export"
	"github.com/speechmanip/speechmanip/internal/report"
)

// exportRequest is what the flags of export ask for.
type exportRequest struct {
	id, format, out, rights, truth string
	shardMB                        int64
}

func (a *app) exportCommand() *cobra.Command {
	var r exportRequest
	cmd := &cobra.Command{
		Use:   "export ID --format FORMAT --out DIR|s3://BUCKET/PREFIX",
		Short: "Write an evaluation's clips, with truth, verdicts and timelines, as a data set for other tools",
		Long: `Write an evaluation's clips, with truth, verdicts and timelines, as a data set for
other tools, with a data statement (README.md) and checksums (SHA256SUMS).

The same command goes on with an export that was broken off. The rights must be stated
where the product doesn't know them: dialogues read from a file, voices other than
flite's own, clips that were given.`,
		Args: exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.id = args[0]
			return a.export(cmd.Context(), r)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&r.format, "format", "", "audiofolder (Hugging Face), webdataset (tar shards), nemo, rttm or textgrid (Praat)")
	f.StringVar(&r.out, "out", "", "an empty or new folder, or s3://BUCKET/PREFIX on the configured server")
	f.StringVar(&r.rights, "rights", "", "under which terms the data may be used, for the data statement")
	f.StringVar(&r.truth, "truth", "", "only dialogues of this truth: yes or no")
	f.Int64Var(&r.shardMB, "shard-mb", export.DefaultShardBytes>>20, "webdataset: the most audio in a shard, in MiB")
	return cmd
}

func (r exportRequest) options() (export.Options, error) {
	format, formatErr := export.ParseFormat(r.format)
	if formatErr != nil {
		formatErr = fmt.Errorf("--%w", formatErr)
	}
	truth := dialogue.Unknown
	var truthErr, outErr, shardErr error
	if r.truth != "" {
		if truth, truthErr = dialogue.ParseTruth(r.truth); truthErr != nil {
			truthErr = fmt.Errorf("--truth: %w", truthErr)
		}
	}
	if r.out == "" {
		outErr = errors.New("--out is missing: a folder, or s3://BUCKET/PREFIX")
	}
	if most := int64(export.MaxShardBytes >> 20); r.shardMB < 1 || r.shardMB > most {
		shardErr = fmt.Errorf("--shard-mb %d: use 1 to %d", r.shardMB, most)
	}
	return export.Options{
		Format: format, Truth: truth, Rights: strings.TrimSpace(r.rights), ShardBytes: r.shardMB << 20,
	}, errors.Join(evaluation.CheckID(r.id), formatErr, outErr, truthErr, shardErr)
}

func (a *app) export(ctx context.Context, r exportRequest) error {
	options, err := r.options()
	if err != nil {
		return usageError{err}
	}
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	from, built, err := readExport(ctx, store, r.id)
	if err != nil {
		return err
	}
	gone, err := from.gone(ctx, built)
	if err != nil {
		return err
	}
	set, err := export.NewSet(built, options, gone)
	var rights *export.RightsError
	if errors.As(err, &rights) {
		return usagef("--rights is missing: %s", strings.Join(rights.Unknown, "; "))
	}
	if err != nil {
		return fmt.Errorf("evaluation %q: %w", r.id, err)
	}
	sink, err := exportSink(ctx, cfg, r.out)
	if err != nil {
		return err
	}
	return a.writeExport(ctx, sink, set, from, r.out)
}

// exportSink opens the place that --out names.
func exportSink(ctx context.Context, cfg config.Config, out string) (export.Sink, error) {
	if place, ok := strings.CutPrefix(out, "s3://"); ok {
		return openBucketSink(ctx, cfg, place)
	}
	return openFolderSink(out)
}

func (a *app) writeExport(ctx context.Context, sink export.Sink, set export.Set, from export.Source, out string) error {
	d := display{out: a.err, terminal: isTerminal(a.err)}
	err := export.Write(ctx, sink, set, from, func(done int) {
		if d.terminal {
			d.rewrite(fmt.Sprintf("exported %d of %d dialogues", done, len(set.Dialogues)))
		}
	})
	d.end()
	if errors.Is(err, context.Canceled) {
		return errors.New("the export was broken off: the same command goes on with it")
	}
	if err != nil {
		return fmt.Errorf("export to %s: %w", out, err)
	}
	fmt.Fprintf(a.out, "exported %d dialogues to %s (%s)\n", len(set.Dialogues), out, set.Options.Format)
	if n := len(set.LeftOut); n > 0 {
		fmt.Fprintf(a.err, "left out: %d, which left_out.jsonl names with the reasons\n", n)
	}
	if n := set.Report.Pending; n > 0 {
		fmt.Fprintf(a.err, "without a result yet, and so not in it: %d\n", n)
	}
	return nil
}

// readExport reads an evaluation's report, and prepares to read what it refers to.
func readExport(ctx context.Context, store archive.Archive, id string) (*exportSource, report.Report, error) {
	built, err := store.Report(ctx, id)
	if err != nil {
		return nil, built, unknown(id, err)
	}
	m, _, err := store.Manifest(ctx, id)
	if err != nil {
		return nil, built, err
	}
	items, err := store.Items(ctx, m)
	if err != nil {
		return nil, built, err
	}
	from := &exportSource{store: store, lines: m.Spec.Dataset.Lines, items: map[string]evaluation.Item{}}
	for _, item := range items {
		from.items[item.ID] = item
	}
	return from, built, nil
}
