package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore/s3"
)

func (a *app) setupCommand() *cobra.Command {
	var attributes, encryption string
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Make the bucket and register the search attributes (safe to repeat)",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			on, err := onOff("--search-attributes", attributes)
			if err != nil {
				return err
			}
			encrypt, err := onOff("--encryption", encryption)
			if err != nil {
				return err
			}
			return a.setup(cmd.Context(), on, encrypt)
		},
	}
	cmd.Flags().StringVar(&attributes, "search-attributes", "on", "on, or off where you may not register them: an administrator then does, or use evaluate --search-attributes=off")
	cmd.Flags().StringVar(&encryption, "encryption", "on", "on notes the payload keys' ids in the store, if there are keys here: then nobody starts anything without; off forgets them")
	return cmd
}

func onOff(flag, value string) (bool, error) {
	switch value {
	case "on":
		return true, nil
	case "off":
		return false, nil
	default:
		return false, usagef("%s=%q: use on or off", flag, value)
	}
}

func (a *app) setup(ctx context.Context, attributes, encrypt bool) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	store, err := s3.New(ctx, cfg.Store)
	if err != nil {
		return err
	}
	lines, err := store.EnsureBucket(ctx)
	for _, line := range lines {
		fmt.Fprintln(a.out, line)
	}
	if err != nil {
		return err
	}
	if err := a.notePayloadKeys(ctx, cfg, archive.Archive{Store: store}, encrypt); err != nil || !attributes {
		return err
	}
	c, err := a.dial(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	added, err := registerAttributes(ctx, c, cfg.Temporal.Namespace)
	if err != nil {
		return fmt.Errorf("register search attributes in namespace %q: %w (where you may not, use --search-attributes=off here and with evaluate)", cfg.Temporal.Namespace, err)
	}
	if len(added) == 0 {
		fmt.Fprintf(a.out, "search attributes: all there in namespace %q\n", cfg.Temporal.Namespace)
	} else {
		fmt.Fprintf(a.out, "search attributes: registered %s in namespace %q\n", strings.Join(added, ", "), cfg.Temporal.Namespace)
	}
	return awaitAttributes(ctx, c)
}

// attributesWithin is how long a cluster may take to learn of a registration.
const attributesWithin = 2 * time.Minute

// awaitAttributes waits until Temporal takes the attributes: an evaluation that is
// started before is refused, and its id used up.
func awaitAttributes(ctx context.Context, c client.Client) error {
	var conditions []string
	for _, name := range evaluation.SearchAttributes() {
		conditions = append(conditions, name+" = 'none'")
	}
	query := &workflowservice.CountWorkflowExecutionsRequest{Query: strings.Join(conditions, " AND ")}
	for deadline := time.Now().Add(attributesWithin); ; {
		_, err := c.CountWorkflow(ctx, query)
		var unknown *serviceerror.InvalidArgument
		if err == nil || !errors.As(err, &unknown) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// registerAttributes adds those that the namespace lacks and returns them.
func registerAttributes(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	names, err := missingAttributes(ctx, c, namespace)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	missing := map[string]enumspb.IndexedValueType{}
	for _, name := range names {
		missing[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: missing})
	return names, err
}

// missingAttributes returns the search attributes that the namespace lacks. One that
// is there as something else is an error.
func missingAttributes(ctx context.Context, c client.Client, namespace string) ([]string, error) {
	known, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range evaluation.SearchAttributes() {
		switch kind, ok := known.CustomAttributes[name]; {
		case !ok:
			names = append(names, name)
		case kind != enumspb.INDEXED_VALUE_TYPE_KEYWORD:
			return nil, fmt.Errorf("%s exists as %s, not Keyword", name, kind)
		}
	}
	return names, nil
}
