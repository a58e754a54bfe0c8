package chat

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/remote"
)

func newClients(c Config) ([]*client, error) {
	if len(c.BaseURLs) == 0 {
		return nil, errors.New("chat server: no address is given")
	}
	var out []*client
	var errs []error
	for i, address := range c.BaseURLs {
		server, err := newClient(c, address)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(c.BaseURLs) > 1 {
			server.name = fmt.Sprintf("server %d", i+1)
		}
		out = append(out, server)
	}
	return out, errors.Join(errs...)
}

// Probe asks every server what it is and can do, anew every time. Servers that
// differ in what shapes answers are a permanent fault.
func (d *Detector) Probe(ctx context.Context) (Capabilities, error) {
	var all []Capabilities
	for _, server := range d.servers {
		caps, err := d.probe(ctx, server)
		if err != nil {
			return Capabilities{}, err
		}
		all = append(all, caps)
	}
	return together(all)
}

// together returns what servers that are alike can do, each of them.
func together(all []Capabilities) (Capabilities, error) {
	out := all[0]
	for i, c := range all[1:] {
		for _, same := range []struct{ what, first, other string }{
			{"dialect", string(out.Dialect), string(c.Dialect)},
			{"model", out.Model, c.Model},
			{"fingerprint", out.Fingerprint, c.Fingerprint},
			{"decision method", out.decisionMethod(), c.decisionMethod()},
			{"tactic method", out.tacticMethod(), c.tacticMethod()},
			{"hearing", out.Audio.rule(), c.Audio.rule()},
		} {
			if same.first != same.other {
				return Capabilities{}, &fault.Error{
					Kind: fault.Permanent, Op: "probe the chat servers", Code: "servers_differ",
					Err:  fmt.Errorf("their %s differs: server 1 has %q, server %d has %q", same.what, same.first, i+2, same.other),
					Hint: "give a worker only servers with the same program, model and settings",
				}
			}
		}
		if c.Context > 0 && (out.Context == 0 || c.Context < out.Context) {
			out.Context = c.Context
		}
		out.Slots += c.Slots
		out.PrefixCache = out.PrefixCache && c.PrefixCache
		out.Samplers = out.Samplers && c.Samplers
		for _, note := range c.Notes {
			if !slices.Contains(out.Notes, note) {
				out.Notes = append(out.Notes, note)
			}
		}
	}
	out.Servers = len(all)
	return out, nil
}

// ranked returns the servers in the order in which they are asked about a target:
// the same for every question about it, and its own for every target, by
// rendezvous hashing. A server more or less moves only its own share.
func (d *Detector) ranked(t target) []*client {
	if len(d.servers) == 1 {
		return d.servers
	}
	score := func(s *client) []byte {
		sum := sha256.Sum256([]byte(s.Root() + "\x00" + t.clip.hash + "\x00" + t.text))
		return sum[:]
	}
	out := slices.Clone(d.servers)
	slices.SortStableFunc(out, func(a, b *client) int {
		return cmp.Or(bytes.Compare(score(b), score(a)), cmp.Compare(a.name, b.name))
	})
	return out
}

// complete asks the target's server, or the next one where that can't be reached.
func (d *Detector) complete(ctx context.Context, op string, t target, r request) (reply, error) {
	var first error
	for _, server := range d.ranked(t) {
		out, err := server.complete(ctx, op, r)
		if err == nil || ctx.Err() != nil || !absent(err) {
			return out, err
		}
		first = cmp.Or(first, err)
	}
	return reply{}, first
}

// absent reports whether a server is not there now, whatever it is asked.
func absent(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Code == remote.CodeConnection || f.Code == codeLoading)
}
