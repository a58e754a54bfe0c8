package vote

import (
	"errors"
	"fmt"
	"slices"
)

// Rules is everything that turns passes into a verdict, a tactic and a quote.
// It is one value of an evaluation's spec and is printed in every report.
type Rules struct {
	Name   string `json:"name"`   // the preset it comes from, or the operator's own name
	Passes int    `json:"passes"` // passes a clip is given, decision and tactic alike

	Exemplars   ExemplarForm `json:"exemplars"`
	ExemplarIDs []string     `json:"exemplar_ids"` // dialogues shown as exemplars: never scored

	Sampling       Sampling `json:"sampling"`
	FallbackMargin Nano     `json:"fallback_margin"` // YES iff p(YES) > p(NO) + margin

	Votes  VoteMode  `json:"votes"`
	Label  LabelRule `json:"label"`
	Quorum int       `json:"quorum"` // equal votes that decide, under LabelQuorum

	TacticForms  FormRule    `json:"tactic_forms"`
	TacticDraw   DrawRule    `json:"tactic_draw"`
	TacticOrder  OrderRule   `json:"tactic_order"`
	TacticMargin Nano        `json:"tactic_margin"` // the top option's lead that keeps it
	TacticSecond SecondRule  `json:"tactic_second"`
	NoneTie      NoneTieRule `json:"none_tie"`
	NoneTieGain  Nano        `json:"none_tie_gain"` // under NoneTieByGain: the lead in mean probability
	TacticTie    TieRule     `json:"tactic_tie"`

	Evidence     EvidenceRule `json:"evidence"`
	Quote        QuoteRule    `json:"quote"`
	QuoteWords   int          `json:"quote_words"`   // longer quotes are flagged or cut
	QuoteRetries int          `json:"quote_retries"` // further tries after an empty quote
}

// ExemplarForm is what a prompt shows of each exemplar.
type ExemplarForm string

// The exemplar forms.
const (
	ExemplarFull  ExemplarForm = "decision_tactic_quote" // its decision, tactic and quote
	ExemplarLabel ExemplarForm = "audio_label"           // its clip and its decision only
)

// VoteMode is how many calls a clip's votes take.
type VoteMode string

// The vote modes. All three give the same label, the last one up to chance.
const (
	VotesSampled   VoteMode = "sampled"    // a call each
	VotesEarlyStop VoteMode = "early-stop" // none once the label can't change
	VotesAnalytic  VoteMode = "analytic"   // one call: the label that most draws would give
)

// LabelRule is how valid votes become a verdict.
type LabelRule string

// The label rules.
const (
	LabelQuorum    LabelRule = "quorum"    // Quorum equal votes, else UNRESOLVED
	LabelPlurality LabelRule = "plurality" // YES iff more YES than NO
)

// FormRule is which spellings of an option a detector scores.
type FormRule string

// The form rules.
const (
	FormPlain FormRule = "first_token" // the first token of the option as written
	FormFour  FormRule = "four_forms"  // the sum over as written and lower-cased, with and without a leading space
)

// DrawRule is how a tactic pass finds its top option.
type DrawRule string

// The draw rules.
const (
	DrawScore  DrawRule = "score"  // the most probable one: all passes are equal
	DrawSample DrawRule = "sample" // drawn with Sampling and the pass's own seed
)

// OrderRule is which of two equally probable options ranks first in a pass.
type OrderRule string

// The order rules.
const (
	OrderInventory OrderRule = "inventory"       // the earlier one in tactic.Options
	OrderName      OrderRule = "name_descending" // the later name, byte by byte
)

// SecondRule is what replaces a top option that is none or leads too little.
type SecondRule string

// The second-best rules.
const (
	SecondLiteral SecondRule = "literal" // the next option, even when that is none
)

// NoneTieRule is what a tie among the passes' tactics gives when none is in it.
type NoneTieRule string

// The rules for a tie with none.
const (
	NoneTieByGain NoneTieRule = "gain" // a tactic whose mean exceeds that of none by NoneTieGain, else none
	NoneTieNone   NoneTieRule = "none" // none
)

// TieRule is what a tie among the passes' tactics gives when none is not in it.
type TieRule string

// The rules for a tie without none.
const (
	TieMean  TieRule = "mean"       // the highest mean probability, then the earlier in the inventory
	TieFirst TieRule = "first_seen" // that of the pass with the lowest index
)

// EvidenceRule is which YES verdicts are asked for a quote.
type EvidenceRule string

// The evidence rules.
const (
	EvidenceEvery  EvidenceRule = "every_yes"   // every YES, without naming a tactic
	EvidenceTactic EvidenceRule = "with_tactic" // a YES with a tactic, which the question names
)

// QuoteRule is what happens to a quote's text.
type QuoteRule string

// The quote rules.
const (
	QuoteFlag QuoteRule = "normalize"     // whitespace and quote marks; over-length is flagged
	QuoteCut  QuoteRule = "strip_and_cut" // prefixes and URLs stripped, cut to QuoteWords
)

