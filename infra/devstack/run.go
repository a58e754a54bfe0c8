package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"go.temporal.io/server/temporal"
	"golang.org/x/sync/errgroup"
)

const (
	startTimeout = 60 * time.Second
	// Together well below the 10 s within which devstack stops, on a busy machine too.
	temporalStopGrace = 4 * time.Second
	s3StopGrace       = 2 * time.Second
)

// run starts the three servers, tells when they answer, and stops them when
// ctx ends. It returns nil after a stop that ctx asked for, before or after
// the servers were ready, and an error of one line otherwise.
func run(ctx context.Context, s settings, stdout, stderr io.Writer) error {
	err := serve(ctx, s, stdout, stderr)
	if ctx.Err() != nil {
		return nil // also when it hit the start: what is on disk is good at any moment
	}
	return err
}

func serve(ctx context.Context, s settings, stdout, stderr io.Writer) error {
	d, err := openDataDir(ctx, s.data)
	if err != nil {
		return err
	}
	defer d.lock.Close()
	if err := removeReadyFile(s.readyFile); err != nil {
		return err
	}
	held, err := reserveAll(ctx, s)
	if err != nil {
		return err
	}
	logs, err := openTemporalLogs(d.temporalLog(), s.logLevel, stderr)
	if err != nil {
		return err
	}
	defer logs.close()

	held.s3.release()
	s3, err := startS3(d, s, held.s3.addr)
	if err != nil {
		return err
	}
	defer s3.stop(s3StopGrace)

	store, err := prepareDatabase(d.database(), s)
	if err != nil {
		return err
	}
	held.releaseTemporal()
	server, err := newTemporal(store, held.temporalPorts(), logs)
	if err != nil {
		return err
	}
	started := make(chan error, 1)
	go func() { started <- server.Start() }()

	ui := newUI(held.ui.addr, reachable(held.frontend.addr), s.namespace)
	held.ui.release()
	go func() { _ = ui.Start() }() // it ends the process itself when it can't listen
	defer ui.Stop()

	r := ready{
		Temporal:  reachable(held.frontend.addr).String(),
		UI:        "http://" + reachable(held.ui.addr).String(),
		S3:        "http://" + reachable(held.s3.addr).String(),
		Namespace: s.namespace,
		PID:       os.Getpid(),
	}
	answering := make(chan error, 1)
	go func() {
		if err := <-started; err != nil {
			answering <- fmt.Errorf("start the Temporal server: %w (see %s)", err, d.temporalLog())
			return
		}
		answering <- awaitAll(ctx, r, s.retention)
	}()
	select {
	case <-ctx.Done():
		return nil
	case <-s3.done:
		return s3.fault()
	case err := <-answering:
		if err != nil {
			return err
		}
	}
	defer stopTemporal(server)
	if s.readyFile != "" {
		if err := r.writeFile(s.readyFile); err != nil {
			return err
		}
		defer func() { _ = removeReadyFile(s.readyFile) }()
	}
	fmt.Fprintln(stdout, r.line())

	select {
	case <-ctx.Done():
		return nil
	case <-s3.done:
		return s3.fault()
	}
}

// awaitAll returns when all three servers answer.
func awaitAll(ctx context.Context, r ready, retention time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return awaitNamespace(ctx, r.Temporal, r.Namespace, retention) })
	g.Go(func() error { return awaitHTTP(ctx, r.UI+"/healthz") })
	g.Go(func() error { return awaitHTTP(ctx, r.S3) })
	return g.Wait()
}

// stopTemporal stops the server, or stops waiting for it: its database is
// good at any moment.
func stopTemporal(server temporal.Server) {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = server.Stop()
	}()
	select {
	case <-stopped:
	case <-time.After(temporalStopGrace):
	}
}
