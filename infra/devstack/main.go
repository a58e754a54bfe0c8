// Command devstack runs a Temporal server, the Temporal Web UI and an S3
// server on one machine, with all their state in one folder.
//
// It is a development stack: one node, no authentication on Temporal, bound
// to the loopback interface unless told otherwise. What it keeps survives
// kill -9: workflows in a SQLite file in WAL mode, objects as plain files with
// their metadata in extended attributes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitOK    = 0
	exitFault = 1
	exitUsage = 2
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == s3ChildArg {
		os.Exit(s3ChildMain(os.Stdin, os.Stderr))
	}
	os.Exit(realMain(os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}

func realMain(args []string, lookup func(string) (string, bool), stdout, stderr io.Writer) int {
	s, err := parseSettings(args, lookup)
	if errors.Is(err, errHelp) {
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "devstack: %v (devstack --help lists the flags)\n", err)
		return exitUsage
	}
	for _, w := range s.warnings() {
		fmt.Fprintf(stderr, "devstack: warning: %s\n", w)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "devstack: %v\n", err)
		return exitFault
	}
	return exitOK
}
