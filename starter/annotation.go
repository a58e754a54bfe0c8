package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/agreement"
	"github.com/speechmanip/speechmanip/internal/annotation"
)

func (a *app) annotationCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "annotation",
		Short: "What people say about the same items",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(
		a.annotationCreateCommand(), a.annotationStartCommand(), a.annotationStatusCommand(), a.annotationLinksCommand(), a.annotationConsentCommand(),
		a.annotationPauseCommand("pause", "Let a study stand still: judgments are refused, deadlines move", true),
		a.annotationPauseCommand("resume", "Let a paused study go on", false),
		a.annotationAddCommand(), a.annotationRemoveCommand(), a.annotationEraseCommand(), a.annotationCloseCommand(),
		a.annotationServeCommand(), a.annotationExportCommand(), a.annotationConvertCommand(), a.annotationAgreementCommand(),
	)
	return cmd
}

// agreementOptions is what the flags of annotation agreement ask for.
type agreementOptions struct {
	files, annotators []string
	modality          string
	rule              annotation.Rule
	bootstrap         agreement.Bootstrap
	json              bool
}

// maxDraws bounds a resampling to what ends within minutes.
const maxDraws = 1_000_000

func (a *app) annotationAgreementCommand() *cobra.Command {
	var o agreementOptions
	cmd := &cobra.Command{
		Use:   "agreement --annotations FILE",
		Short: "Measure how far annotators agree, with each other, with the truth, and between text and audio",
		Long: "Measure how far annotators agree: Krippendorff's alpha, Fleiss' and Cohen's kappa, percent\n" +
			"agreement; the majority against the truth; and text against audio when both are there.\n\n" +
			"FILE is a CSV, wide (ID, MentalManip, a column an annotator) or long (item, modality,\n" +
			"annotator, label and, if known, time and truth). The flag may be repeated.",
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error { return a.agreement(o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.files, "annotations", nil, "CSV of annotations (- reads standard input); text=FILE or audio=FILE says what a wide one is of")
	f.StringSliceVar(&o.annotators, "annotators", nil, "only these annotators, separated by commas")
	f.StringVar(&o.modality, "modality", "", "only text or audio; without it what the files have")
	f.IntVar(&o.rule.MinShare, "min-share", 0, "share of an item's votes, in percent, below which its majority is UNRESOLVED; 0: ties only")
	f.IntVar(&o.bootstrap.Draws, "draws", agreement.DefaultDraws, "resamplings for an interval; 0: no intervals")
	f.Uint64Var(&o.bootstrap.Seed, "seed", 1, "seed of the resampling")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (a *app) agreement(o agreementOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	set, err := a.readAnnotations(o.files, annotation.Modality(o.modality))
	if err != nil {
		return err
	}
	modalities := set.Modalities()
	if len(modalities) == 0 {
		return fmt.Errorf("%s: no annotations", strings.Join(o.files, ", "))
	}
	if o.modality != "" {
		if !slices.Contains(modalities, annotation.Modality(o.modality)) {
			return fmt.Errorf("%s: nothing is of %s (audio=FILE says that a wide file without the column Audio File Name is of audio)",
				strings.Join(o.files, ", "), o.modality)
		}
		modalities = []annotation.Modality{annotation.Modality(o.modality)}
	}
	if err := checkNames(o.annotators, set); err != nil {
		return err
	}
	result := measureAgreement(set, modalities, o)
	if o.json {
		encoder := json.NewEncoder(a.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(result.jsonValue())
	}
	return result.writeText(a.out)
}

func (o *agreementOptions) check() error {
	if len(o.files) == 0 {
		return usagef("--annotations is missing: the CSV of annotations")
	}
	if o.modality != "" {
		modality, err := annotation.ParseModality(o.modality)
		if err != nil {
			return usagef("--modality: %w", err)
		}
		o.modality = string(modality)
	}
	if err := o.rule.Check(); err != nil {
		return usagef("--min-share: %w", err)
	}
	if o.bootstrap.Draws < 0 || o.bootstrap.Draws > maxDraws {
		return usagef("--draws %d: use 0 to %d", o.bootstrap.Draws, maxDraws)
	}
	for i, name := range o.annotators {
		o.annotators[i] = strings.TrimSpace(name)
		if slices.Contains(o.annotators[:i], o.annotators[i]) {
			return usagef("--annotators names %q more than once", o.annotators[i])
		}
	}
	return nil
}

// checkNames refuses a name that nobody in the files has.
func checkNames(names []string, set annotation.Set) error {
	known := slices.Concat(set.Annotators(annotation.Text), set.Annotators(annotation.Audio))
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return usagef("--annotators: nobody is called %q; the annotators are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// readAnnotations reads CSV files as one study. The modality, if any, is that of a
// single file that doesn't say its own.
func (a *app) readAnnotations(files []string, modality annotation.Modality) (annotation.Set, error) {
	return a.readForm(annotation.Long, files, modality) // or wide: the first line tells
}

// readForm does the same with files of any form.
func (a *app) readForm(form annotation.Form, files []string, modality annotation.Modality) (annotation.Set, error) {
	var sources []annotation.Source
	for _, file := range files {
		source := annotation.Source{Name: file}
		for _, m := range []annotation.Modality{annotation.Text, annotation.Audio} {
			if path, ok := strings.CutPrefix(file, string(m)+"="); ok {
				source = annotation.Source{Name: path, Modality: m}
			}
		}
		if len(files) == 1 && source.Modality == "" {
			source.Modality = modality
		}
		in, err := a.openInput(source.Name)
		if err != nil {
			return annotation.Set{}, err
		}
		defer in.Close()
		source.Name, source.Reader = datasetName(source.Name), in
		sources = append(sources, source)
	}
	set, err := annotation.ReadForm(form, sources...)
	var problems *annotation.Problems
	if errors.As(err, &problems) && len(problems.List) > 1 {
		return set, fmt.Errorf("the annotations can't be used:\n%w", err)
	}
	return set, err
}

// openInput opens a file, or standard input for "-".
func (a *app) openInput(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(a.in), nil
	}
	return os.Open(path)
}
