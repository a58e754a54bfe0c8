package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/sample"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// builtInExemplars is the word for the project's own exemplars.
const builtInExemplars = "builtin"

// exemplarHelp is the help of --exemplars.
const exemplarHelp = "of chat, for strategies that show solved dialogues: a file of JSON lines (id, verdict, tactic, quote, and turns where the dataset doesn't have the dialogue), in the order to show them, or " +
	builtInExemplars + "; without it the rules' exemplars in the dataset, of the sample the built-in ones"

// shownExemplar is a solved dialogue that every prompt shows.
type shownExemplar struct {
	vote.Exemplar
	dialogue dialogue.Dialogue
	clip     string // a file, where clips are given
}

// exemplars returns what the request's prompts show before every item, in order:
// as many as its strategy shows, none where it shows none. all is the whole
// dataset; clips are the files of --clips by id, nil without, and heard says
// whether prompts hold recordings. The error says which exemplars are missing or
// incomplete, and the way out.
func (r *request) exemplars(all []dialogue.Dialogue, clips map[string]string, heard bool, rules vote.Rules) ([]shownExemplar, error) {
	wanted := 0
	if r.detector == chatDetector {
		strategy, err := prompt.Find(r.strategy)
		if err != nil {
			return nil, usagef("--prompt: %w", err)
		}
		wanted = strategy.Exemplars
	}
	if wanted == 0 {
		if r.shown != "" {
			return nil, usagef("--exemplars: prompts of --detector %s --prompt %s show no exemplars; few-shot of chat does", r.detector, r.strategy)
		}
		return nil, nil
	}
	shown, err := r.readExemplars(all, rules)
	if err != nil {
		return nil, err
	}
	if len(shown) != wanted {
		return nil, fmt.Errorf("--exemplars %s holds %d exemplars (%s), prompt strategy %s shows exactly %d", r.shown, len(shown), strings.Join(ids(shown), ", "), r.strategy, wanted)
	}
	var errs []error
	for _, e := range shown {
		errs = append(errs, e.complete(rules))
	}
	if clips != nil {
		errs = append(errs, giveClips(shown, clips, heard))
	}
	return shown, errors.Join(errs...)
}

func (r *request) readExemplars(all []dialogue.Dialogue, rules vote.Rules) ([]shownExemplar, error) {
	source := r.shown
	if source == "" && r.dataset == "" {
		source = builtInExemplars
	}
	switch source {
	case "":
		return datasetExemplars(all, rules)
	case builtInExemplars:
		lines, err := parseExemplars("built in", bytes.NewReader(sample.Exemplars()))
		if err != nil {
			return nil, err
		}
		return solve(lines, "built in", all)
	}
	file, err := os.Open(source)
	if err != nil {
		return nil, fmt.Errorf("--exemplars: %w", err)
	}
	defer file.Close()
	lines, err := parseExemplars(source, file)
	if err != nil {
		return nil, err
	}
	return solve(lines, source, all)
}

// solve gives every line its dialogue.
func solve(lines []exemplarLine, name string, all []dialogue.Dialogue) ([]shownExemplar, error) {
	byID := indexed(all)
	var shown []shownExemplar
	var errs []error
	for _, line := range lines {
		e := shownExemplar{Exemplar: line.Exemplar}
		stored, inDataset := byID[line.ID]
		switch {
		case line.dialogue != nil && inDataset && stored.TextHash() != line.dialogue.TextHash():
			errs = append(errs, fmt.Errorf("exemplars %s, line %d: the dataset has another dialogue %q: give this one another id, or leave its turns out", name, line.line, line.ID))
		case line.dialogue != nil:
			e.dialogue = *line.dialogue
		case inDataset && stored.Truth != dialogue.Unknown && string(stored.Truth) != string(line.Vote):
			errs = append(errs, fmt.Errorf("exemplars %s, line %d: verdict is %s, the dataset's truth of %q is %s: a prompt must not show a wrong solution", name, line.line, line.Vote, line.ID, stored.Truth))
		case inDataset:
			e.dialogue = stored
		default:
			errs = append(errs, fmt.Errorf("exemplars %s, line %d: %q is not in the dataset: add its turns, or take an id of the dataset", name, line.line, line.ID))
		}
		shown = append(shown, e)
	}
	return shown, errors.Join(errs...)
}

// datasetExemplars are the rules' exemplars as the dataset has them: with the
// truth and the first annotated tactic, and without a quote, which no dataset has.
func datasetExemplars(all []dialogue.Dialogue, rules vote.Rules) ([]shownExemplar, error) {
	byID := indexed(all)
	var shown []shownExemplar
	var missing []string
	for _, id := range rules.ExemplarIDs {
		d, ok := byID[id]
		if !ok || d.Truth == dialogue.Unknown {
			missing = append(missing, id)
			continue
		}
		e := shownExemplar{Exemplar: vote.Exemplar{ID: id, Vote: vote.Vote(d.Truth)}, dialogue: d}
		if len(d.Tactics) > 0 {
			e.Tactic = d.Tactics[0]
		}
		shown = append(shown, e)
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("exemplars: the dataset doesn't have, or has no truth of, %s, which rules %s show: name others with --exemplars FILE, or use --exemplars %s", strings.Join(missing, ", "), rules.Name, builtInExemplars)
	}
	if rules.Exemplars == vote.ExemplarFull {
		return nil, fmt.Errorf("exemplars: rules %s show a quote of each YES, and a dataset has none: write them down for --exemplars FILE, use --exemplars %s, or show decisions only with --rules %s", rules.Name, builtInExemplars, vote.Released().Name)
	}
	return shown, nil
}

// complete refuses a YES that lacks what the rules show of it.
func (e shownExemplar) complete(rules vote.Rules) error {
	if e.Vote != vote.VoteYes || rules.Exemplars != vote.ExemplarFull {
		return nil
	}
	switch {
	case e.Tactic == "" || e.Tactic == tactic.None || e.Quote == "":
		return fmt.Errorf("exemplar %q: rules %s show the tactic and the quote of a YES: add what is missing, or show decisions only with --rules %s", e.ID, rules.Name, vote.Released().Name)
	case !e.dialogue.Says(e.Quote):
		return fmt.Errorf("exemplar %q: nobody in it says %q: quote its words as they are", e.ID, e.Quote)
	}
	return nil
}

// giveClips gives the exemplars their files; clips that prompts hold must be there.
func giveClips(shown []shownExemplar, clips map[string]string, heard bool) error {
	var missing []string
	for i, e := range shown {
		if shown[i].clip = clips[e.ID]; shown[i].clip == "" {
			missing = append(missing, e.ID)
		}
	}
	if !heard || len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("exemplars: the folder of --clips has no clip of %s: add them (ID_*%s), or name others with --exemplars FILE", strings.Join(missing, ", "), clipExtensions[0])
}

func indexed(all []dialogue.Dialogue) map[string]dialogue.Dialogue {
	byID := make(map[string]dialogue.Dialogue, len(all))
	for _, d := range all {
		byID[d.ID] = d
	}
	return byID
}

func ids(shown []shownExemplar) []string {
	all := make([]string, len(shown))
	for i, e := range shown {
		all[i] = fmt.Sprintf("%q", e.ID)
	}
	return all
}
