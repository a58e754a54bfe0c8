package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sys/unix"
)

func TestReadyLineAndCleanStop(t *testing.T) {
	p := start(t, t.TempDir())
	resp, err := http.Get(p.ready.UI + "/namespaces/default/workflows")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("Web UI: %s", resp.Status)
	}
	if p.ready.PID != p.cmd.Process.Pid {
		t.Errorf("ready file: pid %d, want %d", p.ready.PID, p.cmd.Process.Pid)
	}
	if code := p.signal(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d after SIGTERM", code)
	}
	want := fmt.Sprintf("devstack ready: temporal=%s ui=%s s3=%s\n", p.ready.Temporal, p.ready.UI, p.ready.S3)
	if p.stdout.String() != want {
		t.Errorf("stdout %q, want %q", p.stdout.String(), want)
	}
	if p.stderr.Len() > 0 {
		t.Errorf("stderr %q, want nothing", p.stderr.String())
	}
}

// Ctrl-C during the start is a clean stop, and no moment of the start is bad
// for a kill -9.
func TestStopDuringStart(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: exitOK, syscall.SIGKILL: -1} {
		t.Run(sig.String(), func(t *testing.T) {
			data := t.TempDir()
			for _, delay := range []time.Duration{0, 20, 60, 120, 200, 300} {
				stale := filepath.Join(t.TempDir(), "ready.json")
				writeFile(t, stale, "{}")
				p := launch(t, "--data", data, "--ready-file", stale,
					"--temporal-addr", "127.0.0.1:0", "--ui-addr", "127.0.0.1:0", "--s3-addr", "127.0.0.1:0")
				for exists(stale) { // its removal is the first thing a start does
					time.Sleep(time.Millisecond)
				}
				time.Sleep(delay * time.Millisecond)
				if code := p.signal(t, sig); code != want {
					t.Errorf("%d ms into the start: exit code %d, want %d: %s", delay, code, want, p.stderr.String())
				}
				if p.stderr.Len() > 0 {
					t.Errorf("%d ms into the start: stderr %q", delay, p.stderr.String())
				}
			}
			start(t, data)
		})
	}
}

func greet(_ workflow.Context, name string) (string, error) { return "hello " + name, nil }

// A workflow and an object are there after kill -9 and a restart at once on
// the same ports, and the workflow then finishes.
func TestKillKeepsEverything(t *testing.T) {
	ctx, data := testContext(t), t.TempDir()
	p := start(t, data)
	options := client.StartWorkflowOptions{ID: "kept", TaskQueue: "q"}
	if _, err := p.temporal(t).ExecuteWorkflow(ctx, options, greet, "again"); err != nil {
		t.Fatal(err)
	}
	bucket := newBucket(t, p.s3())
	put(t, p.s3(), bucket, "a/b.txt", "body")

	p.signal(t, syscall.SIGKILL)
	p = start(t, data, p.at()...)

	c := p.temporal(t)
	d, err := c.DescribeWorkflowExecution(ctx, "kept", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.GetWorkflowExecutionInfo().GetStatus(); got != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		t.Errorf("workflow is %v after the restart, want running", got)
	}
	w := worker.New(c, "q", worker.Options{})
	w.RegisterWorkflow(greet)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var greeting string
	if err := c.GetWorkflow(ctx, "kept", "").Get(ctx, &greeting); err != nil || greeting != "hello again" {
		t.Errorf("workflow result %q, %v", greeting, err)
	}
	if got := get(t, p.s3(), bucket, "a/b.txt"); got != "body" {
		t.Errorf("object after the restart: %q", got)
	}
	if code := p.signal(t, syscall.SIGTERM); code != exitOK { // while the worker polls
		t.Errorf("exit code %d after SIGTERM", code)
	}
}

func TestSweepsUnfinishedUploadsAtStart(t *testing.T) {
	ctx, data := testContext(t), t.TempDir()
	p := start(t, data)
	bucket := newBucket(t, p.s3())
	put(t, p.s3(), bucket, "a/b.txt", "body")
	p.signal(t, syscall.SIGKILL)
	stray := filepath.Join(data, "s3", bucket, "a", ".b.txt.sgwtmp.1764000000000000000")
	if err := os.WriteFile(stray, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}

	p = start(t, data)
	list, err := p.s3().ListObjectsV2(ctx, &awss3.ListObjectsV2Input{Bucket: &bucket})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Contents) != 1 || aws.ToString(list.Contents[0].Key) != "a/b.txt" {
		t.Errorf("listing after the sweep: %+v", list.Contents)
	}
}

