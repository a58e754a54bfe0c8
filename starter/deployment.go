package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

func (a *app) deploymentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "deployment",
		Short: "Versions of a worker deployment: which there are, and which gets the work",
		Args:  exactArgs(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	describe := &cobra.Command{
		Use:   "describe NAME",
		Short: "Print the deployment's versions, and whether they are drained",
		Args:  exactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.describeDeployment(cmd.Context(), args[0], asJSON)
		},
	}
	describe.Flags().BoolVar(&asJSON, "json", false, "print JSON for scripts")
	setCurrent := &cobra.Command{
		Use:   "set-current NAME BUILD-ID",
		Short: "Give new chunks, and whatever follows, to this version's workers",
		Long: `Give new work to this version's workers. Chunks and dialogues in flight end on the
version that they began with, so keep its workers until "starter deployment describe"
says that it is drained. To go back, set the former version current again.

Temporal refuses a version that no worker has polled for, or that lacks a queue of
the version before: start its workers, for every role, first.`,
		Args: exactArgs("NAME", "BUILD-ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.setCurrentVersion(cmd.Context(), args[0], args[1])
		},
	}
	cmd.AddCommand(describe, setCurrent)
	return cmd
}

// version is one of a deployment, and the JSON that describe prints.
type version struct {
	Build string `json:"build_id"`
	State string `json:"state"` // current, ramping, draining, drained, inactive
}

// versionsOf returns the versions of a deployment in Temporal's order, newest first.
func versionsOf(info client.WorkerDeploymentInfo) []version {
	versions := make([]version, 0, len(info.VersionSummaries))
	for _, summary := range info.VersionSummaries {
		v := version{Build: summary.Version.BuildID, State: "inactive"}
		routing := info.RoutingConfig
		switch {
		case routing.CurrentVersion != nil && *routing.CurrentVersion == summary.Version:
			v.State = "current"
		case routing.RampingVersion != nil && *routing.RampingVersion == summary.Version:
			v.State = "ramping"
		case summary.DrainageStatus == client.WorkerDeploymentVersionDrainageStatusDraining:
			v.State = "draining"
		case summary.DrainageStatus == client.WorkerDeploymentVersionDrainageStatusDrained:
			v.State = "drained"
		}
		versions = append(versions, v)
	}
	return versions
}

// meaning is what a version's state means for its workers.
func (v version) meaning() string {
	switch v.State {
	case "current":
		return "gets all new work"
	case "ramping":
		return "gets a part of new work"
	case "draining":
		return "chunks or dialogues are in flight on it: keep its workers"
	case "drained":
		return "its workers may stop"
	default:
		return "gets no work"
	}
}

func (a *app) describeDeployment(ctx context.Context, name string, asJSON bool) error {
	_, c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	described, err := c.WorkerDeploymentClient().GetHandle(name).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	if err != nil {
		return deploymentError(name, err)
	}
	versions := versionsOf(described.Info)
	if asJSON {
		return json.NewEncoder(a.out).Encode(versions)
	}
	current := false
	for _, v := range versions {
		fmt.Fprintf(a.out, "%-10s %s: %s\n", v.State, v.Build, v.meaning())
		current = current || v.State == "current"
	}
	if !current {
		fmt.Fprintf(a.out, "no version is current: unversioned workers get the work, versioned ones nothing, before `starter deployment set-current %s BUILD-ID`\n", name)
	}
	return nil
}

func (a *app) setCurrentVersion(ctx context.Context, name, build string) error {
	_, c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	handle := c.WorkerDeploymentClient().GetHandle(name)
	if _, err := handle.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build}); err != nil {
		return deploymentError(name, err)
	}
	fmt.Fprintf(a.out, "version %s of deployment %s is current; `starter deployment describe %[2]s` says when the one before is drained\n", build, name)
	return nil
}

func deploymentError(name string, err error) error {
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return fmt.Errorf("deployment %q: %w (has a worker with --deployment %[1]s and --build-id polled?)", name, err)
	}
	return fmt.Errorf("deployment %q: %w", name, err)
}
