package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/study"
)

// choose draws the study's items from the evaluation's, attention checks after them.
func (o *studyOptions) choose(ctx context.Context, store archive.Archive, s *study.Study) error {
	source, err := store.Source(ctx, o.evaluation)
	if err != nil {
		return unknown(o.evaluation, err)
	}
	s.Lines = source.Manifest.Spec.Dataset.Lines
	usable := usableItems(source, slices.Contains(o.plan.Modalities, annotation.Audio))
	checks, rest, err := o.checks(usable)
	if err != nil {
		return err
	}
	if len(rest) < o.items {
		return fmt.Errorf("evaluation %q has %d items that people can judge, besides %d attention checks: lower --items (now %d)", o.evaluation, len(rest), len(checks), o.items)
	}
	var truths []dialogue.Truth
	for _, item := range rest {
		truths = append(truths, item.Truth)
	}
	for _, i := range study.Choose(truths, o.items, o.plan.Seed) {
		s.Items = append(s.Items, rest[i])
		o.plan.Truths = append(o.plan.Truths, rest[i].Truth)
	}
	s.Items = append(s.Items, checks...)
	return nil
}

// usableItems are those that the evaluation has judged, each dialogue in its first
// casting, with a clip where one is heard.
func usableItems(source archive.Source, heard bool) []study.Item {
	records := map[string]evaluation.Record{}
	for _, r := range source.Records {
		if r.CastingNumber <= 1 && r.Failure == nil && (!heard || !r.Clip.IsZero()) {
			records[r.ID] = r
		}
	}
	var items []study.Item
	for _, item := range source.Items {
		r, ok := records[item.ID]
		if !ok || item.CastingNumber > 1 {
			continue
		}
		of := study.Item{ID: item.ID, Truth: r.Truth, Line: item.Line}
		if heard {
			of.Clip, of.Seconds = r.Clip, r.ClipSeconds
		}
		items = append(items, of)
	}
	return items
}

// checks takes the attention checks out of the items.
func (o *studyOptions) checks(items []study.Item) (checks, rest []study.Item, err error) {
	rest = items
	for _, text := range o.attention {
		id, label, ok := strings.Cut(text, "=")
		if !ok {
			return nil, nil, usagef("--attention %q: write ITEM=YES or ITEM=NO", text)
		}
		expected, err := annotation.ParseLabel(label)
		if err != nil {
			return nil, nil, usagef("--attention %q: %w", text, err)
		}
		at := slices.IndexFunc(rest, func(item study.Item) bool { return item.ID == id })
		if at < 0 {
			return nil, nil, usagef("--attention: item %q is not in evaluation %s, was not judged, or is named twice", id, o.evaluation)
		}
		check := rest[at]
		check.Expected = expected
		checks, rest = append(checks, check), slices.Delete(slices.Clone(rest), at, at+1)
	}
	return checks, rest, nil
}
