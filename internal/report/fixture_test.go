package report_test

import (
	"time"

	"strings"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// hostile is text that steers a terminal and, at the start of a cell, a
// spreadsheet.
const hostile = "=HYPERLINK(\"http://example.com\")\x1b[2J\x1b]0;title\a\u009b31m\u202e\r\n@x\ttab"

const exemplar = "exemplar-1"

func rules() vote.Rules {
	r := vote.Paper()
	r.ExemplarIDs = []string{exemplar}
	return r
}

// everything is a small evaluation in which all that a report tells apart
// happens. Two of its dialogues have no record yet.
func everything() report.Input {
	return report.Input{
		Manifest: evaluation.Manifest{
			Spec: evaluation.Spec{
				ID:         "small",
				Note:       "a note\x1b[31m",
				Dataset:    evaluation.Dataset{Name: "synthetic\x1b[0m.csv"},
				Speech:     evaluation.Speech{Synthesizer: "flite", Pool: voice.Pool{Name: "flite", Synthesizer: "flite", Voices: []voice.Voice{{Slug: "slt"}, {Slug: "rms"}}}, CastingSeed: 7},
				Compose:    audio.DefaultComposeOptions(),
				Recognizer: "pocketsphinx",
				Detection: evaluation.Detection{
					Detector: "baseline-cascade", ModelName: "model-1", Modality: detect.Audio,
					Accelerator: "cpu", Pool: "baseline", Seed: 3, Passes: evaluation.PassesReuse,
				},
				Rules:   rules(),
				Quality: evaluation.DefaultQuality(),
				Limits:  evaluation.DefaultLimits(),
			},
			Created:   time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC),
			Items:     15,
			Exemplars: []evaluation.Excluded{{ID: "exemplar-0", Reason: "exemplar"}},
		},
		Engines: evaluation.Engines{
			Speech:     speech.Engine{Name: "flite", Version: "2.2", Format: "wav_16000"},
			Recognizer: recognize.Engine{Name: "pocketsphinx", Model: "en-us", Version: "5"},
			Detector:   detect.Identity{Detector: "baseline-cascade", Model: "sha-1", Fingerprint: "f", Method: "probability"},
		},
		Ended: evaluation.Ended{Ended: time.Date(2026, 11, 30, 10, 0, 30, 0, time.UTC)},
		Seen:  detect.Seen{IDs: []string{"h-seen", "not-here"}, TextHashes: []string{"text of i-copy"}},
		Records: []evaluation.Record{
			found(judged("a-found", dialogue.Yes, "YYYYY"), tactic.Intimidation, "you will regret it"),
			judged("b-missed", dialogue.Yes, "NNNNN"),
			judged("c-open", dialogue.Yes, "YYNNI"),
			failed("d-failed", dialogue.Yes),
			judged("e-clean", dialogue.No, "NNnNI"),
			found(judged("f-alarm", dialogue.No, "YYyNN"), tactic.Persuasion, "be a dear"),
			found(judged("g-unlabelled", dialogue.Unknown, "YYYYN"), tactic.Shaming, ""),
			found(judged("h-seen", dialogue.Yes, "YYYYY"), tactic.Intimidation, "last chance"),
			judged("i-copy", dialogue.No, "NNNNN"),
			misheard(judged("j-misheard", dialogue.No, "NNNNN")),
			shrill(judged("k-shrill", dialogue.Yes, "NNNYN")),
			found(judged(hostile, dialogue.No, "YYYY "), tactic.None, hostile),
			found(judged(exemplar, dialogue.Yes, "YYYYY"), tactic.Denial, "never"),
		},
	}
}

