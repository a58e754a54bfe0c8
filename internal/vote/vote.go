// Package vote turns a clip's passes into its verdict and tactic: majority,
// margin and tie rules as data, in integer arithmetic only, so that every
// processor decides the same. Draw alone is not integer: it belongs where a pass
// is made and its result stored, never where passes are decided on.
package vote

// Vote is what one pass says.
type Vote string

// The votes. Invalid is a pass that gave no usable answer; it is never a NO.
const (
	VoteYes     Vote = "YES"
	VoteNo      Vote = "NO"
	VoteInvalid Vote = "INVALID"
)

// Method is how a pass came to its vote.
type Method string

// The methods.
const (
	Constrained Method = "constrained" // the answer was constrained to A or B
	Parsed      Method = "parsed"      // read from a free answer: the server can't constrain one
	Fallback    Method = "fallback"    // by the probabilities of the YES and NO verbalizers
	Failed      Method = "none"        // neither gave an answer: the vote is INVALID
)

// Pass is one pass's vote.
type Pass struct {
	Index  int    `json:"index"`
	Vote   Vote   `json:"vote"`
	Method Method `json:"method"`
}

// Verdict is what the passes of a clip decide.
type Verdict string

// The verdicts. Unresolved is a verdict of its own, never counted as NO.
const (
	Yes        Verdict = "YES"
	No         Verdict = "NO"
	Unresolved Verdict = "UNRESOLVED"
)

// Nano is a probability in units of 1e-9: 1e9 is certain.
type Nano int64

// One is the probability 1.
const One Nano = 1_000_000_000

// Mass is the probability of one option, or that it was not observed (outside
// the tokens a server returned): then P is an upper bound, never a zero.
type Mass struct {
	P        Nano `json:"p"`
	Observed bool `json:"observed"`
}

// Sampling is how a constrained pass is drawn: temperature first, then top-p.
// Temperature 0 is greedy.
type Sampling struct {
	Temperature float64 `json:"temperature"`
	TopP        float64 `json:"top_p"`
}
