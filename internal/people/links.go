package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"time"

	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/secret"
)

// ErrNoLink says that a token is nobody's, or no more.
var ErrNoLink = errors.New("this link is not valid")

// Link is whom a token lets in.
type Link struct {
	Study     string    `json:"study"`
	Pseudonym string    `json:"pseudonym,omitempty"` // "" for the study's leader
	Leader    bool      `json:"leader,omitempty"`
	Created   time.Time `json:"created"`
}

// Only a token's hash is stored: who reads the store can't let themselves in.
func hashOf(token secret.Text) string {
	sum := sha256.Sum256([]byte("speechmanip link 1:" + string(token)))
	return hex.EncodeToString(sum[:])
}

func linkKey(hash string) string { return "people/links/" + hash + ".json" }

var tokenPattern = regexp.MustCompile(`^[A-Z2-7]{26,64}$`)

// NewLink gives an annotator a new token, of at least 128 random bits, and revokes the
// one they had. It is shown once: only its hash is kept.
func (r Registry) NewLink(ctx context.Context, study, pseudonym string) (secret.Text, error) {
	stored, err := get[person](ctx, r.Store, personKey(study, pseudonym))
	if err != nil {
		return "", err
	}
	token, err := r.putLink(ctx, Link{Study: study, Pseudonym: pseudonym})
	if err != nil {
		return "", err
	}
	before := stored.Link
	stored.Link = hashOf(token)
	if err := put(ctx, r.Store, personKey(study, pseudonym), stored); err != nil {
		return "", err
	}
	return token, r.deleteLink(ctx, before)
}

// NewLeaderLink makes a token for the study's leader. Each stays valid until it is
// revoked by RevokeLeader.
func (r Registry) NewLeaderLink(ctx context.Context, study string) (secret.Text, error) {
	return r.putLink(ctx, Link{Study: study, Leader: true})
}

func (r Registry) putLink(ctx context.Context, link Link) (secret.Text, error) {
	token := secret.Text(rand.Text())
	link.Created = r.Now().UTC()
	_, err := objectstore.PutJSON(ctx, r.Store, linkKey(hashOf(token)), link, objectstore.PutOptions{IfAbsent: true})
	return token, err
}

func (r Registry) deleteLink(ctx context.Context, hash string) error {
	if hash == "" {
		return nil
	}
	return r.Store.Delete(ctx, linkKey(hash))
}

// Find returns whom a token lets in, ErrNoLink for any other text. Whether an annotator
// is still in the study is for the study to say.
func (r Registry) Find(ctx context.Context, token secret.Text) (Link, error) {
	if !tokenPattern.MatchString(string(token)) {
		return Link{}, ErrNoLink
	}
	link, err := get[Link](ctx, r.Store, linkKey(hashOf(token)))
	if errors.Is(err, objectstore.ErrNotFound) {
		return Link{}, ErrNoLink
	}
	return link, err
}

// Revoke ends an annotator's link.
func (r Registry) Revoke(ctx context.Context, study, pseudonym string) error {
	stored, err := get[person](ctx, r.Store, personKey(study, pseudonym))
	if err != nil {
		return err
	}
	if err := r.deleteLink(ctx, stored.Link); err != nil {
		return err
	}
	stored.Link = ""
	return put(ctx, r.Store, personKey(study, pseudonym), stored)
}

// RevokeLeader ends one of the leader's links.
func (r Registry) RevokeLeader(ctx context.Context, token secret.Text) error {
	return r.deleteLink(ctx, hashOf(token))
}
