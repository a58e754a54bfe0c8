package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/people"
)

func (a *app) annotationConsentCommand() *cobra.Command {
	var template bool
	var file string
	cmd := &cobra.Command{
		Use:   "consent (--template | ID --file FILE)",
		Short: "Print a consent text to fill in, or give a study a new one",
		Long: `Print a consent text to fill in, or give a study a new one: everybody has to accept it
again before their next item.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case template && len(args) == 0 && file == "":
				_, err := fmt.Fprint(a.out, people.ConsentTemplate)
				return err
			case len(args) == 1 && file != "" && !template:
				return a.setConsent(cmd.Context(), args[0], file)
			}
			return usagef("say --template, or ID --file FILE")
		},
	}
	cmd.Flags().BoolVar(&template, "template", false, "print a text to fill in")
	cmd.Flags().StringVar(&file, "file", "", "file of the new consent text")
	return cmd
}

func (a *app) setConsent(ctx context.Context, id, file string) error {
	text, err := a.readConsent(file)
	if err != nil {
		return err
	}
	l, err := a.openStudy(ctx, id)
	if err != nil {
		return err
	}
	version, err := l.people.SetConsentText(ctx, id, text)
	if err == nil {
		fmt.Fprintf(a.out, "study %s: the consent text is version %d\n", id, version)
	}
	return err
}

func (a *app) readConsent(path string) (people.ConsentText, error) {
	text, err := a.readText(path)
	if err != nil {
		return people.ConsentText{}, err
	}
	consent, err := people.ParseConsent(text)
	if err != nil {
		return consent, fmt.Errorf("%s: %w", datasetName(path), err)
	}
	return consent, nil
}
