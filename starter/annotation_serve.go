package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/annotate"
	"github.com/speechmanip/speechmanip/internal/people"
)

// serveOptions are the flags of annotation serve.
type serveOptions struct {
	listen, cert, key, audit string
	proxy                    bool
}

func (a *app) annotationServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the page on which annotators judge, and studies' leaders look on",
		Long: `Serve the page on which annotators judge, and studies' leaders look on: all studies of
this store, each to whoever has a link of "starter annotation links". A worker with role
workflows has to run.

It speaks HTTPS with --tls-cert and --tls-key, and HTTP to a proxy that speaks HTTPS with
--behind-proxy. Without either it listens on this machine only.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveAnnotation(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", "127.0.0.1:8090", "address and port to listen on")
	f.StringVar(&o.cert, "tls-cert", "", "file of the certificate chain (PEM)")
	f.StringVar(&o.key, "tls-key", "", "file of its key (PEM)")
	f.BoolVar(&o.proxy, "behind-proxy", false, "a proxy ends HTTPS, and appends clients' addresses to X-Forwarded-For")
	f.StringVar(&o.audit, "audit", "", "file that the audit log is appended to; without it standard error")
	return cmd
}

// check names everything that keeps the page from being served.
func (o serveOptions) check() error {
	var errs []error
	host, _, err := net.SplitHostPort(o.listen)
	secured := o.cert != "" || o.proxy
	switch {
	case err != nil:
		errs = append(errs, fmt.Errorf("--listen %q: use an address and a port, e.g. 127.0.0.1:8090", o.listen))
	case !secured && !isLoopback(host):
		errs = append(errs, fmt.Errorf("--listen %s can be reached from elsewhere: give --tls-cert and --tls-key, or --behind-proxy", o.listen))
	}
	if (o.cert == "") != (o.key == "") {
		errs = append(errs, errors.New("--tls-cert and --tls-key go together"))
	}
	if o.cert != "" && o.proxy {
		errs = append(errs, errors.New("--behind-proxy is for a proxy that speaks HTTPS: leave out --tls-cert"))
	}
	return errors.Join(errs...)
}

func (a *app) serveAnnotation(ctx context.Context, o serveOptions) error {
	if err := o.check(); err != nil {
		return usageError{err}
	}
	cfg, store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	c, err := a.dialToStart(ctx, cfg, store)
	if err != nil {
		return err
	}
	defer c.Close()
	audit := a.err
	if o.audit != "" {
		file, err := os.OpenFile(o.audit, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		audit = file
	}
	log := &jsonLines{out: audit}
	server, err := annotate.New(annotate.Config{
		Archive: store, People: people.Registry{Store: store.Store, Now: time.Now}, Studies: studies{app: a, store: store, client: c},
		Now: time.Now, BehindProxy: o.proxy,
		Audit:  func(e annotate.Event) { log.write(e) },
		Failed: func(err error) { fmt.Fprintf(a.err, "annotation: %v\n", err) },
	})
	if err != nil {
		return err
	}
	listener, scheme, err := o.open()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "annotation: %s://%s\n", scheme, listener.Addr())
	return serveHTTP(ctx, listener, server.Handler())
}

// open listens.
func (o serveOptions) open() (listener net.Listener, scheme string, err error) {
	if o.cert == "" {
		listener, err = net.Listen("tcp", o.listen)
		return listener, "http", err
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, "", err
	}
	listener, err = tls.Listen("tcp", o.listen, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	return listener, "https", err
}

// jsonLines writes values as JSON, one a line, whoever writes them at once.
type jsonLines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *jsonLines) write(value any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = json.NewEncoder(l.out).Encode(value) // a full disk keeps nobody from judging
}
