//go:build integration && linux

package e2e

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/speechmanip/speechmanip/internal/annotation"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/study"
)

// TestStudiesThroughAKill has annotators judge a hundred items in both modalities, as a
// seeded model answers for them, while the worker is killed: in one study eight who meet
// the same items twice, and one who is added; in another eight who meet none again.
func TestStudiesThroughAKill(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	r.judged(t, "judged", 104)
	w := r.worker(t, "--roles", "workflows")
	create := []string{"annotation", "create", "--evaluation", "judged", "--items", "100", "--min-votes", "3", "--seed", "7",
		"--annotators", r.write(t, "annotators.txt", "ann\nbo\ncy\ndi\ned\nflo\ngus\nhal\n"), "--consent", r.write(t, "consent.toml", consent)}
	_, errOut, err := r.try(t, append(create, "--batches-each", "1")...)
	if err == nil || !strings.Contains(errOut, "get fewer than 3 votes") {
		t.Errorf("a design below its votes: %v, %s", err, errOut)
	}
	apart := append(slices.Clone(create), "--id", "apart", "--repeat", "disjoint")
	create = append(create, "--attention", "i100=YES", "--attention", "i101=NO")
	if plan := r.starter(t, append(create, "--plan")...); !strings.Contains(plan, "an item gets 3 to 4, on average") {
		t.Errorf("the plan:\n%s", plan)
	}
	r.starter(t, create...)
	r.starter(t, apart...)
	for _, command := range []string{"pause judged", "resume judged", "add judged ivy", "links judged --base-url http://127.0.0.1 --out links.csv"} {
		r.starter(t, append([]string{"annotation"}, strings.Fields(command)...)...)
	}

	people, others := newAnnotators(t, r, "judged", 200), newAnnotators(t, r, "apart", 200)
	finished, othersFinished := people.work(t, 9), others.work(t, 8)
	<-people.some
	<-others.some
	w.kill(t)
	r.worker(t, "--roles", "workflows")
	finished()
	othersFinished()

	r.completed(t, people)
	for who, modalities := range r.completed(t, others) {
		if len(modalities) > 1 {
			t.Errorf("%s is met in both modalities", who)
		}
	}
	r.starter(t, "annotation", "erase", "judged", "A03", "--yes")
	for _, form := range []string{"long", "consensus", "batches"} {
		if text := r.starter(t, "annotation", "export", "judged", "--private", "--form", form); strings.Contains(text, "A03") {
			t.Errorf("A03 is in the export %s", form)
		}
	}
}

// completed checks what a study of a hundred items has at its end, and returns the
// modalities in which each annotator met each item.
func (r *rig) completed(t *testing.T, people *annotators) map[string]map[string]bool {
	t.Helper()
	id := people.study
	t.Logf("%s: %d judgments acknowledged, the longest after %s", id, len(people.acknowledged), people.longest.Round(time.Millisecond))
	people.lostNone(t, r.starter(t, "annotation", "export", id, "--form", "batches", "--private"))
	long := r.starter(t, "annotation", "export", id)
	votes, met := map[string]int{}, map[string]map[string]bool{}
	for _, row := range rows(t, long) {
		votes[row["item"]+" "+row["modality"]]++
		who := row["annotator"] + " " + row["item"]
		if met[who] == nil {
			met[who] = map[string]bool{}
		}
		met[who][row["modality"]] = true
	}
	for item, n := range votes {
		if n < 3 {
			t.Errorf("%s: %s has %d votes", id, item, n)
		}
	}
	if len(votes) != 200 {
		t.Errorf("%s: %d items with votes, want 100 in each modality", id, len(votes))
	}
	adjudicated := 0
	for _, row := range rows(t, r.starter(t, "annotation", "export", id, "--form", "consensus")) {
		tie := row["yes"] == row["no"]
		if row["label"] == "UNRESOLVED" || tie != (row["adjudication"] == "resolved") {
			t.Errorf("%s: %v", id, row)
		}
		if tie {
			adjudicated++
		}
	}
	var view struct{ Stage study.Stage }
	if text := r.starter(t, "annotation", "status", id, "--json"); json.Unmarshal([]byte(text), &view) != nil || view.Stage != study.Complete || adjudicated == 0 {
		t.Errorf("%s: %d adjudicated, status %s", id, adjudicated, text)
	}
	t.Run("agreement of "+id, func(t *testing.T) { r.sameAgreement(t, r.write(t, id+".csv", long)) })
	return met
}

