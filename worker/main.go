// Command worker takes the roles that its machine can play: workflows, speech,
// audio, detect.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.uber.org/zap"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/config"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore/s3"
	"github.com/speechmanip/speechmanip/internal/overview"
	"github.com/speechmanip/speechmanip/internal/telemetry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}

// settings are the command line's.
type settings struct {
	roles       []string
	synthesizer string
	accelerator string
	pool        string
	account     account
	concurrency concurrency
	deployment  deployment
	listen      string // host:port for metrics and health; "" is nowhere
}

// account is the provider's, whose calls at once all workers share.
type account struct {
	name    string
	ceiling int           // 0 is what the provider tells
	lease   time.Duration // of slots
}

// concurrency is how many activities of a role run at once in this worker.
type concurrency struct {
	speech, audio, detect int
}

var allRoles = []string{"workflows", "speech", "audio", "detect"}

func parse(args []string, help io.Writer) (settings, error) {
	s := settings{}
	flags := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	flags.SetOutput(help)
	flags.SortFlags = false
	flags.StringSliceVar(&s.roles, "roles", []string{"all"}, "what this worker does: all, or some of "+strings.Join(allRoles, ","))
	flags.StringVar(&s.synthesizer, "synthesizer", "flite", "role speech: the engine, one of "+strings.Join(synthesizerNames(), ", "))
	flags.StringVar(&s.account.name, "speech-account", "", "role speech, paid engines: the account behind the key, whose ceiling on calls at once all workers share; default the engine's name")
	flags.IntVar(&s.account.ceiling, "speech-ceiling", 0, "role speech, paid engines: calls at once of the account, all workers together; 0 is what the provider tells")
	flags.DurationVar(&s.account.lease, "speech-lease", evaluation.LeaseExpiry, "role speech, paid engines: how long a killed worker keeps its slots; three fifths of it is the longest that a call may take")
	flags.StringVar(&s.accelerator, "accelerator", "cpu", "role detect: the kind of machine, part of the queue's name")
	flags.StringVar(&s.pool, "pool", "baseline", "role detect: the pool of detectors, part of the queue's name")
	flags.IntVar(&s.concurrency.speech, "speech-calls", 2*runtime.NumCPU(), "role speech: calls at once")
	flags.IntVar(&s.concurrency.audio, "audio-jobs", runtime.NumCPU(), "role audio: compositions and recognitions at once")
	flags.IntVar(&s.concurrency.detect, "detect-calls", 4*runtime.NumCPU(), "role detect: calls at once")
	flags.StringVar(&s.listen, "listen", "", "serve /metrics, /healthz and /readyz here, e.g. 127.0.0.1:9464; default nowhere")
	s.deployment.flags(flags)
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return s, s.validate()
}

func (s *settings) validate() error {
	var errs []error
	if len(s.roles) == 1 && s.roles[0] == "all" {
		s.roles = allRoles
	}
	for _, role := range s.roles {
		if !slices.Contains(allRoles, role) {
			errs = append(errs, fmt.Errorf("--roles: unknown role %q: use all, or some of %s", role, strings.Join(allRoles, ", ")))
		}
	}
	if !slices.Contains(synthesizerNames(), s.synthesizer) {
		errs = append(errs, fmt.Errorf("--synthesizer: unknown engine %q: use one of %s", s.synthesizer, strings.Join(synthesizerNames(), ", ")))
	}
	if s.account.name == "" {
		s.account.name = s.synthesizer
	} else if err := evaluation.CheckAccount(s.account.name); err != nil {
		errs = append(errs, fmt.Errorf("--speech-account: %w", err))
	}
	if s.account.ceiling < 0 {
		errs = append(errs, fmt.Errorf("--speech-ceiling is %d, must not be negative", s.account.ceiling))
	}
	if err := evaluation.CheckLeaseExpiry(s.account.lease); err != nil {
		errs = append(errs, fmt.Errorf("--speech-lease: %w", err))
	}
	if err := s.deployment.validate(); err != nil {
		errs = append(errs, err)
	}
	if err := checkListen(s.listen); err != nil {
		errs = append(errs, err)
	}
	for name, n := range map[string]int{"--speech-calls": s.concurrency.speech, "--audio-jobs": s.concurrency.audio, "--detect-calls": s.concurrency.detect} {
		if n < 1 {
			errs = append(errs, fmt.Errorf("%s is %d, must be at least 1", name, n))
		}
	}
	return errors.Join(errs...)
}