// Paper returns the rules that the paper states; the default.
func Paper() Rules {
	return Rules{
		Name:           "paper",
		Passes:         5,
		Exemplars:      ExemplarFull,
		ExemplarIDs:    exemplarIDs(),
		Sampling:       Sampling{Temperature: 0.6, TopP: 0.95},
		FallbackMargin: 0,
		Votes:          VotesSampled,
		Label:          LabelQuorum,
		Quorum:         3,
		TacticForms:    FormPlain,
		TacticDraw:     DrawScore,
		TacticOrder:    OrderInventory,
		TacticMargin:   30_000_000,
		TacticSecond:   SecondLiteral,
		NoneTie:        NoneTieByGain,
		NoneTieGain:    20_000_000,
		TacticTie:      TieMean,
		Evidence:       EvidenceEvery,
		Quote:          QuoteFlag,
		QuoteWords:     12,
		QuoteRetries:   1,
	}
}

// Released returns the rules of the paper's published scripts where they differ
// from the paper.
func Released() Rules {
	r := Paper()
	r.Name = "released"
	r.Exemplars = ExemplarLabel
	r.Sampling = Sampling{Temperature: 0, TopP: 1}
	r.FallbackMargin = 50_000_000
	r.Label = LabelPlurality
	r.TacticForms = FormFour
	r.TacticOrder = OrderName
	r.NoneTie = NoneTieNone
	r.TacticTie = TieFirst
	r.Evidence = EvidenceTactic
	r.Quote = QuoteCut
	return r
}

// exemplarIDs are the published exemplars, two NO then two YES. The paper names
// none, so both presets keep these out of the scores.
func exemplarIDs() []string { return []string{"85514440", "85514449", "85514414", "85514416"} }

// Presets returns the names that Preset takes, the default first.
func Presets() []string { return []string{"paper", "released"} }

// Preset returns the rules of that name. The error names the valid ones.
func Preset(name string) (Rules, error) {
	for _, r := range []Rules{Paper(), Released()} {
		if r.Name == name {
			return r, nil
		}
	}
	return Rules{}, fmt.Errorf("unknown rules %q: use one of %q", name, Presets())
}

// Validate returns one error that names every value that can't be used, and nil
// when there is none.
func (r Rules) Validate() error {
	return errors.Join(
		atLeast("passes", r.Passes, 1),
		oneOf("exemplars", r.Exemplars, ExemplarFull, ExemplarLabel),
		r.Sampling.Validate(),
		probability("fallback_margin", r.FallbackMargin),
		oneOf("votes", r.Votes, VotesSampled, VotesEarlyStop, VotesAnalytic),
		oneOf("label", r.Label, LabelQuorum, LabelPlurality),
		r.validateQuorum(),
		oneOf("tactic_forms", r.TacticForms, FormPlain, FormFour),
		oneOf("tactic_draw", r.TacticDraw, DrawScore, DrawSample),
		oneOf("tactic_order", r.TacticOrder, OrderInventory, OrderName),
		probability("tactic_margin", r.TacticMargin),
		oneOf("tactic_second", r.TacticSecond, SecondLiteral),
		oneOf("none_tie", r.NoneTie, NoneTieByGain, NoneTieNone),
		probability("none_tie_gain", r.NoneTieGain),
		oneOf("tactic_tie", r.TacticTie, TieMean, TieFirst),
		oneOf("evidence", r.Evidence, EvidenceEvery, EvidenceTactic),
		oneOf("quote", r.Quote, QuoteFlag, QuoteCut),
		atLeast("quote_words", r.QuoteWords, 1),
		atLeast("quote_retries", r.QuoteRetries, 0),
	)
}

// validateQuorum refuses a quorum that YES and NO could both reach, or neither.
func (r Rules) validateQuorum() error {
	if r.Label == LabelQuorum && (r.Quorum <= r.Passes/2 || r.Quorum > r.Passes) {
		return fmt.Errorf("rules: quorum is %d, must be more than half of %d passes and at most all", r.Quorum, r.Passes)
	}
	return nil
}

// Validate refuses a temperature or top-p that no draw can use.
func (s Sampling) Validate() error {
	// Written so that NaN fails too.
	if !(s.Temperature >= 0 && s.Temperature <= 2) {
		return fmt.Errorf("rules: sampling temperature is %v, must be from 0 (greedy) to 2", s.Temperature)
	}
	if !(s.TopP > 0 && s.TopP <= 1) {
		return fmt.Errorf("rules: sampling top_p is %v, must be above 0 and at most 1", s.TopP)
	}
	return nil
}

func atLeast(name string, value, least int) error {
	if value < least {
		return fmt.Errorf("rules: %s is %d, must be at least %d", name, value, least)
	}
	return nil
}

func probability(name string, value Nano) error {
	if value < 0 || value > One {
		return fmt.Errorf("rules: %s is %d, must be from 0 to %d (1e-9 units)", name, value, One)
	}
	return nil
}

func oneOf[T ~string](name string, value T, valid ...T) error {
	if !slices.Contains(valid, value) {
		return fmt.Errorf("rules: %s is %q, must be one of %q", name, value, valid)
	}
	return nil
}