// judged is a dialogue with a good clip of two voices and one pass a letter:
// Y or N constrained, y or n by fallback, I INVALID, a space not made.
func judged(id string, truth dialogue.Truth, pattern string) evaluation.Record {
	r := evaluation.Record{
		Evaluation:  "small",
		ID:          id,
		Truth:       truth,
		TextHash:    "text of " + id,
		Turns:       2,
		Casting:     voice.Casting{{Speaker: "Person1", Voice: "slt"}, {Speaker: "Person2", Voice: "rms"}},
		Clip:        objectstore.Ref{Key: "clips/of-" + evaluation.EncodeID(id) + ".wav", SHA256: "of-" + evaluation.EncodeID(id), Size: 100},
		ClipSeconds: 4.5,
		Quality: &evaluation.ClipQuality{WER: 0.1, WERIsSet: true, Reference: 20, Turns: []evaluation.TurnPitch{
			{Turn: 0, Voice: "slt", F0: 180}, {Turn: 1, Voice: "rms", F0: 110},
		}},
		Usage: evaluation.Usage{TurnsMade: 2, Characters: 80, ClipsMade: 1, Recognized: 1, PassesMade: 5},
	}
	if truth == dialogue.Yes {
		r.Tactics = []tactic.Tactic{tactic.Intimidation, tactic.Anger}
	}
	for i, letter := range pattern {
		if p, ok := pass(i, letter); ok {
			r.Passes = append(r.Passes, p)
		}
	}
	r.Verdict = vote.Decide(votes(r.Passes), rules())
	return r
}

func pass(index int, letter rune) (evaluation.PassRecord, bool) {
	p := evaluation.PassRecord{Pass: vote.Pass{Index: index, Method: vote.Constrained}, Seed: int64(100 + index)}
	high, low := vote.Mass{P: 600_000_000, Observed: true}, vote.Mass{P: 300_000_000, Observed: true}
	yes, no := high, low
	if strings.ContainsRune("Nn", letter) {
		yes, no = low, high
	}
	switch letter {
	case 'Y':
		p.Vote = vote.VoteYes
	case 'N':
		p.Vote = vote.VoteNo
	case 'y', 'n':
		p.Vote, p.Method = vote.DecideFallback(yes, no, rules())
	case 'I':
		yes, no = vote.Mass{P: 1000}, vote.Mass{P: 1000} // neither was observed
		p.Vote, p.Method = vote.DecideFallback(yes, no, rules())
	default:
		return p, false
	}
	p.PYes = yes
	return p, true
}

func votes(passes []evaluation.PassRecord) []vote.Pass {
	var out []vote.Pass
	for _, p := range passes {
		out = append(out, p.Pass)
	}
	return out
}

// found adds a tactic and a quote to a YES.
func found(r evaluation.Record, want tactic.Tactic, quote string) evaluation.Record {
	scores := scored(want)
	outcome := vote.DecideTactic(vote.ScoredPasses(scores.Masses, rules()), rules())
	r.Scores, r.Tactic = &scores, &outcome
	r.Evidence = &evaluation.EvidenceRecord{Quote: vote.NormalizeQuote(quote, rules()), Attempts: 1}
	if quote != "" {
		r.Evidence.Start, r.Evidence.End = 1.25, 2.5
	}
	return r
}

// scored are the masses with which want wins. None can only win as the second
// behind a thin lead.
func scored(want tactic.Tactic) detect.TacticScores {
	scores := detect.TacticScores{Method: "first token", LowConfidence: []string{string(tactic.Victim)}}
	for _, option := range tactic.Options() {
		mass := vote.Mass{P: 1_000_000, Observed: true}
		switch {
		case option == want:
			mass.P = 500_000_000
		case want == tactic.None && option == tactic.Evasion:
			mass.P = 510_000_000
		}
		scores.Masses = append(scores.Masses, mass)
	}
	return scores
}

func failed(id string, truth dialogue.Truth) evaluation.Record {
	return evaluation.Record{
		Evaluation: "small", ID: id, Truth: truth, TextHash: "text of " + id, Turns: 3,
		Failure: &evaluation.Failure{Stage: "synthesise turn 1", Code: "bad_text", Message: "the engine said " + hostile},
		Usage:   evaluation.Usage{TurnsMade: 1, TurnsStored: 1, Characters: 30},
	}
}

func misheard(r evaluation.Record) evaluation.Record {
	r.Quality.WER = 0.75
	return r
}

// shrill is spoken an octave above its voice's usual pitch.
func shrill(r evaluation.Record) evaluation.Record {
	r.Quality.Turns[1].F0 = 220
	return r
}
