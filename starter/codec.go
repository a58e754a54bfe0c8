package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/config"
)

// minToken is as long as a token has to be that can't be guessed.
const minToken = 16

func (a *app) codecServerCommand() *cobra.Command {
	var listen, origin string
	cmd := &cobra.Command{
		Use:   "codec-server",
		Short: "Let the Web UI show what is encrypted",
		Long: `Let the Web UI show what is encrypted: serve Temporal's remote codec protocol (POST
/encode and /decode) with the keys in ` + codec.EnvKeys + ` or
` + codec.EnvKeyFile + `. In the Web UI enter this server's address as
the codec server ("Data Encoder").

With ` + config.EnvCodecToken + ` every request needs that token as its bearer token.
Without one the server listens on this machine only. Web pages of other origins than
--origin are refused. It speaks HTTP: from elsewhere reach it through a proxy with TLS.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.codecServer(cmd.Context(), listen, origin) },
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8081", "address and port to listen on")
	cmd.Flags().StringVar(&origin, "origin", "", "the Web UI's origin; default that of "+config.EnvUI)
	return cmd
}

// codecServer serves until ctx ends.
func (a *app) codecServer(ctx context.Context, listen, origin string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if origin == "" {
		origin = cfg.UI
	}
	if origin, err = parseOrigin(origin); err != nil {
		return usageError{err}
	}
	if err := checkCodecServer(listen, cfg.Payloads); err != nil {
		return usageError{err}
	}
	payloads, err := codec.New(cfg.Payloads.Keys)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("codec server: %w", err)
	}
	fmt.Fprintf(a.out, "codec server at http://%s for %s, key %s encrypts, %d decrypt\n",
		listener.Addr(), origin, cfg.Payloads.Keys[0].ID, len(cfg.Payloads.Keys))
	return serveHTTP(ctx, listener, codecHandler(payloads, origin, cfg.Payloads.Token))
}

// parseOrigin refuses what no browser sends as an origin.
func parseOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("--origin %q: use the Web UI's scheme, host and port, e.g. https://temporal.example.org", text)
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil // as browsers write it
}

// checkCodecServer names everything that keeps the server from starting.
func checkCodecServer(listen string, payloads config.Payloads) error {
	var errs []error
	if len(payloads.Keys) == 0 {
		errs = append(errs, fmt.Errorf("there is no key to decode with: set %s or %s", codec.EnvKeys, codec.EnvKeyFile))
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		errs = append(errs, fmt.Errorf("--listen %q: use an address and a port, e.g. 127.0.0.1:8081", listen))
	} else if payloads.Token == "" && !isLoopback(host) {
		errs = append(errs, fmt.Errorf("--listen %s can be reached from elsewhere: set %s, or listen on 127.0.0.1", listen, config.EnvCodecToken))
	}
	if n := len(payloads.Token); n > 0 && n < minToken {
		errs = append(errs, fmt.Errorf("%s has %d characters: use at least %d, e.g. from `openssl rand -hex 32`", config.EnvCodecToken, n, minToken))
	}
	return errors.Join(errs...)
}

// isLoopback takes addresses only: what a name stands for can change.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// serveHTTP serves until ctx ends, then lets requests finish.
func serveHTTP(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		return fmt.Errorf("serve HTTP: stop: %w", err)
	}
	return nil
}
