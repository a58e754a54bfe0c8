package main

import (
	"context"
	"fmt"
	"net/url"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/objectstore/s3"
	"github.com/speechmanip/speechmanip/internal/telemetry"
)

func (a *app) config() (config.Config, error) {
	cfg, err := config.Load(a.lookup)
	if err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}

// openStore reaches the object store, and only that: what is stored can be read
// without Temporal.
func (a *app) openStore(ctx context.Context) (config.Config, archive.Archive, error) {
	cfg, err := a.config()
	if err != nil {
		return cfg, archive.Archive{}, err
	}
	store, err := s3.New(ctx, cfg.Store)
	if err != nil {
		return cfg, archive.Archive{}, err
	}
	return cfg, archive.Archive{Store: store}, store.Check(ctx)
}

// dial reaches Temporal. Close the client.
func (a *app) dial(ctx context.Context, cfg config.Config) (client.Client, error) {
	options := cfg.Temporal
	payloads, err := codec.New(cfg.Payloads.Keys)
	if err != nil {
		return nil, err
	}
	options.DataConverter, options.FailureConverter = payloads.DataConverter(), payloads.FailureConverter()
	options.Logger = telemetry.SDK(zap.NewNop())
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("connect to Temporal at %s, namespace %q: %w (is it running? set TEMPORAL_ADDRESS)", options.HostPort, options.Namespace, err)
	}
	return c, nil
}

// connect reads the configuration and reaches Temporal. Close the client.
func (a *app) connect(ctx context.Context) (config.Config, client.Client, error) {
	cfg, err := a.config()
	if err != nil {
		return cfg, nil, err
	}
	c, err := a.dial(ctx, cfg)
	return cfg, c, err
}

// webLink is where the Web UI shows a workflow.
func webLink(cfg config.Config, workflowID, runID string) string {
	link := fmt.Sprintf("%s/namespaces/%s/workflows/%s", cfg.UI, url.PathEscape(cfg.Temporal.Namespace), url.PathEscape(workflowID))
	if runID != "" {
		link += "/" + url.PathEscape(runID) + "/history"
	}
	return link
}
