package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/score"
)

// additions are what a report says beside what is stored of its evaluation.
type additions struct {
	annotations, truths, prevalences []string
	rule                             annotation.Rule
}

func (o *additions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.annotations, "annotations", nil, "CSV of what people say of the same dialogues, to be shown beside the detector (may be repeated; text=FILE or audio=FILE says what a wide one is of)")
	f.StringArrayVar(&o.truths, "truth", nil, "score against another truth too: labels=FILE (a dataset), text-consensus=FILE or audio-consensus=FILE (annotations; may be repeated)")
	f.IntVar(&o.rule.MinShare, "min-share", 0, "share of an item's votes, in percent, below which people's majority is UNRESOLVED; 0: ties only")
	f.StringArrayVar(&o.prevalences, "prevalence", nil, "restate precision, F1, accuracy and MCC where so many are manipulative: YES:NO as 250:90, or a share (may be repeated)")
}

// read checks the flags and reads the files; it returns what adds them to a report.
func (a *app) readAdditions(o additions) (func(*report.Report), error) {
	if err := o.rule.Check(); err != nil {
		return nil, usagef("--min-share: %w", err)
	}
	if stdin := slices.Concat(o.annotations, o.truths); len(slices.DeleteFunc(stdin, func(s string) bool { return s != "-" && !strings.HasSuffix(s, "=-") })) > 1 {
		return nil, usagef("standard input (-) can be read once only")
	}
	var prevalences []score.Prevalence
	for _, s := range o.prevalences {
		p, err := score.ParsePrevalence(s)
		if err != nil {
			return nil, usagef("--prevalence %w", err)
		}
		prevalences = append(prevalences, p)
	}
	var sources []report.TruthSource
	for _, s := range o.truths {
		source, err := a.readTruth(s, o.rule)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	var people annotation.Set
	if len(o.annotations) > 0 {
		var err error
		if people, err = a.readAnnotations(o.annotations, ""); err != nil {
			return nil, err
		}
		if len(people.Modalities()) == 0 {
			return nil, fmt.Errorf("%s: no annotations", strings.Join(o.annotations, ", "))
		}
	}
	return func(r *report.Report) {
		for _, p := range prevalences {
			r.Restate(p)
		}
		r.AddPeople(people, o.rule)
		if len(sources) > 0 {
			r.AddTruths(sources...)
		}
	}, nil
}

// readTruth reads SET=FILE.
func (a *app) readTruth(flag string, rule annotation.Rule) (report.TruthSource, error) {
	set, file, ok := strings.Cut(flag, "=")
	modality, consensus := strings.CutSuffix(set, "-consensus")
	_, err := annotation.ParseModality(modality)
	if !ok || file == "" || set != "labels" && (!consensus || err != nil) {
		return report.TruthSource{}, usagef("--truth %q: use labels=FILE, text-consensus=FILE or audio-consensus=FILE", flag)
	}
	if set == "labels" {
		dataset, err := a.readDatasetFile(file)
		if err != nil {
			return report.TruthSource{}, err
		}
		return report.Labels(set, datasetName(file), dataset.Dialogues), nil
	}
	annotations, err := a.readAnnotations([]string{file}, annotation.Modality(modality))
	if err != nil {
		return report.TruthSource{}, err
	}
	if !slices.Contains(annotations.Modalities(), annotation.Modality(modality)) {
		return report.TruthSource{}, fmt.Errorf("--truth %s: %s has no annotations of %s", set, datasetName(file), modality)
	}
	return report.ConsensusTruth(set, datasetName(file), annotations.Consensus(annotation.Modality(modality), rule)), nil
}
