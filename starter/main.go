// Command starter is the operator's tool: it starts evaluations, shows how far
// they are, and prints their reports.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // it was tried and did not work, or the input is not usable
	exitUsage  = 2 // the command line is wrong

	exitRegression = 3 // of compare: more was lost than is allowed
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{out: os.Stdout, err: os.Stderr, in: os.Stdin, lookup: os.LookupEnv}
	code := a.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// app is what all commands share: where they write, and the environment.
type app struct {
	out, err io.Writer
	in       io.Reader
	lookup   func(string) (string, bool)
}

// usageError is a wrong command line: exit code 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(a.err, "starter: %v\n", err)
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	var regression regressionError
	if errors.As(err, &regression) {
		return exitRegression
	}
	return exitFailed
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "starter",
		Short:         "Evaluate spoken dialogues for mental manipulation",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q (see `starter --help`)", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w (see `%s --help`)", err, cmd.CommandPath())
	})
	root.AddCommand(
		a.setupCommand(), a.doctorCommand(), a.estimateCommand(), a.evaluateCommand(), a.watchCommand(), a.statusCommand(), a.listCommand(),
		a.reportCommand(), a.compareCommand(), a.reevaluateCommand(), a.scheduleCommand(), a.trendCommand(), a.pauseCommand(), a.resumeCommand(), a.cancelCommand(), a.terminateCommand(),
		a.datasetCommand(), a.baselineCommand(), a.annotationCommand(), a.promptsCommand(), a.sensitivityCommand(), a.codecServerCommand(), a.gcCommand(),
		a.deploymentCommand(), a.queuesCommand(), a.topCommand(), a.exportCommand(),
	)
	return root
}

// exactArgs is cobra.ExactArgs with a line that names what is missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return usagef("%s takes %d argument(s): %v (see `%[1]s --help`)", cmd.CommandPath(), len(names), names)
		}
		return nil
	}
}
