package export

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// statement writes Markdown and keeps the first error.
type statement struct {
	w   io.Writer
	err error
}

// say writes a line. Text from outside goes through plain first.
func (s *statement) say(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format+"\n", args...)
	}
}

// writeStatement writes README.md: what the data are, where they come from, and what
// they are for.
func writeStatement(w io.Writer, set Set) error {
	s := &statement{w: w}
	r := set.Report
	s.say("---\npretty_name: %s\nlicense: other\ntags:\n- synthetic\n- speech\n- dialogue\n---\n", quoted("SpeechManip evaluation "+r.Evaluation))
	s.say("# Evaluation %s: dialogues, spoken and judged\n", plain(r.Evaluation))
	if r.Note != "" {
		s.say("%s\n", plain(r.Note))
	}
	s.contents(set)
	s.provenance(r)
	s.rights(set)
	s.uses()
	return s.err
}

func (s *statement) contents(set Set) {
	r := set.Report
	s.say("## What is here\n")
	s.say("%d clips of %d dialogues, each with its text, the dataset's label (`truth`), a detector's `verdict`, and the place of every turn where it is known. Schema `%s`; `export.json` has every setting.\n", len(set.Dialogues), r.Items, Schema)
	switch set.Options.Format {
	case WebDataset:
		s.say("Tar shards of `KEY.wav` (or `.mp3`, `.flac`, as the clip is) and `KEY.json`.")
	case NeMo:
		s.say("`manifest.json` has a line for each turn that is spoken (for each clip whose turns have no known place); paths are relative to it. A `speaker` is of one dialogue: no two dialogues share one.")
	case RTTM:
		s.say("`dialogues.rttm` has a line for each turn that is spoken. Speakers are of one dialogue: `Person1` of one file is not `Person1` of another.")
	case TextGrid:
		s.say("Beside each clip whose turns have a known place is a Praat TextGrid, a tier for each speaker.")
	}
	if set.Options.Format != WebDataset {
		s.say("`metadata.jsonl` has a line for each clip in `clips/`.")
	}
	s.say("\nTexts are as written, not as they were read to the synthesizer. A turn without a word is silence.\n")
	s.say("%s\n", counts("Truth", set.Dialogues, func(d report.Dialogue) string { return string(d.Truth) }))
	s.say("%s\n", counts("Verdict", set.Dialogues, func(d report.Dialogue) string {
		if d.Failure != nil {
			return "failed"
		}
		return string(d.Verdict.Verdict)
	}))
	if r.Pending > 0 {
		s.say("%d dialogues had no result yet when this was exported.\n", r.Pending)
	}
	if len(set.LeftOut) > 0 {
		s.say("Left out, each named in `left_out.jsonl`:\n")
		reasons := map[string]int{}
		for _, l := range set.LeftOut {
			reasons[l.Reason]++
		}
		for _, reason := range slices.Sorted(maps.Keys(reasons)) {
			s.say("- %d: %s", reasons[reason], plain(reason))
		}
		s.say("")
	}
	s.say("Check with `sha256sum -c SHA256SUMS`.\n")
}

// counts lists how many dialogues there are of each kind.
func counts(what string, dialogues []report.Dialogue, kind func(report.Dialogue) string) string {
	n := map[string]int{}
	for _, d := range dialogues {
		n[kind(d)]++
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(n)) {
		name := k
		if k == "" {
			name = "unknown"
		}
		parts = append(parts, fmt.Sprintf("%s %d", name, n[k]))
	}
	return what + ": " + strings.Join(parts, ", ") + "."
}

func (s *statement) provenance(r report.Report) {
	spec, engines := r.Settings.Spec, r.Settings.Engines
	s.say("## Where it comes from\n")
	s.say("- Dialogues: %s, stored as `%s` (SHA-256 `%s`)", plain(spec.Dataset.Name), spec.Dataset.Lines.Key, spec.Dataset.Lines.SHA256)
	switch {
	case spec.Speech.Synthesizer == "":
		s.say("- Clips: given. Whether they are synthetic is not known to the product (`synthetic` is null).")
	case spec.Dataset.From != "":
		s.say("- Clips: those of evaluation %s, synthetic speech by %s", plain(spec.Dataset.From), plain(spec.Speech.Synthesizer))
	default:
		s.say("- Clips: synthetic speech by %s, model %s, version %s", plain(engines.Speech.Name), plain(engines.Speech.Model), plain(engines.Speech.Version))
	}
	if spec.Speech.Synthesizer != "" {
		s.say("- Voices (pool %s, casting seed %d): each speaker of a dialogue has one voice throughout", plain(spec.Speech.Pool.Name), spec.Speech.CastingSeed)
		for _, v := range spec.Speech.Pool.Voices {
			s.say("  - %s%s", plain(v.Slug), traits(v))
		}
		s.say("- Composition: `%s`", jsonOf(spec.Compose))
	}
	s.say("- Detector: %s, model %s, fingerprint %s, modality %s", plain(engines.Detector.Detector), plain(engines.Detector.Model), plain(engines.Detector.Fingerprint), plain(string(spec.Detection.Modality)))
	s.say("- Rules of voting: %s", plain(spec.Rules.Name))
	s.say("- Recogniser: %s, version %s\n", plain(engines.Recognizer.Name), plain(engines.Recognizer.Version))
}

// traits are a voice's, by their names.
func traits(v voice.Voice) string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(v.Traits)) {
		mark := ", "
		if i == 0 {
			mark = ": "
		}
		b.WriteString(mark + plain(name) + " " + plain(v.Traits[name]))
	}
	return b.String()
}

func (s *statement) rights(set Set) {
	s.say("## Rights\n")
	s.say("- Text and labels: %s", plain(set.Terms.Text))
	s.say("- Voices: %s", plain(set.Terms.Voices))
	if set.Options.Rights != "" {
		s.say("- As stated by who exported: %s", plain(set.Options.Rights))
	}
	s.say("")
}

func (s *statement) uses() {
	s.say(`## What it is for, and what not

For research on how manipulation in dialogue is heard and detected, for evaluating detectors, and for training and testing speech tools within the rights above.

Not for: deciding about real people or their relationships; imitating a person's voice; learning how to manipulate; passing the clips off as recordings of people. Whoever passes them on keeps the mark that they are synthetic.

## What to know before use

- The speech is made by a machine from text; how people sound when they manipulate is not in it. Everything is read in the voice's usual manner.
- ` + "`verdict`, `tactic` and `evidence`" + ` are a detector's answers, not the truth. ` + "`seen`" + ` marks dialogues that the detector was trained or tuned on.
- With one casting a dialogue, voice can't be told from dialogue.
- ` + "`flags`" + ` name what is odd in a clip. Flagged clips are not left out.`)
}

// plain makes text from outside harmless in Markdown: one line, no markup, no HTML.
func plain(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case !unicode.IsPrint(r):
			b.WriteByte(' ')
		case strings.ContainsRune("\\`*_{}[]<>()#|~!&$", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return "none"
	}
	return b.String()
}

// quoted is text as YAML's double-quoted form has it, which JSON's is.
func quoted(text string) string { return jsonOf(text) }

// jsonOf is a value of plain data as JSON on one line.
func jsonOf(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(data)
}
