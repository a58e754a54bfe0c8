package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// PayloadKeys returns the ids of the keys with which a deployment encrypts what crosses
// Temporal, the first of which encrypts; none where nobody has said that it does.
func (a Archive) PayloadKeys(ctx context.Context) ([]string, error) {
	ref, err := a.Store.Stat(ctx, evaluation.PayloadKeysKey)
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return objectstore.GetJSON[[]string](ctx, a.Store, ref)
}

// SetPayloadKeys says so for all who start something; none says that nothing is
// encrypted.
func (a Archive) SetPayloadKeys(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return a.Store.Delete(ctx, evaluation.PayloadKeysKey)
	}
	data, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("note the payload keys: %w", err)
	}
	_, err = a.put(ctx, evaluation.PayloadKeysKey, data, "application/json")
	return err
}
