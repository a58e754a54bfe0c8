//go:build integration && linux

package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/speechmanip/speechmanip/internal/codec"
	"github.com/speechmanip/speechmanip/internal/devstacktest"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
	"github.com/speechmanip/speechmanip/workflows"
)

// TestEncryption evaluates with marked text in everything that comes from outside, and
// looks for it in everything that Temporal answers and keeps. Starter and workers have
// the same two keys in different orders, as in the middle of a rotation.
func TestEncryption(t *testing.T) {
	t.Parallel()
	const mark = "zqmarked"
	one, two := newPayloadKey(t), newPayloadKey(t)
	r := newRig(t)
	r.account(t, elevenlabs.Options{Concurrency: 4})
	r.env = append(r.env, "SPEECHMANIP_ELEVENLABS_URL="+echoing(t, r.lookup(t, "SPEECHMANIP_ELEVENLABS_URL"), "/v1/text-to-speech/", mark))
	keyless := slices.Clone(r.env)
	keyed := append(slices.Clone(keyless), codec.EnvKeys+"="+one+","+two)
	rotated := append(slices.Clone(keyless), codec.EnvKeyFile+"="+r.write(t, "keys", "# new\n"+two+"\n"+one+"\n"))

	// Once setup has noted the keys nobody starts anything without, or with others.
	r.env = keyed
	r.starter(t, "setup")
	for _, env := range [][]string{keyless, append(slices.Clone(keyless), codec.EnvKeys+"="+newPayloadKey(t))} {
		r.env = env
		for _, command := range []string{"evaluate", "doctor"} {
			if out, errOut, err := r.try(t, command); err == nil || !strings.Contains(out+errOut, codec.EnvKeys) {
				t.Errorf("%s without the deployment's key: %v, %q", command, err, errOut)
			}
		}
	}
	r.env = keyed
	dataset := r.write(t, mark+"-dialogues.csv", `ID,Dialogue,Manipulative,Technique,Vulnerability
zqmarked one,"Person1: You zqmarked liar.
Person2: Go.",1,Accusation,
zqmarked-two,"Person1: Fine.
Person2: So it is.",0,,
zqmarked-refused,"Person1: Please refuse this.
Person2: No.",0,,
`)
	r.starter(t, "evaluate", "--id", "private", "--detach", "--synthesizer", "elevenlabs", "--dataset", dataset)
	r.starter(t, "pause", "private", "--reason", mark+": a person is asked")

	// A worker without the key takes nothing on, and says what is missing.
	r.env = keyless
	lost := r.worker(t, "--roles", "workflows")
	if err := lost.cmd.Wait(); err == nil || lost.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("the worker without a key ends with %v", err)
	}
	if log, err := os.ReadFile(lost.log); err != nil || !bytes.Contains(log, []byte("\nworker: a payload is encrypted with key ")) || !bytes.Contains(log, []byte(codec.EnvKeys)) {
		t.Errorf("the worker without a key says (err %v):\n%s", err, log)
	}

	r.env = rotated
	r.worker(t, "--synthesizer", "elevenlabs")
	r.env = keyed
	// Its workers have the same keys in another order.
	var checked checkup
	waitFor(t, time.Minute, "every worker's answer to the doctor", func() bool { // each has 5 s for one
		checked, _ = r.doctor(t, "--synthesizer", "elevenlabs")
		return checked.OK
	})
	for where, key := range map[string]string{"here": one, "audio": two, "speech-elevenlabs": two} {
		keys, err := codec.Parse(key)
		if err != nil {
			t.Fatal(err)
		}
		if detail, ok := checked.find(t, where, "payload keys"); !ok || !strings.Contains(detail, keys[0].ID) {
			t.Errorf("doctor, payload keys, %s: %v, %s", where, ok, detail)
		}
	}
	r.waitPaused(t, "private", evaluation.ReasonOperator, 0)
	if status := r.starter(t, "status", "private"); !strings.Contains(status, mark+": a person is asked") {
		t.Errorf("status doesn't say why it stands still:\n%s", status)
	}
	r.env = keyless
	for _, args := range [][]string{{"status", "private"}, {"watch", "private"}, {"resume", "private"}} {
		_, errOut, err := r.try(t, args...)
		if !strings.Contains(errOut, codec.EnvKeys) || strings.Count(errOut, codec.EnvKeys) != 1 || (err == nil) != (args[0] == "status") {
			t.Errorf("starter %v without a key: %v, %q", args, err, errOut)
		}
	}
	r.env = keyed
	asked := r.askTemporal(t, "private") // while it stands still
	r.starter(t, "resume", "private")
	built := decode(t, r.starter(t, "watch", "private", "--json"))
	if built.N != 3 || built.Pending != 0 || len(built.Failures) != 1 || !strings.Contains(built.Failures[0].Message, "Not with "+mark) {
		t.Errorf("n %d, %d pending, failures %+v", built.N, built.Pending, built.Failures)
	}

	kept := r.histories(t)
	for what, text := range asked {
		kept[what] = &keptHistory{text: text}
	}
	for _, suffix := range []string{"private", "private/chunk-00000", "private/d-000000", "private/d-000001", "private/d-000002", evaluation.LimiterWorkflowID("elevenlabs")} {
		if kept[suffix] == nil {
			t.Errorf("no history of %s", suffix)
		}
	}
	for what, h := range kept {
		if found := findMark(h.text, mark); found != "" {
			t.Errorf("%s shows %s", what, found)
		}
	}
	if found := findMark(r.database(t), mark); found != "" {
		t.Errorf("Temporal's database shows %s", found)
	}
	t.Run("every payload is encrypted, and the codec server opens it", func(t *testing.T) {
		r.checkPayloads(t, kept, mark)
	})
	t.Run("encrypted histories replay", func(t *testing.T) { replay(t, kept, one+","+two) })

	// Where nothing is encrypted the same text is found, else there was nothing to see.
	// Workers with keys serve it all the same: it may have begun before there were any.
	t.Run("not encrypted", func(t *testing.T) {
		const visible = "zqvisible"
		open := r.write(t, visible+".csv", "ID,Dialogue,Manipulative,Technique,Vulnerability\nzqvisible,\"Person1: Fine.\nPerson2: So it is.\",0,,\n")
		r.env = keyless
		r.starter(t, "setup", "--encryption", "off")
		r.starter(t, "evaluate", "--id", "open", "--detach", "--synthesizer", "elevenlabs", "--dataset", open)
		r.env = keyed
		if built := decode(t, r.starter(t, "watch", "open", "--json")); built.N != 1 {
			t.Errorf("n %d, failures %+v", built.N, built.Failures)
		}
		if kept := r.histories(t); findMark(kept["open"].text, visible) == "" || kept["open/d-zqvisible"] == nil {
			t.Error("the name of an open dataset isn't found: these checks see nothing")
		}
		if findMark(r.database(t), visible) == "" {
			t.Error("Temporal's database isn't read as it should be")
		}
	})
}

