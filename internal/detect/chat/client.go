package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/secret"
)

// maxReply bounds what is read of a reply, in bytes. A thousand candidates are
// about 100 kB, a whole vocabulary can be 25 MB.
const maxReply = 32 << 20

// client speaks HTTP to one server. The key lives in closures only, so that no
// print of a client shows it.
type client struct {
	http      *http.Client
	root      string // without /v1
	name      string // where there are several: errors must not repeat an address
	keyHint   string // what to do about a key that isn't taken
	timeout   time.Duration
	authorize func(*http.Request)
	redact    func(string) string
}

func newClient(c Config, address string) (*client, error) {
	root, err := serverRoot(address)
	if err != nil {
		return nil, err
	}
	key := secret.Text(strings.TrimSpace(string(c.APIKey)))
	base := http.Client{}
	if c.HTTP != nil {
		base = *c.HTTP
	}
	// A redirect would carry the clip, and the key, to somewhere else.
	base.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	hint := "check the chat server's key, then resume"
	if c.KeyName != "" {
		hint = fmt.Sprintf("set %s for this worker to a key that the server takes, restart it, then resume", c.KeyName)
	}
	return &client{
		http: &base, root: root, keyHint: hint, timeout: c.Timeout,
		authorize: func(r *http.Request) {
			if key != "" {
				r.Header.Set("Authorization", "Bearer "+string(key))
			}
		},
		redact: key.Redact,
	}, nil
}

// serverRoot returns a server's address without /v1. The error never repeats the
// address: somebody may have put a key into it.
func serverRoot(base string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	switch {
	case err != nil:
		return "", errors.New("chat server: its address can't be read: use http://host:port or https://host/v1")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("chat server: its address must be http://host:port or https://host/v1")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", errors.New("chat server: its address must hold no user, query or fragment: a key has a setting of its own")
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}

// seedTries bounds how often logprobs that didn't come are asked for again.
const seedTries = 3

// at says where something is tried, where there are several servers.
func (c *client) at(op string) string {
	if c.name == "" {
		return op
	}
	return op + " at " + c.name
}

// complete makes one completion. llama-server leaves logprobs out when the token
// that it drew ends inside a character; another seed draws another one, and the
// probabilities are the same.
func (c *client) complete(ctx context.Context, op string, r request) (reply, error) {
	op = c.at(op)
	for try := 0; ; try++ {
		out, err := c.chat(ctx, op, r)
		if err != nil || !r.Logprobs || out.hasFirst || try == seedTries {
			return out, err
		}
		r.Seed++
	}
}

// chat sends one request for a completion.
func (c *client) chat(ctx context.Context, op string, r request) (reply, error) {
	detect.CountRequest(ctx)
	data, err := c.do(ctx, op, http.MethodPost, "/v1/chat/completions", r)
	if err != nil {
		return reply{}, err
	}
	out, err := parseReply(data)
	if err != nil {
		return reply{}, &fault.Error{Kind: fault.Transient, Op: op, Code: "bad_reply", Err: errors.New(c.redact(err.Error()))}
	}
	return out, nil
}

// do sends a request, with body as JSON unless it is nil, and returns the body of
// a 200. Every other outcome is a fault; a cancelled context stays one.
func (c *client) do(ctx context.Context, op, method, path string, body any) ([]byte, error) {
	var payload io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, fault.Permanentf(op, "bad_request", "%w", err)
		}
		payload = bytes.NewReader(data)
	}
	inner, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(inner, method, c.root+path, payload)
	if err != nil {
		return nil, fault.Permanentf(op, "bad_request", "%s", c.redact(err.Error()))
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	c.authorize(r)
	response, err := c.http.Do(r)
	if err != nil {
		return nil, c.broken(ctx, inner, op, err)
	}
	defer func() { _ = response.Body.Close() }() // read to its end, or given up
	data, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, c.broken(ctx, inner, op, err)
	case len(data) > maxReply:
		return nil, fault.Permanentf(op, "reply_too_large", "the reply is larger than %d bytes", maxReply)
	}
	// Redacted first: what is cut short later could keep half a key.
	if f := classify(response.StatusCode, response.Header, []byte(c.redact(string(data)))); f != nil {
		f.Op = op
		if f.Code == codeUnauthorized {
			f.Hint = c.keyHint
		}
		return nil, f
	}
	return data, nil
}

// broken is a request that ended without a whole reply.
func (c *client) broken(ctx, inner context.Context, op string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", op, ctx.Err())
	case inner.Err() != nil:
		return &fault.Error{Kind: fault.Transient, Op: op, Code: "timeout", Err: fmt.Errorf("no reply within %s", c.timeout)}
	default:
		return &fault.Error{
			Kind: fault.Transient, Op: op, Code: codeConnection, Err: errors.New(c.redact(err.Error())),
			Hint: "is the server up and reachable from this worker?",
		}
	}
}
