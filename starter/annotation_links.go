package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/secret"
)

// linkOptions are the flags of annotation links.
type linkOptions struct {
	base, out, annotator string
	renew, leader        bool
}

func (a *app) annotationLinksCommand() *cobra.Command {
	var o linkOptions
	cmd := &cobra.Command{
		Use:   "links ID --base-url URL --out FILE",
		Short: "Make personal links that let annotators in, and write them to a file",
		Long: `Make a personal link for each annotator who has none, and write pseudonym, contact and
link to a file that only you can read. A link is shown this once: the store has a hash.
Who has a link acts as its annotator, so send each to its person alone.`,
		Args: exactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.links(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.base, "base-url", "", "where the page is reached, e.g. https://study.example.org")
	f.StringVar(&o.out, "out", "", "the file to be written; it must not exist")
	f.StringVar(&o.annotator, "annotator", "", "only this pseudonym, whose earlier link is revoked")
	f.BoolVar(&o.renew, "renew", false, "new links for all; the earlier ones are revoked")
	f.BoolVar(&o.leader, "leader", false, "a link for you, the study's leader, in place of the annotators'")
	return cmd
}

func (a *app) links(ctx context.Context, id string, o linkOptions) error {
	if o.base == "" || o.out == "" {
		return usagef("--base-url and --out are needed: where the page is, and the file for the links")
	}
	l, err := a.openStudy(ctx, id)
	if err != nil {
		return err
	}
	var persons []people.Person
	if !o.leader {
		if persons, err = l.people.List(ctx, id); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(o.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := writeLinks(ctx, file, l.people, id, persons, o)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		fmt.Fprintf(a.out, "study %s: %d links written to %s\n", id, n, o.out)
	}
	return err
}

// writeLinks makes the links that are asked for. Each is written as soon as it is made:
// the one before it is revoked by then.
func writeLinks(ctx context.Context, w io.Writer, registry people.Registry, id string, persons []people.Person, o linkOptions) (int, error) {
	rows := csv.NewWriter(w)
	write := func(pseudonym, contact string, token secret.Text) error {
		_ = rows.Write([]string{pseudonym, contact, linkTo(o.base, token)}) // its error is the flush's
		rows.Flush()
		return rows.Error()
	}
	if o.leader {
		token, err := registry.NewLeaderLink(ctx, id)
		if err != nil {
			return 0, err
		}
		return 1, write("leader", "", token)
	}
	n := 0
	for _, p := range persons {
		if o.annotator != "" && p.Pseudonym != o.annotator || o.annotator == "" && p.Linked && !o.renew {
			continue
		}
		token, err := registry.NewLink(ctx, id, p.Pseudonym)
		if err != nil {
			return n, err
		}
		if err := write(p.Pseudonym, p.Contact, token); err != nil {
			return n, err
		}
		n++
	}
	if o.annotator != "" && n == 0 {
		return 0, fmt.Errorf("study %s has no annotator %q", id, o.annotator)
	}
	return n, nil
}

// linkTo is the address that a token is opened under. The token stands behind the #,
// which browsers don't send: so it is in no server's or proxy's log.
func linkTo(base string, token secret.Text) string {
	return strings.TrimSuffix(base, "/") + "/enter#" + string(token)
}