func newPayloadKey(t *testing.T) string {
	t.Helper()
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return base64.StdEncoding.EncodeToString(raw)
}

// findMark returns the form in which a text holds the mark, "" for none.
func findMark(text, mark string) string {
	for _, form := range []string{mark, hex.EncodeToString([]byte(mark))} {
		if at := strings.Index(text, form); at >= 0 {
			return fmt.Sprintf("%q", text[max(0, at-80):min(len(text), at+80)])
		}
	}
	// In base64 a text has one of three forms, by its place; the ends depend on neighbours.
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + mark))
		if form := encoded[4*min(shift, 1) : len(encoded)-4]; strings.Contains(text, form) {
			return "base64 " + form
		}
	}
	return ""
}

// keptHistory is all that Temporal tells of a workflow.
type keptHistory struct {
	text   string
	events *historypb.History // nil of what is no history
}

// histories reads all workflows as somebody without a key can.
func (r *rig) histories(t *testing.T) map[string]*keptHistory {
	t.Helper()
	c := r.temporal(t)
	defer c.Close()
	listed, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{PageSize: 100})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*keptHistory{}
	for _, found := range listed.Executions {
		h := &keptHistory{text: found.String(), events: &historypb.History{}}
		events := c.GetWorkflowHistory(t.Context(), found.Execution.WorkflowId, found.Execution.RunId, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			h.text += event.String()
			h.events.Events = append(h.events.Events, event)
		}
		all[found.Execution.WorkflowId] = h
	}
	return all
}

