package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// storeMargin is how much longer a claim lives than the call made under it: time
// to look into the store again and to put the result there.
const storeMargin = 30 * time.Second

// claimedDelay is how soon work that another holds is looked for again.
const claimedDelay = 2 * time.Second

// Once does costly work once for each key: what is stored is never made again,
// and what somebody else is making is waited for.
type Once struct {
	Store objectstore.Store
	Log   *zap.Logger
	Now   func() time.Time
}

// Object is what a maker returns.
type Object struct {
	Body        []byte
	ContentType string
}

// Do returns the ref of the object under key, and whether it was made now.
// Lifetime bounds the making; it must exceed the longest call in it. Do returns
// a *objectstore.ClaimedError while another makes it.
//
// Every call of make is logged when it begins and when its result is stored, so
// that the log shows what was in flight when a worker died.
func (o Once) Do(ctx context.Context, key string, lifetime time.Duration, make func(context.Context) (Object, error)) (objectstore.Ref, bool, error) {
	if ref, err := o.Store.Stat(ctx, key); !errors.Is(err, objectstore.ErrNotFound) {
		return ref, false, err
	}
	claim, err := objectstore.Acquire(ctx, o.Store, key, owner(ctx), o.Now(), lifetime+storeMargin)
	if err != nil {
		return objectstore.Ref{}, false, err
	}
	defer o.release(ctx, claim)
	if !claim.First { // the last holder may have stored it between the look and the claim
		if ref, err := o.Store.Stat(ctx, key); !errors.Is(err, objectstore.ErrNotFound) {
			return ref, false, err
		}
	}

	bounded, cancel := context.WithTimeout(ctx, lifetime)
	defer cancel()
	log := o.Log.With(fieldsOf(ctx)...).With(zap.String("key", key))
	log.Info("call")
	object, err := make(bounded)
	if err != nil {
		log.Info("call failed", zap.Error(err))
		return objectstore.Ref{}, false, err
	}
	ref, err := objectstore.PutBytes(ctx, o.Store, key, object.Body, objectstore.PutOptions{ContentType: object.ContentType, IfAbsent: true})
	if errors.Is(err, objectstore.ErrExists) {
		// A claim that ran out: whoever took it over has stored theirs. Or a lost reply:
		// the store client tried again, and met its own.
		log.Info("stored before")
		ref, err = o.Store.Stat(ctx, key)
		return ref, false, err
	}
	if err != nil {
		log.Warn("not stored", zap.Error(err)) // it may be: the reply was lost, then
		return objectstore.Ref{}, true, err
	}
	log.Info("stored")
	return ref, true, nil
}

// release lets go of a claim even when the activity was cancelled meanwhile. A
// failure only makes others wait for the expiry.
func (o Once) release(ctx context.Context, claim objectstore.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := claim.Release(ctx); err != nil {
		o.Log.Warn("claim not released", zap.String("key", claim.Key), zap.Error(err))
	}
}

// owner names the activity of the dialogue, the same in all its attempts.
func owner(ctx context.Context) string {
	info := activity.GetInfo(ctx)
	return info.WorkflowExecution.ID + "#" + info.ActivityID
}