func run(ctx context.Context, args []string, lookup func(string) (string, bool), out, errOut io.Writer) int {
	s, err := parse(args, out)
	if errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(errOut, "worker: %v (see `worker --help`)\n", err)
		return 2
	}
	cfg, err := config.Load(lookup)
	if err != nil {
		fmt.Fprintf(errOut, "worker: %v\n", err)
		return 2
	}
	if err := checkDrain(s, cfg); err != nil {
		fmt.Fprintf(errOut, "worker: %v\n", err)
		return 2
	}
	if err := serve(ctx, s, cfg, out, errOut); err != nil {
		fmt.Fprintf(errOut, "worker: %v\n", err)
		return 1
	}
	return 0
}

// serve works until ctx ends, then lets calls finish for at most cfg.Drain.
func serve(ctx context.Context, s settings, cfg config.Config, out, errOut io.Writer) error {
	log := telemetry.Logger(errOut, cfg.LogJSON, cfg.LogLevel)
	defer func() { _ = log.Sync() }() // stderr can't be synced everywhere
	seen, err := openSight(ctx, s, log)
	defer seen.close()
	if err != nil {
		return err
	}
	store, err := s3.New(ctx, cfg.Store)
	if err != nil {
		return err
	}
	if err := store.Check(ctx); err != nil {
		return err
	}
	payloads, err := codec.New(cfg.Payloads.Keys)
	if err != nil {
		return err
	}
	cfg.Temporal.DataConverter, cfg.Temporal.FailureConverter = payloads.DataConverter(), payloads.FailureConverter()
	cfg.Temporal.Logger = telemetry.SDK(log.Named("temporal"))
	if err := seen.into(&cfg.Temporal); err != nil {
		return err
	}
	temporal, err := client.DialContext(ctx, cfg.Temporal)
	if err != nil {
		return fmt.Errorf("connect to Temporal at %s, namespace %q: %w", cfg.Temporal.HostPort, cfg.Temporal.Namespace, err)
	}
	defer temporal.Close()

	objects := activities.Remaking{Store: store, Log: log.Named("store"), Now: time.Now}
	library := &activities.Library{Archive: archive.Archive{Store: objects}, Observer: seen.observer}
	parts := wiring{
		settings: s,
		name:     processName(),
		leased:   seen.observer.leased(s.account.name),
		log:      log,
		library:  library,
		chat:     cfg.Chat,
		eleven:   cfg.Eleven,
		webhooks: cfg.Webhooks,
		once:     activities.Once{Store: objects, Log: log.Named("once"), Now: time.Now},
	}
	broken := make(chan error, 1)
	workers, queues, err := parts.workers(temporal, worker.Options{
		WorkerStopTimeout: cfg.Drain,
		Interceptors:      []interceptor.WorkerInterceptor{&activities.Attempts{}},
		DeploymentOptions: s.deployment.options(),
		// A worker that Temporal refuses to give work stops by itself.
		OnFatalError: func(err error) {
			select {
			case broken <- err:
			default: // the first one is told
			}
		},
	})
	if err != nil {
		return err
	}
	for _, w := range workers {
		if err := w.Start(); err != nil {
			stopAll(workers)
			return fmt.Errorf("start worker: %w", err)
		}
	}
	if err := seen.works(ctx, overview.Source{Client: temporal, Namespace: cfg.Temporal.Namespace, Archive: library.Archive}, store.Check); err != nil {
		stopAll(workers)
		return err
	}
	fmt.Fprintf(out, "worker ready: queues %s\n", strings.Join(queues, ", "))
	if advice := s.deployment.advice(ctx, temporal); advice != "" {
		fmt.Fprintln(errOut, "worker: "+advice)
	}
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-payloads.Missing(): // its tasks are for workers that can read them
	case err := <-broken:
		failed = fmt.Errorf("poll Temporal for work: %w", err)
	}
	seen.drains()
	log.Info("stopping: no new work, calls in flight may finish", zap.Duration("drain", cfg.Drain))
	stopAll(workers)
	return failed
}

// stopAll drains all workers side by side.
func stopAll(workers []worker.Worker) {
	done := make(chan struct{})
	for _, w := range workers {
		go func() {
			w.Stop()
			done <- struct{}{}
		}()
	}
	for range workers {
		<-done
	}
}

// processName is this process's, no other's.
func processName() string {
	name := make([]byte, 4)
	_, _ = rand.Read(name) // never fails
	return hex.EncodeToString(name)
}