// A search attribute can be used in the call after its registration.
func TestSearchAttributeAtOnce(t *testing.T) {
	ctx := testContext(t)
	c := start(t, t.TempDir()).temporal(t)
	_, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace:        "default",
		SearchAttributes: map[string]enums.IndexedValueType{"Colour": enums.INDEXED_VALUE_TYPE_KEYWORD},
	})
	if err != nil {
		t.Fatal(err)
	}
	colour := temporal.NewSearchAttributeKeyKeyword("Colour")
	_, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                    "red",
		TaskQueue:             "q",
		TypedSearchAttributes: temporal.NewSearchAttributes(colour.ValueSet("red")),
	}, "anything")
	if err != nil {
		t.Fatal(err)
	}
	for {
		list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "Colour = 'red'"})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Executions) == 1 {
			return
		}
		if !sleep(ctx, 20*time.Millisecond) {
			t.Fatal("the workflow was never listed by its search attribute")
		}
	}
}

func TestRetention(t *testing.T) {
	ctx, data := testContext(t), t.TempDir()
	for _, want := range []time.Duration{720 * time.Hour, 48 * time.Hour} {
		p := start(t, data, "--retention", want.String())
		d, err := p.temporal(t).WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); got != want {
			t.Errorf("retention %v, want %v", got, want)
		}
		p.signal(t, syscall.SIGTERM)
	}
}

func TestSecondInstanceRefused(t *testing.T) {
	data := t.TempDir()
	start(t, data)
	refused(t, exitFault, []string{"--data", data}, "another devstack is using "+data, "--data")
}

func TestBusyPortRefused(t *testing.T) {
	for _, flag := range []string{"--temporal-addr", "--ui-addr", "--s3-addr"} {
		t.Run(flag, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			args := []string{"--data", t.TempDir(), "--temporal-addr", "127.0.0.1:0", "--ui-addr", "127.0.0.1:0", "--s3-addr", "127.0.0.1:0"}
			args = append(args, flag, l.Addr().String())
			refused(t, exitFault, args, fmt.Sprintf("port %d ", l.Addr().(*net.TCPAddr).Port), "in use", flag)
		})
	}
}

func TestBadDataFolderRefused(t *testing.T) {
	free := []string{"--temporal-addr", "127.0.0.1:0", "--ui-addr", "127.0.0.1:0", "--s3-addr", "127.0.0.1:0", "--data"}
	t.Run("a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		writeFile(t, path, "x")
		refused(t, exitFault, append(free, path), path, "--data")
	})
	t.Run("a broken database", func(t *testing.T) {
		data := t.TempDir()
		writeFile(t, filepath.Join(data, "temporal.db"), strings.Repeat("this is no database ", 1000))
		refused(t, exitFault, append(free, data), filepath.Join(data, "temporal.db"))
	})
	t.Run("without extended attributes", func(t *testing.T) {
		data := t.TempDir()
		if err := unix.Mount("ramfs", data, "ramfs", 0, ""); err != nil {
			t.Skipf("can't mount a file system without extended attributes: %v", err)
		}
		defer unix.Unmount(data, unix.MNT_DETACH)
		refused(t, exitFault, append(free, data), "extended attributes", "--data")
	})
}

// A database whose making was cut off by a kill is made anew.
func TestHalfMadeDatabase(t *testing.T) {
	data := t.TempDir()
	writeFile(t, filepath.Join(data, "temporal.db"), "half")
	writeFile(t, filepath.Join(data, "temporal.db.setup"), "")
	start(t, data)
}

func TestOddDataFolderName(t *testing.T) {
	start(t, filepath.Join(t.TempDir(), "a b?c#d%41"))
}

func TestS3ServerDiedIsAFault(t *testing.T) {
	p := start(t, t.TempDir())
	child := childOf(t, p.ready.PID)
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != exitFault {
		t.Errorf("exit code %d, want %d", code, exitFault)
	}
	if got := p.stderr.String(); !strings.Contains(got, "S3 server ended") || strings.Count(got, "\n") != 1 {
		t.Errorf("stderr %q", got)
	}
}

func TestHelp(t *testing.T) {
	p := launch(t, "--help")
	if code := p.wait(t); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"--data", "--ready-file", "DEVSTACK_S3_SECRET_KEY", "Exit:"} {
		if !strings.Contains(p.stdout.String(), want) {
			t.Errorf("help lacks %q", want)
		}
	}
}

func TestWrongFlagRefused(t *testing.T) {
	refused(t, exitUsage, []string{"--nope"}, "--nope", "--help")
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// childOf returns the process id of pid's one child.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lists {
		b, err := os.ReadFile(l)
		if err != nil {
			t.Fatal(err)
		}
		var child int
		if n, _ := fmt.Sscan(string(b), &child); n == 1 {
			return child
		}
	}
	t.Fatal("devstack has no child process")
	return 0
}
