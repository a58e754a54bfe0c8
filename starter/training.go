package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/sample"
)

// trainBuiltIn trains on the built-in training text: seconds, and always the
// same model.
func trainBuiltIn(ctx context.Context) (*baseline.Model, error) {
	text := sample.Training()
	dataset, err := dialogue.ReadCSV(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("built-in training text: %w", err)
	}
	sum := sha256.Sum256(text)
	model, _, err := baseline.Train(ctx, baseline.TrainOptions{
		Dialogues:     dataset.Dialogues,
		DatasetName:   "built-in training text",
		DatasetSHA256: hex.EncodeToString(sum[:]),
	})
	return model, err
}
