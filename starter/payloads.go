package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/config"
)

// dialToStart reaches Temporal for a command that gives workers something to do, and
// refuses where that would be in the clear although the deployment encrypts, or under a
// key that its workers don't have: they would end on it. Close the client.
func (a *app) dialToStart(ctx context.Context, cfg config.Config, store archive.Archive) (client.Client, error) {
	known, err := store.PayloadKeys(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkPayloadKeys(cfg.Payloads.Keys, known); err != nil {
		return nil, err
	}
	return a.dial(ctx, cfg)
}

// checkPayloadKeys compares the keys here with the ids of the deployment's, none where
// it isn't known to encrypt.
func checkPayloadKeys(keys codec.Keys, known []string) error {
	switch {
	case len(known) == 0:
		return nil
	case len(keys) == 0:
		return fmt.Errorf("this deployment encrypts what crosses Temporal, and there is no key here: set %s or %s to the workers' keys", codec.EnvKeys, codec.EnvKeyFile)
	case !slices.Contains(known, keys[0].ID):
		return fmt.Errorf("key %s, the first one here, is none of the deployment's (%s): set %s or %s to the workers' keys; where they are new, run `starter setup` with them first",
			keys[0].ID, strings.Join(known, ", "), codec.EnvKeys, codec.EnvKeyFile)
	}
	return nil
}

// keyIDs are the names of keys, which tell nothing of them.
func keyIDs(keys codec.Keys) []string {
	var ids []string
	for _, key := range keys {
		ids = append(ids, key.ID)
	}
	return ids
}

// notePayloadKeys is the part of setup that says with which keys workers encrypt.
func (a *app) notePayloadKeys(ctx context.Context, cfg config.Config, store archive.Archive, encrypt bool) error {
	keys := cfg.Payloads.Keys
	switch known, err := store.PayloadKeys(ctx); {
	case err != nil:
		return err
	case !encrypt && len(keys) > 0:
		return usagef("--encryption=off: take %s and %s away first", codec.EnvKeys, codec.EnvKeyFile)
	case encrypt && len(keys) == 0 && len(known) > 0:
		return fmt.Errorf("%w, or, where workers have none any more, use --encryption=off", checkPayloadKeys(keys, known))
	case slices.Equal(known, keyIDs(keys)):
		return nil
	case !encrypt:
		fmt.Fprintln(a.out, "payloads: nobody has to encrypt any more")
	default:
		fmt.Fprintf(a.out, "payloads: whoever starts something must encrypt it, with a key of %s\n", strings.Join(keyIDs(keys), ", "))
	}
	return store.SetPayloadKeys(ctx, keyIDs(keys))
}

// checkKeysHere is the doctor's look at the keys of this process. It reports whether
// they fit.
func checkKeysHere(ctx context.Context, cfg config.Config, store archive.Archive, u *checkup) bool {
	keys := cfg.Payloads.Keys
	detail := "none: what crosses Temporal is readable there"
	if len(keys) > 0 {
		detail = fmt.Sprintf("key %s encrypts, %d decrypt", keys[0].ID, len(keys))
	}
	known, err := store.PayloadKeys(ctx)
	if err == nil {
		err = checkPayloadKeys(keys, known)
	}
	if err == nil && len(keys) > 0 && len(known) == 0 {
		detail += "; run `starter setup` with them, and nobody starts anything in the clear"
	}
	u.add(here, "payload keys", detail, err)
	return err == nil
}

// checkKeysThere compares the keys with which workers sealed their answers in a
// diagnosis, by queue, with those here.
func checkKeysThere(keys codec.Keys, sealed map[string]string, queues []string, u *checkup) {
	for _, queue := range queues {
		id, answered := sealed[queue]
		var err error
		switch {
		case !answered, id == "" && len(keys) == 0:
			continue
		case id == "":
			err = errors.New("it answers in the clear: give its workers the payload keys, and restart them")
		case !slices.Contains(keyIDs(keys), id):
			err = fmt.Errorf("it encrypts with key %.32q, which is not here: add that key to %s or %s", id, codec.EnvKeys, codec.EnvKeyFile)
		}
		u.add(queue, "payload keys", "it encrypts with key "+id, err)
	}
}

// sealedBy returns by queue the id of the key with which a worker sealed what it
// answered to a workflow's activities: "" where it is readable.
func sealedBy(ctx context.Context, c client.Client, run client.WorkflowRun) (map[string]string, error) {
	sealed, queues := map[string]string{}, map[int64]string{}
	events := c.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return sealed, fmt.Errorf("read the diagnosis's history: %w", err)
		}
		if scheduled := event.GetActivityTaskScheduledEventAttributes(); scheduled != nil {
			queues[event.GetEventId()] = scheduled.GetTaskQueue().GetName()
		}
		if done := event.GetActivityTaskCompletedEventAttributes(); done != nil {
			for _, p := range done.GetResult().GetPayloads() {
				sealed[queues[done.GetScheduledEventId()]] = codec.KeyID(p)
			}
		}
	}
	return sealed, nil
}
