package activities

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// CodeLost is the code of the permanent fault that what should be stored is gone or
// damaged and can be made again: by the dialogue's stages, begun again from the
// first, as each makes what it doesn't find.
const CodeLost = "object_lost"

// removalLifetime bounds the second look at a damaged object and its removal.
const removalLifetime = 5 * time.Minute

// Remaking is a store in which a damaged object that can be made again is removed
// when it is read: then it is missing, and so it is made again. What can't be made
// again stays, and its error names it.
type Remaking struct {
	objectstore.Store
	Log *zap.Logger
	Now func() time.Time
}

// remakeable reports whether the stages of a dialogue make what lies under key.
func remakeable(key string) bool {
	if strings.HasPrefix(key, "clips/source-") {
		return false
	}
	for _, prefix := range []string{"turns/", "clips/", "transcripts/", "quality/", "prepared/", "passes/"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// Open reads what can be made again whole, so that damage is found before a decoder
// stumbles over it. The fault of what is lost has CodeLost.
func (r Remaking) Open(ctx context.Context, ref objectstore.Ref) (io.ReadCloser, error) {
	if !remakeable(ref.Key) {
		return r.Store.Open(ctx, ref)
	}
	data, err := objectstore.Bytes(ctx, r.Store, ref)
	switch {
	case errors.Is(err, objectstore.ErrNotFound):
		err = lost(ref.Key, err)
	case errors.Is(err, objectstore.ErrCorrupt):
		err = cmp.Or(r.remove(ctx, ref.Key), lost(ref.Key, err))
	}
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Stat returns a ref with a hash also for what another tool put there, such as a
// restored backup: keys of what comes next are made of it.
func (r Remaking) Stat(ctx context.Context, key string) (objectstore.Ref, error) {
	ref, err := r.Store.Stat(ctx, key)
	if err != nil || ref.SHA256 != "" || !remakeable(key) {
		return ref, err
	}
	data, err := objectstore.Bytes(ctx, r.Store, ref)
	if err != nil {
		return objectstore.Ref{}, err
	}
	sum := sha256.Sum256(data)
	ref.SHA256 = hex.EncodeToString(sum[:])
	return ref, nil
}

// remove deletes a damaged object; nil too where nothing damaged is there any more.
//
// Whoever makes an object again holds its claim until it is stored, so the second
// look and the removal are made under the claim: what is good by then isn't removed.
// No condition on the removal itself could do that, as the hash and the ETag that a
// store keeps of damaged bytes are those of the good ones. The second look goes by the
// object's own hash: bytes other than a ref's may just be another making's.
func (r Remaking) remove(ctx context.Context, key string) error {
	claim, err := objectstore.Acquire(ctx, r.Store, key, owner(ctx)+"#remove", r.Now(), removalLifetime)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = claim.Release(ctx) // else it expires
	}()
	ctx, cancel := context.WithTimeout(ctx, removalLifetime)
	defer cancel()
	_, err = objectstore.Bytes(ctx, r.Store, objectstore.Ref{Key: key})
	switch {
	case errors.Is(err, objectstore.ErrCorrupt):
		r.Log.Warn("a damaged object is removed, to be made again", zap.String("key", key), zap.Error(err))
		return r.Delete(ctx, key)
	case errors.Is(err, objectstore.ErrNotFound):
		return nil
	}
	return err
}

func lost(key string, cause error) error {
	for _, sentinel := range []error{objectstore.ErrNotFound, objectstore.ErrCorrupt} {
		if errors.Is(cause, sentinel) {
			cause = sentinel
		}
	}
	return &fault.Error{
		Kind: fault.Permanent, Op: fmt.Sprintf("object %q", key), Code: CodeLost, Err: cause,
		Hint: "evaluating its dialogue again makes it again",
	}
}