// askTemporal returns what Temporal says of a running evaluation to somebody without a
// key: its description, its progress, and the metadata with its current details.
func (r *rig) askTemporal(t *testing.T, id string) map[string]string {
	t.Helper()
	c := r.temporal(t)
	defer c.Close()
	execution := &commonpb.WorkflowExecution{WorkflowId: id}
	described, err := c.WorkflowService().DescribeWorkflowExecution(t.Context(), &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: r.stack.Namespace, Execution: execution,
	})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{"the description": described.String()}
	for _, query := range []string{evaluation.QueryProgress, "__temporal_workflow_metadata", "__stack_trace"} {
		answer, err := c.WorkflowService().QueryWorkflow(t.Context(), &workflowservice.QueryWorkflowRequest{
			Namespace: r.stack.Namespace,
			Execution: execution,
			Query:     &querypb.WorkflowQuery{QueryType: query},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range answer.GetQueryResult().GetPayloads() {
			if encoding := string(p.GetMetadata()["encoding"]); encoding != codec.Encoding {
				t.Errorf("query %s is answered with encoding %q", query, encoding)
			}
		}
		answers["query "+query] = answer.String()
	}
	return answers
}

// database returns the bytes of the dev stack's Temporal database.
func (r *rig) database(t *testing.T) string {
	t.Helper()
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.stack.PID))
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(string(line), "\x00")
	files, err := filepath.Glob(filepath.Join(args[slices.Index(args, "--data")+1], "temporal.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no database: %v", err)
	}
	var all strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a journal may have gone
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// checkPayloads has a codec server open every payload of the histories.
func (r *rig) checkPayloads(t *testing.T, kept map[string]*keptHistory, mark string) {
	const token = "a-token-for-this-test"
	remote := converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{
		Endpoint: r.codecServer(t, token),
		ModifyRequest: func(request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token)
			return nil
		},
	})
	payloads, marked, keys := 0, 0, map[string]bool{}
	for what, h := range kept {
		if h.events == nil {
			continue
		}
		err := proxy.VisitPayloads(context.Background(), h.events, proxy.VisitPayloadsOptions{
			SkipSearchAttributes: true,
			Visitor: func(_ *proxy.VisitPayloadsContext, sealed []*commonpb.Payload) ([]*commonpb.Payload, error) {
				for _, p := range sealed {
					if string(p.GetMetadata()["encoding"]) != codec.Encoding {
						t.Errorf("%s has a payload that isn't encrypted: %v", what, p)
					}
					keys[string(p.GetMetadata()["encryption-key-id"])] = true
				}
				opened, err := remote.Decode(sealed)
				for _, p := range opened {
					payloads++
					if bytes.Contains(p.GetData(), []byte(mark)) {
						marked++
					}
				}
				return sealed, err
			},
		})
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	t.Logf("%d payloads under %d keys, the mark in %d", payloads, len(keys), marked)
	if marked == 0 || len(keys) != 2 {
		t.Errorf("of %d payloads %d have the mark, under %d keys; want some, under 2", payloads, marked, len(keys))
	}
}

// codecServer starts one and returns its address.
func (r *rig) codecServer(t *testing.T, token string) string {
	t.Helper()
	return r.serve(t, []string{"SPEECHMANIP_CODEC_TOKEN=" + token}, "codec-server")
}

// serve runs a command of the starter that serves, on a free port, until the test ends.
// It returns where.
func (r *rig) serve(t *testing.T, env []string, args ...string) string {
	t.Helper()
	out := filepath.Join(r.dir, args[0]+".out")
	file, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command(devstacktest.Binary(t, "starter"), append(args, "--listen", "127.0.0.1:0")...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(slices.Clone(r.env), env...), file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s ends with %v", args[0], err)
		}
	})
	address := ""
	waitFor(t, 30*time.Second, args[0], func() bool {
		said, err := os.ReadFile(out)
		address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(string(said))
		return err == nil && address != ""
	})
	return address
}

// replay replays what was recorded under encryption.
func replay(t *testing.T, kept map[string]*keptHistory, text string) {
	keys, err := codec.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	payloads, err := codec.New(keys)
	if err != nil {
		t.Fatal(err)
	}
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DataConverter: payloads.DataConverter(), FailureConverter: payloads.FailureConverter(),
	})
	if err != nil {
		t.Fatal(err)
	}
	workflows.Register(replayer)
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	for what, h := range kept {
		if h.events == nil || strings.HasPrefix(what, "limiter/") {
			continue
		}
		if err := replayer.ReplayWorkflowHistory(quiet, h.events); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
