// Package speech is the port to text-to-speech engines: one call renders one
// turn in one voice.
package speech

import (
	"context"
	"time"

	"github.com/speechmanip/speechmanip/internal/voice"
)

// Engine identifies what turns text into audio. Everything here that changes
// is a different engine to the content keys, so that stored audio of an older
// one is never taken for the newer one's.
type Engine struct {
	Name    string `json:"name"`            // the synthesizer, e.g. "flite"
	Model   string `json:"model,omitempty"` // where an engine has several
	Version string `json:"version"`         // of the engine's program or service
	Format  string `json:"format"`          // of the audio it returns, e.g. "wav_16000"
}

// Request is one turn to be spoken.
type Request struct {
	Text  string // normalised for speech (Normalize), has at least one word
	Voice voice.Voice
	Seed  uint32 // engines without sampling ignore it
	// The neighbouring turns' texts, where the evaluation gives them: engines
	// that can carry their prosody over. "" for none.
	Previous, Next string
}

// Speech is the audio of one turn.
type Speech struct {
	Audio      []byte // a complete file in the engine's Format
	Characters int    // of the text sent
	Credits    int    // what a provider says it billed, in its own unit; 0 when it doesn't say
	RequestID  string // the provider's, for support; empty for local engines
	Ceiling    int    // calls at once that the account may make, as the provider says; 0 when it doesn't
}

// CodeConcurrency is the code of the fault of a call that was refused because the
// account has too many in flight.
const CodeConcurrency = "concurrent_limit_exceeded"

// Account is what a paid synthesizer's account may still do.
type Account struct {
	Plan   string    `json:"plan"`            // the provider's name for it
	Used   int       `json:"used"`            // of Limit, in the provider's unit
	Limit  int       `json:"limit"`           // what may be used in the current period
	Resets time.Time `json:"resets,omitzero"` // when Used begins again; zero where it isn't known
}

// Accountant is a Synthesizer that can tell about its account. Asking costs
// nothing. Errors are faults.
type Accountant interface {
	Account(ctx context.Context) (Account, error)
}

// Synthesizer renders turns. Errors are faults (package fault) that say whether
// to retry.
type Synthesizer interface {
	// Engine identifies the engine; it must not make a paid call. It fails
	// when the engine is missing or can't be reached.
	Engine(ctx context.Context) (Engine, error)
	// Check fails when a voice of the pool doesn't exist or its params are
	// wrong, naming the voice.
	Check(ctx context.Context, pool voice.Pool) error
	// Synthesize renders one turn.
	Synthesize(ctx context.Context, req Request) (Speech, error)
}
