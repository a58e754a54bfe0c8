package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// deployment is the version that this worker is of; the zero value is none.
type deployment struct {
	name, build string
}

var (
	deploymentName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`) // Temporal divides name and build id by a dot
	deploymentBuild = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
)

func (d *deployment) flags(to *pflag.FlagSet) {
	to.StringVar(&d.name, "deployment", "", "the worker deployment that this worker is a version of, the same for all its roles; with --build-id; default none: unversioned")
	to.StringVar(&d.build, "build-id", "", "the version of the deployment, e.g. a commit; it gets no new work before it is made current (`starter deployment set-current`)")
}

func (d *deployment) versioned() bool { return d.name != "" }

func (d *deployment) validate() error {
	if (d.name == "") != (d.build == "") {
		return errors.New("--deployment and --build-id go together: give both, or none")
	}
	if !d.versioned() {
		return nil
	}
	var errs []error
	if !deploymentName.MatchString(d.name) {
		errs = append(errs, fmt.Errorf("--deployment %q: use 1 to 63 letters, digits, '_' or '-'", d.name))
	}
	if !deploymentBuild.MatchString(d.build) {
		errs = append(errs, fmt.Errorf("--build-id %q: use 1 to 63 letters, digits, '.', '_' or '-'", d.build))
	}
	return errors.Join(errs...)
}

// options are the SDK's.
func (d *deployment) options() worker.DeploymentOptions {
	if !d.versioned() {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning: true,
		Version:       worker.WorkerDeploymentVersion{DeploymentName: d.name, BuildID: d.build},
	}
}

// advice is a line for the person where Temporal gives this version no new work,
// else "". What Temporal can't say counts as that: before its first poll it doesn't
// know the version.
func (d *deployment) advice(ctx context.Context, c client.Client) string {
	if !d.versioned() {
		return ""
	}
	described, err := c.WorkerDeploymentClient().GetHandle(d.name).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	if err == nil {
		if current := described.Info.RoutingConfig.CurrentVersion; current != nil && current.BuildID == d.build {
			return ""
		}
	}
	return fmt.Sprintf("version %s of deployment %s is not current: it gets no new work before `starter deployment set-current %[2]s %[1]s`", d.build, d.name)
}