const consent = `purpose = "p"
content_warning = "c"
data_collected = "d"
pay = "y"
withdrawal = "w"
retention = "r"
publication = "u"
ethics = "none"
contact = "o"
`

// judged stores an evaluation that has judged n dialogues. Their clips are never heard.
func (r *rig) judged(t *testing.T, id string, n int) {
	t.Helper()
	store := r.archive(t)
	var dialogues []dialogue.Dialogue
	for i := range n {
		dialogues = append(dialogues, dialogue.Dialogue{
			ID: fmt.Sprint("i", i), Truth: []dialogue.Truth{dialogue.Yes, dialogue.No}[i%2],
			Turns: []dialogue.Turn{{Speaker: "Person1", Text: fmt.Sprint("Turn one of ", i)}, {Speaker: "Person2", Text: "Turn two."}},
		})
	}
	lines, places, err := store.PutDataset(t.Context(), dialogues)
	if err != nil {
		t.Fatal(err)
	}
	m := evaluation.Manifest{Spec: evaluation.Spec{ID: id, Dataset: evaluation.Dataset{Name: "made", Lines: lines}}}
	var chunk evaluation.Chunk
	for i, d := range dialogues {
		chunk.Items = append(chunk.Items, evaluation.Item{ID: d.ID, Line: places[i]})
	}
	if _, _, err := store.Create(t.Context(), m, []evaluation.Chunk{chunk}); err != nil {
		t.Fatal(err)
	}
	for _, d := range dialogues {
		record := evaluation.Record{Evaluation: id, ID: d.ID, Truth: d.Truth, Clip: objectstore.Ref{Key: "clips/" + d.ID + ".wav", SHA256: d.ID}, ClipSeconds: 5}
		if _, err := store.PutRecord(t.Context(), 0, record); err != nil {
			t.Fatal(err)
		}
	}
}

// annotators answer by a seeded model through the study's Updates.
type annotators struct {
	client client.Client
	study  string

	some   chan struct{} // closed when so many are acknowledged, or nobody judges any more
	enough func()        // closes it
	at     int

	mu           sync.Mutex
	acknowledged map[string]annotation.Label // by annotator, assignment and item
	longest      time.Duration               // until an acknowledgement
}

func newAnnotators(t *testing.T, r *rig, id string, at int) *annotators {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: r.stack.Temporal, Namespace: r.stack.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	a := &annotators{client: c, study: id, at: at, some: make(chan struct{}), acknowledged: map[string]annotation.Label{}}
	a.enough = sync.OnceFunc(func() { close(a.some) })
	return a
}

// work has n annotators judge, side by side, until the study is complete; what it returns
// waits for that.
func (a *annotators) work(t *testing.T, n int) (finished func()) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			defer a.enough()
			if err := a.annotate(ctx, fmt.Sprintf("A%02d", i+1)); err != nil {
				t.Errorf("annotator %d: %v", i+1, err)
			}
		})
	}
	return func() {
		all.Wait()
		cancel()
		if t.Failed() {
			t.FailNow()
		}
	}
}

func (a *annotators) annotate(ctx context.Context, name string) error {
	for ctx.Err() == nil {
		var desk study.Desk
		value, err := a.client.QueryWorkflow(ctx, study.WorkflowID(a.study), "", study.QueryDesk, name)
		if err == nil {
			err = value.Get(&desk)
		}
		switch {
		case err != nil || desk.Open == nil && desk.Stage != study.Complete:
			time.Sleep(200 * time.Millisecond) // the worker is away, or others have something to do first
		case desk.Open == nil:
			return nil
		default:
			a.judge(ctx, desk)
		}
	}
	return ctx.Err()
}

