package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect/baseline"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/sample"
)

func (a *app) baselineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Train the baseline detectors",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(a.baselineTrainCommand(), a.baselineShowCommand())
	return cmd
}

// training is what the flags of baseline train ask for.
type training struct {
	dataset, heldOut, clips, out string
	json                         bool
}

func (a *app) baselineTrainCommand() *cobra.Command {
	var t training
	cmd := &cobra.Command{
		Use:   "train --out MODEL",
		Short: "Train and evaluate the baselines on a dataset; the same input gives the same model",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if t.out == "" {
				return usagef("--out is missing: the file that the model is written to")
			}
			return a.train(cmd.Context(), t)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&t.dataset, "dataset", "", "CSV or JSONL with truth; without it the built-in training text")
	f.StringVar(&t.out, "out", "", "file that the model is written to")
	f.StringVar(&t.heldOut, "held-out", "", "file of ids that must not be used (a CSV with an ID column, or one a line)")
	f.StringVar(&t.clips, "clips", "", "folder of the dialogues' clips, for baseline-prosody")
	f.BoolVar(&t.json, "json", false, "print the evaluation as JSON")
	return cmd
}

func (a *app) train(ctx context.Context, t training) error {
	options, err := t.options()
	if err != nil {
		return err
	}
	if err := checkOut(t.out); err != nil {
		return err
	}
	model, evaluation, err := baseline.Train(ctx, options)
	if err != nil {
		return err
	}
	err = writeFile(t.out, func(w io.Writer) error {
		_, err := w.Write(model.Encode())
		return err
	})
	if err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	if t.dataset == "" {
		fmt.Fprintln(a.err, "note: no --dataset: trained on the built-in training text, the project's own writing")
	} else {
		fmt.Fprintln(a.err, "note: the model is bound by its dataset's licence (MentalManip: CC BY-NC 4.0)")
	}
	if n := len(options.HeldOut); n > 0 && evaluation.Parts.HeldOut == 0 {
		fmt.Fprintf(a.err, "note: none of the %d ids to hold out is in the dataset\n", n)
	}
	if t.json {
		return json.NewEncoder(a.out).Encode(evaluation)
	}
	fmt.Fprint(a.out, evaluation.String())
	fmt.Fprintf(a.out, "model %s written to %s; use it: starter evaluate --model %[2]s\n", model.Hash(), t.out)
	return nil
}

// checkOut finds out before the training, not after it, that a file can't be
// written. It leaves the file that may be there as it is.
func checkOut(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("--out %s: is no regular file", path)
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".starter-*")
	if err != nil {
		return fmt.Errorf("--out %s: can't be written: %w", path, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func (t training) options() (baseline.TrainOptions, error) {
	text, name := sample.Training(), "built-in training text"
	if t.dataset != "" {
		var err error
		if text, err = readFile(t.dataset, dialogue.MaxFileBytes); err != nil {
			return baseline.TrainOptions{}, fmt.Errorf("--dataset: %w", err)
		}
		name = filepath.Base(t.dataset)
	}
	dataset, err := dialogue.Read(t.dataset, bytes.NewReader(text))
	if err != nil {
		return baseline.TrainOptions{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := unusable(dataset.Validation, name); err != nil {
		return baseline.TrainOptions{}, fmt.Errorf("%w: `starter dataset check` names them", err)
	}
	sum := sha256.Sum256(text)
	options := baseline.TrainOptions{Dialogues: dataset.Dialogues, DatasetName: name, DatasetSHA256: hex.EncodeToString(sum[:])}
	if t.heldOut != "" {
		file, err := os.Open(t.heldOut)
		if err != nil {
			return options, fmt.Errorf("--held-out: %w", err)
		}
		defer file.Close()
		if options.HeldOut, err = baseline.ReadIDs(file); err != nil {
			return options, fmt.Errorf("--held-out %s: %w", t.heldOut, err)
		}
		if len(options.HeldOut) == 0 {
			return options, fmt.Errorf("--held-out %s: holds no ids", t.heldOut)
		}
	}
	if t.clips != "" {
		clips, err := findClips(t.clips)
		if err != nil {
			return options, err
		}
		options.Clips = map[string]func(context.Context) (audio.PCM, error){}
		for id, path := range clips {
			options.Clips[id] = func(context.Context) (audio.PCM, error) { return decodeFile(path) }
		}
	}
	return options, nil
}

func decodeFile(path string) (audio.PCM, error) {
	file, err := os.Open(path)
	if err != nil {
		return audio.PCM{}, err
	}
	defer file.Close()
	pcm, _, err := audio.DecodeReader(file)
	if err != nil {
		return pcm, fmt.Errorf("%s: %w", path, err)
	}
	return pcm, nil
}

func (a *app) baselineShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show MODEL",
		Short: "Say what a model was trained on and which detectors it has",
		Args:  exactArgs("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := readFile(args[0], maxModel)
			if err != nil {
				return err
			}
			model, err := baseline.Load(file)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			dataset := model.Dataset()
			fmt.Fprintf(a.out, "model %s\ntrained on %q, SHA-256 %s\ndetectors: %s\n",
				model.Hash(), dataset.Name, dataset.SHA256, strings.Join(model.Detectors(), ", "))
			return nil
		},
	}
}
