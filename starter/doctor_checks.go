package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/s3"
	"github.com/speechmanip/speechmanip/workflows"
)

const here = "here"

// checkStore checks the store from here and puts the detector's model there, as
// evaluate does: workers read it from there. It reports whether workers may be asked
// with the payload keys that are here.
func checkStore(ctx context.Context, cfg config.Config, p *plan, u *checkup) bool {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	store, err := s3.New(ctx, cfg.Store)
	if err == nil {
		err = store.Check(ctx)
	}
	u.add(here, "bucket", fmt.Sprintf("%q is there", cfg.Store.Bucket), err)
	if err != nil {
		return true // as far as is known
	}
	keysFit := checkKeysHere(ctx, cfg, archive.Archive{Store: store}, u)
	err = objectstore.Try(ctx, store, evaluation.DiagnosisKey("here-"+rand.Text()))
	u.add(here, "store", "written and read", err)
	if err == nil && p.model != nil {
		p.spec.Detection.Model, err = archive.Archive{Store: store}.PutModel(ctx, p.model)
		if err != nil {
			u.add(here, "detector's model", "", err)
		}
	}
	return keysFit
}

// checkTemporal returns a client, nil where there is no use in asking more.
func (a *app) checkTemporal(ctx context.Context, cfg config.Config, attributes bool, u *checkup) client.Client {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c, err := a.dial(ctx, cfg)
	u.add(here, "Temporal", cfg.Temporal.HostPort+" answers", err)
	if err != nil {
		return nil
	}
	namespace := cfg.Temporal.Namespace
	_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	var missing *serviceerror.NamespaceNotFound
	if errors.As(err, &missing) {
		err = fmt.Errorf("%q doesn't exist: have it made, or set TEMPORAL_NAMESPACE", namespace)
	}
	u.add(here, "namespace", fmt.Sprintf("%q is there", namespace), err)
	if err != nil {
		c.Close()
		return nil
	}
	if attributes {
		names, err := missingAttributes(ctx, c, namespace)
		if err == nil && len(names) > 0 {
			err = fmt.Errorf("%s missing: run `starter setup`, or use --search-attributes=off here and with evaluate", strings.Join(names, ", "))
		}
		u.add(here, "search attributes", "all there", err)
	}
	return c
}

// checkWorkers asks who polls the queues, and then the workers themselves.
func checkWorkers(ctx context.Context, c client.Client, keys codec.Keys, p plan, u *checkup) {
	queues := queuesOf(p.spec)
	ask := []string{}
	served := map[string]bool{}
	for _, q := range queues {
		polled, err := pollers(ctx, c, q)
		served[q.name] = polled.workers > 0
		if err == nil && polled.workers == 0 {
			err = errors.New(q.String())
		}
		u.add(q.name, "workers", polled.String(), err)
		if served[q.name] {
			ask = append(ask, q.name)
		}
	}
	if !served[evaluation.QueueMain] {
		u.add(here, "the workers' own checks", "", fmt.Errorf("not made: they take a worker of queue %q", evaluation.QueueMain))
		return
	}
	diagnosis, sealed, err := diagnose(ctx, c, evaluation.DiagnoseInput{Spec: p.spec, Queues: ask})
	checkKeysThere(keys, sealed, ask, u)
	if err != nil {
		u.add(here, "the workers' own checks", "", err)
		return
	}
	for _, q := range diagnosis.Queues {
		if q.Unserved {
			q.Findings = nil
			u.add(q.Queue, "workers", "", errors.New("no worker took the question within 5 s: they ended a moment ago, lack a payload key (their logs say so), or have no slot free"))
		}
		u.addAll(q.Queue, q.Examined)
	}
}

// polled is who asked a queue for work. Temporal remembers workers for a few minutes
// after they ended.
type polled struct {
	workers int
	last    time.Time // by Temporal's clock
}

func (p polled) String() string {
	// Not below nothing: that clock may be another one.
	return fmt.Sprintf("%d known, asked for work %s ago", p.workers, max(0, time.Since(p.last)).Round(time.Second))
}

// pollers returns who polls a queue.
func pollers(ctx context.Context, c client.Client, q queue) (polled, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	described, err := c.DescribeTaskQueue(ctx, q.name, q.kind)
	if err != nil {
		return polled{}, fmt.Errorf("ask Temporal about queue %q: %w", q.name, err)
	}
	p := polled{workers: len(described.GetPollers())}
	for _, poller := range described.GetPollers() {
		if at := poller.GetLastAccessTime().AsTime(); at.After(p.last) {
			p.last = at
		}
	}
	return p, nil
}

// diagnoseLimit is longer than the workflow takes where anybody runs it.
const diagnoseLimit = 30 * time.Second

// diagnose has the workers look for themselves. It returns too by queue the id of the
// key that sealed the answer.
func diagnose(ctx context.Context, c client.Client, in evaluation.DiagnoseInput) (evaluation.Diagnosis, map[string]string, error) {
	var out evaluation.Diagnosis
	ctx, cancel := context.WithTimeout(ctx, diagnoseLimit)
	defer cancel()
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                       evaluation.DiagnosisWorkflowID(newID(time.Now())),
		TaskQueue:                evaluation.QueueMain,
		WorkflowExecutionTimeout: diagnoseLimit,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:            "what the workers find",
	}, workflows.Diagnose, in)
	if err != nil {
		return out, nil, fmt.Errorf("start the diagnosis: %w", err)
	}
	if err := run.Get(ctx, &out); err != nil && ctx.Err() != nil {
		return out, nil, fmt.Errorf("no worker of queue %q finished it within %s: they ended a moment ago, or lack a payload key", evaluation.QueueMain, diagnoseLimit)
	} else if err != nil {
		sealed, _ := sealedBy(ctx, c, run) // why it failed matters more
		return out, sealed, fmt.Errorf("diagnosis: %s", rootCause(err))
	}
	sealed, err := sealedBy(ctx, c, run)
	return out, sealed, err
}
