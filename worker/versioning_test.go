package main

import (
	"io"
	"strings"
	"testing"

	"go.temporal.io/sdk/worker"
)

func TestDeploymentFlags(t *testing.T) {
	for _, test := range []struct {
		args string
		want worker.DeploymentOptions
		err  string
	}{
		{args: ""},
		{args: "--deployment speechmanip --build-id v1.2_3-4", want: worker.DeploymentOptions{
			UseVersioning: true,
			Version:       worker.WorkerDeploymentVersion{DeploymentName: "speechmanip", BuildID: "v1.2_3-4"},
		}},
		{args: "--deployment speechmanip", err: "--deployment and --build-id go together"},
		{args: "--build-id 1", err: "--deployment and --build-id go together"},
		{args: "--deployment a.b --build-id 1", err: `--deployment "a.b": use 1 to 63 letters`},
		{args: "--deployment ab --build-id a:b", err: `--build-id "a:b": use 1 to 63 letters`},
		{args: "--deployment ab --build-id " + strings.Repeat("x", 64), err: "use 1 to 63 letters"},
	} {
		s, err := parse(strings.Fields(test.args), io.Discard)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q: %v, want %q", test.args, err, test.err)
			}
			continue
		}
		if err != nil || s.deployment.options() != test.want {
			t.Errorf("%q: %+v, %v", test.args, s.deployment.options(), err)
		}
	}
}

// A queue of one process's own is in no version: a version may have but a hundred.
func TestOwnQueueIsUnversioned(t *testing.T) {
	d := deployment{name: "d", build: "1"}
	for _, own := range []bool{false, true} {
		got := part{own: own}.options(worker.Options{DeploymentOptions: d.options()})
		if got.DeploymentOptions.UseVersioning == own {
			t.Errorf("own %v: %+v", own, got.DeploymentOptions)
		}
	}
}