// judge works through a batch; what fails is said again when the desk is looked at next.
func (a *annotators) judge(ctx context.Context, desk study.Desk) {
	open := *desk.Open
	for _, item := range open.Items {
		j := study.Judge{Annotator: open.Annotator, Modality: open.Modality}
		j.Judgment = study.Judgment{Item: item, Label: modelLabel(open, item), Heard: open.Modality == annotation.Audio, Millis: 6000}
		began := time.Now()
		if a.update(ctx, desk.Workflow, study.UpdateJudge, j) != nil {
			return
		}
		a.mu.Lock()
		a.longest = max(a.longest, time.Since(began))
		a.acknowledged[fmt.Sprint(open.Annotator, " ", open.Part(), " ", item)] = j.Label
		if len(a.acknowledged) >= a.at {
			a.enough()
		}
		a.mu.Unlock()
	}
	_ = a.update(ctx, desk.Workflow, study.UpdateFinish)
}

func (a *annotators) update(ctx context.Context, workflow, name string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	handle, err := a.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: workflow, UpdateName: name, Args: args, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}

// modelLabel is right two times of three, and the same each time.
func modelLabel(a study.Assignment, item int) annotation.Label {
	h := fnv.New64a()
	fmt.Fprint(h, a.Annotator, a.Modality, item)
	right := h.Sum64()>>20%3 > 0
	if right == (item%2 == 0) {
		return annotation.Yes
	}
	return annotation.No
}

// lostNone compares what was acknowledged with what is exported.
func (a *annotators) lostNone(t *testing.T, batches string) {
	t.Helper()
	exported := map[string]annotation.Label{}
	for lines := bufio.NewScanner(strings.NewReader(batches)); lines.Scan(); {
		var b study.Batch
		if err := json.Unmarshal(lines.Bytes(), &b); err != nil {
			t.Fatal(err)
		}
		for _, j := range b.Judgments {
			exported[fmt.Sprint(b.Assignment.Annotator, " ", b.Assignment.Part(), " ", j.Item)] = j.Label
		}
	}
	for key, label := range a.acknowledged {
		if exported[key] != label {
			t.Errorf("%s: %s was acknowledged, %q is exported", key, label, exported[key])
		}
	}
	if len(exported) != len(a.acknowledged) {
		t.Errorf("%d judgments exported, %d acknowledged", len(exported), len(a.acknowledged))
	}
}

// rows reads a CSV with a header.
func rows(t *testing.T, text string) []map[string]string {
	t.Helper()
	read, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(read) < 2 {
		t.Fatalf("%d rows, %v", len(read), err)
	}
	var all []map[string]string
	for _, fields := range read[1:] {
		row := map[string]string{}
		for i, name := range read[0] {
			row[name] = fields[i]
		}
		all = append(all, row)
	}
	return all
}

// sameAgreement compares Krippendorff's alpha with that of another implementation: by
// pairs of votes, where ours goes by coincidences.
func (r *rig) sameAgreement(t *testing.T, long string) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here: agreement is not compared with another implementation")
	}
	for _, modality := range []string{"text", "audio"} {
		out, err := exec.Command(python, "testdata/alpha.py", long, modality).Output()
		if err != nil {
			t.Fatal(err)
		}
		var other float64
		if _, err := fmt.Sscan(string(out), &other); err != nil {
			t.Fatal(err)
		}
		var ours struct {
			Alpha struct {
				Value float64
				Items int
			}
		}
		text := r.starter(t, "annotation", "agreement", "--annotations", long, "--modality", modality, "--draws", "0", "--json")
		if err := json.Unmarshal([]byte(text), &ours); err != nil {
			t.Fatal(err)
		}
		if math.Abs(other-ours.Alpha.Value) > 1e-9 || ours.Alpha.Items != 100 {
			t.Errorf("%s: alpha %g of %d items, another implementation has %g", modality, ours.Alpha.Value, ours.Alpha.Items, other)
		}
	}
}
