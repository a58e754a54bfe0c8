package elevenlabs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/remote"
	"github.com/speechmanip/speechmanip/internal/secret"
)

// maxDescription is how much is read of a reply that isn't audio, in bytes.
const maxDescription = 1 << 20

// client speaks to the service.
type client struct{ *remote.Service }

func newClient(c Config) (client, error) {
	root, problem := remote.Root(c.BaseURL)
	key := secret.Text(strings.TrimSpace(string(c.APIKey)))
	switch {
	case key == "":
		problem = errors.Join(problem, errors.New("no API key"))
	case strings.ContainsFunc(string(key), func(r rune) bool { return r <= ' ' || r > '~' }):
		problem = errors.Join(problem, errors.New("the API key holds a space or another character that no key has"))
	}
	return client{remote.New(remote.Config{
		Root: root, Key: key, Header: "xi-api-key", Timeout: c.Timeout,
		Hint: "can this worker reach " + root + "?", HTTP: c.HTTP,
	})}, problem
}

// reply is what the service answered.
type reply struct {
	remote.Reply
	id string // the request's, for the service's support; "" when it tells none
}

// number is what a header says, 0 when it says nothing that makes sense.
func (r reply) number(header string) int {
	n, err := strconv.Atoi(r.Header.Get(header))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// withID adds a request's id to an error.
func withID(err error, id string) error {
	if id == "" {
		return err
	}
	return fmt.Errorf("%w, request %s", err, id)
}

// do makes a call and returns a 200. Every other outcome is a fault; a cancelled
// context stays one.
func (c client) do(ctx context.Context, call remote.Call) (reply, error) {
	r, err := c.Do(ctx, call)
	if err != nil {
		return reply{}, err
	}
	out := reply{Reply: r, id: printable(c.Redact(r.Header.Get("request-id")))}
	switch {
	case out.Status != http.StatusOK:
		return reply{}, c.refused(call.Op, out)
	case out.Cut:
		return reply{}, &fault.Error{
			Kind: fault.Transient, Op: call.Op, Code: "reply_too_large",
			Err: withID(fmt.Errorf("the reply is larger than %d bytes", call.Limit), out.id),
		}
	case len(parseError(out.Body).codes) > 0: // some proxies put errors into a 200
		return reply{}, c.refused(call.Op, out)
	}
	return out, nil
}
