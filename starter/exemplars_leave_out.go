package main

import (
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// leaveOutExemplars drops from what is scored all that prompts show or may show:
// what this evaluation shows, and what its rules name. They are known by id, by
// text, and by the clip's bytes. all is the whole dataset.
func (p *plan) leaveOutExemplars(kept, all []dialogue.Dialogue) error {
	ids, texts, clips := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, id := range p.spec.Rules.ExemplarIDs {
		ids[id] = true
	}
	for _, e := range p.shown {
		ids[e.ID], texts[e.dialogue.TextHash()] = true, true
	}
	for _, d := range all {
		if ids[d.ID] {
			texts[d.TextHash()] = true
		}
	}
	for id := range ids {
		path := p.clips[id]
		if path == "" {
			continue
		}
		hash, err := fileHash(path)
		if err != nil {
			return err
		}
		clips[hash] = true
	}
	for _, d := range kept {
		reason := ""
		switch {
		case ids[d.ID]:
			reason = "exemplar"
		case texts[d.TextHash()]:
			reason = "same text as an exemplar"
		case len(clips) > 0:
			hash, err := fileHash(p.clips[d.ID])
			if err != nil {
				return err
			}
			if clips[hash] {
				reason = "same clip as an exemplar"
			}
		}
		if reason != "" {
			p.excluded = append(p.excluded, evaluation.Excluded{ID: d.ID, Reason: reason})
			continue
		}
		p.dialogues = append(p.dialogues, d)
	}
	return nil
}
