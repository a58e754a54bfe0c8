package chat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/remote"
	"github.com/speechmanip/speechmanip/internal/secret"
)

// maxReply bounds what is read of a reply, in bytes. A thousand candidates are
// about 100 kB, a whole vocabulary can be 25 MB.
const maxReply = 32 << 20

// client speaks to one server.
type client struct {
	*remote.Service
	name    string // where there are several: errors must not repeat an address
	keyHint string // what to do about a key that isn't taken
}

func newClient(c Config, address string) (*client, error) {
	root, err := remote.Root(address)
	if err != nil {
		return nil, fmt.Errorf("chat server: %w", err)
	}
	hint := "check the chat server's key, then resume"
	if c.KeyName != "" {
		hint = fmt.Sprintf("set %s for this worker to a key that the server takes, restart it, then resume", c.KeyName)
	}
	return &client{keyHint: hint, Service: remote.New(remote.Config{
		Root: root, Key: secret.Text(strings.TrimSpace(string(c.APIKey))), Header: "Authorization", Scheme: "Bearer ",
		Timeout: c.Timeout, Hint: "is the server up and reachable from this worker?", HTTP: c.HTTP,
	})}, nil
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
		return reply{}, &fault.Error{Kind: fault.Transient, Op: op, Code: "bad_reply", Err: errors.New(c.Redact(err.Error()))}
	}
	detect.CountTokens(ctx, out.promptTokens, out.replyTokens)
	return out, nil
}

// do sends a request, with body as JSON unless it is nil, and returns the body of
// a 200. Every other outcome is a fault; a cancelled context stays one.
func (c *client) do(ctx context.Context, op, method, path string, body any) ([]byte, error) {
	r, err := c.Do(ctx, remote.Call{Op: op, Method: method, Path: path, Body: body, Limit: maxReply})
	if err != nil {
		return nil, err
	}
	// Redacted first: what is cut short later could keep half a key.
	if f := classify(r.Status, r.Header, []byte(c.Redact(string(r.Body)))); f != nil {
		f.Op = op
		if f.Code == codeUnauthorized {
			f.Hint = c.keyHint
		}
		return nil, f
	}
	if r.Cut {
		return nil, fault.Permanentf(op, "reply_too_large", "the reply is larger than %d bytes", maxReply)
	}
	return r.Body, nil
}
