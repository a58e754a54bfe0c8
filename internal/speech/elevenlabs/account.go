package elevenlabs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/remote"
	"github.com/speechmanip/speechmanip/internal/speech"
)

// Account returns the account's plan and credits.
func (s *Synthesizer) Account(ctx context.Context) (speech.Account, error) {
	const op = "ask for the account at " + Name
	reply, err := s.client.do(ctx, remote.Call{Op: op, Method: http.MethodGet, Path: "/v1/user/subscription", Limit: maxDescription})
	if err != nil {
		return speech.Account{}, err
	}
	var said struct {
		Tier  string
		Used  int   `json:"character_count"`
		Limit *int  `json:"character_limit"`
		Reset int64 `json:"next_character_count_reset_unix"` // seconds since 1970; 0 or null is never
	}
	if err := json.Unmarshal(reply.Body, &said); err != nil || said.Limit == nil {
		return speech.Account{}, &fault.Error{
			Kind: fault.Transient, Op: op, Code: "bad_reply",
			Err: withID(errors.New("the reply is no subscription"), reply.id), Hint: "check the base URL",
		}
	}
	account := speech.Account{Plan: printable(s.client.Redact(said.Tier)), Used: said.Used, Limit: *said.Limit}
	if said.Reset > 0 {
		account.Resets = time.Unix(said.Reset, 0).UTC()
	}
	return account, nil
}
