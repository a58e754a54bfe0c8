package chat

import (
	"context"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/prompt"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// ScoreTactics returns the raw first-token probability of every option, summed
// over the forms of the rules. Options whose first token is the same get one
// more call for every such token, with the token as the answer's beginning.
//
// A server without logprobs gives one name: that option has probability 1, and
// the others are unobserved. Strategies that reason are asked without their
// reasoning, which differs from pass to pass.
func (d *Detector) ScoreTactics(ctx context.Context, item detect.Item) (detect.TacticScores, error) {
	p, err := d.read(ctx, item)
	if err != nil {
		return detect.TacticScores{}, err
	}
	out := detect.TacticScores{Method: p.Capabilities.tacticMethod()}
	if p.Nothing != "" {
		for range tactic.Options() {
			out.Masses = append(out.Masses, vote.Mass{P: vote.One})
		}
		return out, nil
	}
	t, err := d.load(ctx, item)
	if err != nil {
		return detect.TacticScores{}, err
	}
	if !p.Capabilities.Logprobs {
		out.Masses, err = d.nameTactic(ctx, p.Capabilities, t)
		return out, err
	}
	s := scoring{d: d, caps: p.Capabilities, target: t, tallies: make([]tally, len(tactic.Options()))}
	if err := s.level(ctx, "", 1, s.spellings(d.config.Rules)); err != nil {
		return detect.TacticScores{}, err
	}
	for _, tally := range s.tallies {
		out.Masses = append(out.Masses, tally.mass())
	}
	return out, nil
}

// nameTactic has the server say one name.
func (d *Detector) nameTactic(ctx context.Context, caps Capabilities, t target) ([]vote.Mass, error) {
	options := tactic.Options()
	names := make([]string, len(options))
	masses := make([]vote.Mass, len(options))
	for i, o := range options {
		names[i] = string(o)
		masses[i] = vote.Mass{P: vote.One}
	}
	r, err := d.ask(ctx, caps, t, question{stage: prompt.Tactic, sampling: greedy, maxTokens: freeTokens, choice: names})
	if err != nil {
		return nil, err
	}
	line, _, _ := strings.Cut(strings.TrimSpace(r.text), "\n")
	chosen, err := tactic.Parse(strings.Trim(line, ` .*"'-`))
	if err != nil {
		return masses, nil // the answer names none of the options: nothing is known
	}
	for i := range masses {
		masses[i] = unobserved(0)
	}
	masses[tactic.Index(chosen)] = vote.Mass{P: vote.One, Observed: true}
	return masses, nil
}

// tally is what is known of one option.
type tally struct {
	sum   float64
	seen  bool
	bound float64 // of what wasn't seen
}

func (t tally) mass() vote.Mass {
	if t.seen {
		return vote.Mass{P: nano(t.sum), Observed: true}
	}
	return unobserved(t.bound)
}

// spelling is one form of one option, without what the answer begins with.
type spelling struct {
	option int
	rest   string
	pieces []string // the tokens of rest; nil where the server has no tokenizer
}

// scoring follows the options' tokens until no two share one.
type scoring struct {
	d       *Detector
	caps    Capabilities
	target  target
	tallies []tally
}

func (s *scoring) spellings(r vote.Rules) []spelling {
	var out []spelling
	for i, option := range tactic.Options() {
		for _, form := range r.Forms(option) {
			out = append(out, spelling{option: i, rest: form, pieces: s.caps.Pieces[form]})
		}
	}
	return out
}

// level asks for the next token after prefix, which has the probability p, and
// spreads p over the options by it. Every level takes a token off the spellings,
// so that it ends.
func (s *scoring) level(ctx context.Context, prefix string, p float64, spellings []spelling) error {
	r, err := s.d.ask(ctx, s.caps, s.target, question{stage: prompt.Tactic, sampling: plainSampling, maxTokens: 1, logprobs: true, prefill: prefix})
	if err != nil {
		return err
	}
	if !r.hasFirst {
		r.first.floor = 1
	}
	var order []string // of the pieces, as they come
	groups := map[string][]spelling{}
	for _, sp := range spellings {
		piece := sp.next(r.first)
		if piece == "" {
			s.tallies[sp.option].bound += p * r.first.floor
			continue
		}
		if groups[piece] == nil {
			order = append(order, piece)
		}
		groups[piece] = append(groups[piece], sp)
	}
	for _, piece := range order {
		q, seen := r.first.p[piece]
		if err := s.spread(ctx, prefix, piece, p*q, p*r.first.floor, seen, groups[piece]); err != nil {
			return err
		}
	}
	return nil
}

// spread gives one token's probability to the option that it begins, or follows
// the token where it begins several.
func (s *scoring) spread(ctx context.Context, prefix, piece string, p, bound float64, seen bool, group []spelling) error {
	alone := true
	for _, sp := range group {
		alone = alone && sp.option == group[0].option
	}
	switch {
	case !seen:
		for _, sp := range group {
			s.tallies[sp.option].bound += bound
		}
	case alone:
		s.tallies[group[0].option].add(p)
	case nano(p) == 0:
		for _, sp := range group {
			s.tallies[sp.option].add(0)
		}
	case s.caps.Prefill == "":
		for _, sp := range group {
			s.tallies[sp.option].bound += p
		}
	default:
		var rest []spelling
		for _, sp := range group {
			sp.rest = strings.TrimPrefix(sp.rest, piece)
			if len(sp.pieces) > 0 {
				sp.pieces = sp.pieces[1:]
			}
			rest = append(rest, sp)
		}
		return s.level(ctx, prefix+piece, p, rest)
	}
	return nil
}

func (t *tally) add(p float64) { t.sum, t.seen = t.sum+p, true }

// next returns the token that the spelling goes on with: as the server's
// tokenizer says, else the longest listed one that fits. "" is none.
func (sp spelling) next(d distribution) string {
	if len(sp.pieces) > 0 {
		return sp.pieces[0]
	}
	longest := ""
	for token := range d.p {
		if len(token) > len(longest) && strings.HasPrefix(sp.rest, token) {
			longest = token
		}
	}
	return longest
}
