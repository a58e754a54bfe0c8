package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/sample"
)

func (a *app) datasetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dataset",
		Short: "Check datasets, or see the built-in one",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(a.datasetCheckCommand(), a.datasetSampleCommand())
	return cmd
}

// needsSubcommand is the action of a command that only groups others.
func needsSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unknown command %q for %q (see `%[2]s --help`)", args[0], cmd.CommandPath())
	}
	return cmd.Help()
}

func (a *app) datasetCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Count a CSV's or JSONL's dialogues and name every problem (FILE - reads standard input)",
		Args:  exactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			dataset, err := a.readDatasetFile(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				encoder := json.NewEncoder(a.out)
				encoder.SetIndent("", "  ")
				err = encoder.Encode(dataset.Validation)
			} else {
				err = dataset.Validation.WriteText(a.out)
			}
			if err != nil {
				return err
			}
			name := datasetName(args[0])
			if err := unusable(dataset.Validation, name); err != nil {
				return err
			}
			if len(dataset.Dialogues) == 0 {
				return fmt.Errorf("%s has no dialogues", name)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) readDatasetFile(path string) (dialogue.Dataset, error) {
	in := io.Reader(a.in)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return dialogue.Dataset{}, err
		}
		defer file.Close()
		in = file
	}
	dataset, err := dialogue.Read(path, in)
	if err != nil {
		return dataset, fmt.Errorf("%s: %w", datasetName(path), err)
	}
	return dataset, nil
}

func datasetName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// unusable says how many rows can't be used; nil if all can.
func unusable(v dialogue.Validation, name string) error {
	n := v.Unusable()
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d rows of %s can't be used", n, v.Dialogues+n, name)
}

func (a *app) datasetSampleCommand() *cobra.Command {
	var training bool
	cmd := &cobra.Command{
		Use:   "sample",
		Short: "Print the built-in sample, as an example of the format",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			text := sample.Dialogues()
			if training {
				text = sample.Training()
			}
			_, err := a.out.Write(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&training, "training", false, "print the built-in training text instead")
	return cmd
}
