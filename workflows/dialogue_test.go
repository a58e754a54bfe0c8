package workflows

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/vote"
)

var task = evaluation.Task{
	Evaluation: "e",
	Manifest:   ref("manifest"),
	Engines:    ref("engines"),
	Item:       evaluation.Item{ID: "7"},
}

// evaluateDialogue runs the workflow to its end.
func evaluateDialogue(t *testing.T, f *fakes) (DialogueResult, error) {
	t.Helper()
	return dialogueIn(t, environment(t, f))
}

func dialogueIn(t *testing.T, env *testsuite.TestWorkflowEnvironment) (DialogueResult, error) {
	t.Helper()
	env.ExecuteWorkflow(EvaluateDialogue, task)
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow didn't end")
	}
	var result DialogueResult
	if err := env.GetWorkflowError(); err != nil {
		return result, err
	}
	if err := env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	return result, nil
}

// record returns the one record that was saved.
func (f *fakes) record(t *testing.T) activities.RecordTask {
	t.Helper()
	if len(f.records) != 1 {
		t.Fatalf("%d records saved, want 1", len(f.records))
	}
	return f.records[0]
}

func TestDialogueStages(t *testing.T) {
	rendering := []string{"PlanDialogue", "SynthesizeTurn", "ComposeClip"}
	listening := []string{"RecognizeClip", "MeasureClip", "PrepareItem", "DetectPass"}
	explaining := []string{"ScoreTactics", "QuoteEvidence", "SaveRecord"}
	no := []vote.Vote{vote.VoteNo, vote.VoteNo, vote.VoteNo, vote.VoteYes, vote.VoteYes}

	for _, test := range []struct {
		name   string
		change func(*fakes)
		want   []string
		turns  int
	}{
		{"rendered and YES", func(*fakes) {}, slices.Concat(rendering, listening, explaining), 3},
		{"rendered and NO: no tactic, no quote", func(f *fakes) { f.votes = no }, slices.Concat(rendering, listening, []string{"SaveRecord"}), 3},
		{"the clip exists", func(f *fakes) {
			f.plan.Spoken, f.plan.Clip, f.plan.Timeline = nil, ref("clip"), ref("timeline")
		}, slices.Concat([]string{"PlanDialogue"}, listening, explaining), 0},
		{"somebody else's clip has no timeline", func(f *fakes) {
			f.plan.Spoken, f.plan.Clip = nil, ref("clip")
		}, slices.Concat([]string{"PlanDialogue"}, listening, explaining), 0},
		{"text renders nothing", func(f *fakes) {
			f.plan.Spoken, f.plan.NeedsClip = nil, false
		}, slices.Concat([]string{"PlanDialogue", "PrepareItem", "DetectPass"}, explaining), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakes()
			test.change(f)
			if _, err := evaluateDialogue(t, f); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, f.stages()); diff != "" {
				t.Errorf("stages (-want +got):\n%s", diff)
			}
			if got := f.count("SynthesizeTurn"); got != test.turns {
				t.Errorf("%d turns synthesised, want %d", got, test.turns)
			}
			if got := f.count("DetectPass"); got != 5 {
				t.Errorf("%d passes, want 5", got)
			}
		})
	}
}

// The plan's fakes leave turn 2 out: it has no words.
func TestDialogueSpeaksPlannedTurnsOnly(t *testing.T) {
	f := newFakes()
	if _, err := evaluateDialogue(t, f); err != nil {
		t.Fatal(err)
	}
	for _, turn := range []string{"SynthesizeTurn 0", "SynthesizeTurn 1", "SynthesizeTurn 3"} {
		if f.count(turn) != 1 {
			t.Errorf("%s was called %d times, want once", turn, f.count(turn))
		}
	}
}

func TestDialogueRecord(t *testing.T) {
	f := newFakes()
	f.stored = map[string]bool{"SynthesizeTurn 1": true, "DetectPass 4": true, "RecognizeClip": true}
	result, err := evaluateDialogue(t, f)
	if err != nil {
		t.Fatal(err)
	}
	usage := evaluation.Usage{
		TurnsMade: 2, TurnsStored: 1, Characters: 20, ClipsMade: 1, RecognizedStored: 1,
		Questions: 7, PassesMade: 6, PassesStored: 1, // five passes, the tactics, one quote
	}
	if diff := cmp.Diff(DialogueResult{Verdict: vote.Yes, Usage: usage}, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	record := f.record(t)
	if record.Tactic == nil || record.Tactic.Tactic != tactic.Shaming {
		t.Errorf("tactic %+v, want %s", record.Tactic, tactic.Shaming)
	}
	record.Tactic = nil // package vote's own tests look at the rest of it
	want := activities.RecordTask{
		Task: task, Clip: ref("clip"), Timeline: ref("timeline"), Transcript: ref("transcript"), Quality: ref("quality"),
		Judged: activities.Judged{
			Answers: activities.Answers{
				Passes:  []objectstore.Ref{ref("pass0"), ref("pass1"), ref("pass2"), ref("pass3"), ref("pass4")},
				Outcome: vote.Outcome{Verdict: vote.Yes, Yes: 4, No: 1, Constrained: 5, Margin: 3},
			},
			Verdict: vote.Outcome{Verdict: vote.Yes, Yes: 4, No: 1, Constrained: 5, Margin: 3},
			Tactics: ref("tactics"), Quotes: []objectstore.Ref{ref("quote0")},
		},
		Usage: usage,
	}
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestDialogueVerdicts(t *testing.T) {
	const y, n, x = vote.VoteYes, vote.VoteNo, vote.VoteInvalid
	for _, test := range []struct {
		name  string
		rules vote.Rules
		votes []vote.Vote
		want  vote.Verdict
	}{
		{"majority", vote.Paper(), []vote.Vote{y, n, y, n, y}, vote.Yes},
		{"no majority among the valid", vote.Paper(), []vote.Vote{y, y, n, n, x}, vote.Unresolved},
		{"INVALID is no NO", vote.Paper(), []vote.Vote{n, n, x, x, x}, vote.Unresolved},
		{"all INVALID", vote.Paper(), []vote.Vote{x, x, x, x, x}, vote.Unresolved},
		{"released: more YES than NO", vote.Released(), []vote.Vote{y, x, x, x, x}, vote.Yes},
		{"released: all INVALID", vote.Released(), []vote.Vote{x, x, x, x, x}, vote.Unresolved},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakes()
			f.plan.Rules, f.votes = test.rules, test.votes
			result, err := evaluateDialogue(t, f)
			if err != nil {
				t.Fatal(err)
			}
			record := f.record(t)
			if result.Verdict != test.want || record.Verdict.Verdict != test.want || record.Failure != nil {
				t.Errorf("verdict %s, record %+v, failure %v; want %s and no failure", result.Verdict, record.Verdict, record.Failure, test.want)
			}
			if explained := f.count("ScoreTactics") > 0; explained != (test.want == vote.Yes) {
				t.Errorf("tactics scored: %v for %s", explained, test.want)
			}
		})
	}
}

func TestDialogueQuotes(t *testing.T) {
	for _, test := range []struct {
		name     string
		rules    vote.Rules
		top      tactic.Tactic
		quotes   []string
		attempts int
		named    tactic.Tactic
	}{
		{"one is enough", vote.Paper(), tactic.Shaming, []string{"words"}, 1, ""},
		{"one retry after an empty one", vote.Paper(), tactic.Shaming, []string{"", "words"}, 2, ""},
		{"never a third", vote.Paper(), tactic.Shaming, []string{"", "", "words"}, 2, ""},
		{"paper: a YES without a lead has one too", vote.Paper(), tactic.None, []string{"words"}, 1, ""},
		{"released: names the tactic", vote.Released(), tactic.Shaming, []string{"words"}, 1, tactic.Shaming},
		{"released: one retry too", vote.Released(), tactic.Shaming, []string{"", "words"}, 2, tactic.Shaming},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakes()
			f.plan.Rules, f.top, f.quotes = test.rules, test.top, test.quotes
			if _, err := evaluateDialogue(t, f); err != nil {
				t.Fatal(err)
			}
			if len(f.quoted) != test.attempts || len(f.record(t).Quotes) != test.attempts {
				t.Fatalf("%d quotes asked, %d recorded, want %d", len(f.quoted), len(f.record(t).Quotes), test.attempts)
			}
			for attempt, asked := range f.quoted {
				if asked.Attempt != attempt || asked.Tactic != test.named {
					t.Errorf("attempt %d asked as %d with tactic %q, want %q", attempt, asked.Attempt, asked.Tactic, test.named)
				}
			}
		})
	}
}

// Under rules whose second-best may be none, a YES without a tactic has no
// question to ask.
func TestDialogueReleasedWithoutTactic(t *testing.T) {
	f := newFakes()
	f.plan.Rules = vote.Released()
	f.plan.Rules.TacticMargin = vote.One // no lead is enough, so the second-best counts
	f.top = tactic.Shaming
	f.plan.Rules.TacticOrder = vote.OrderName // "none" ranks before the capitalised names
	result, err := evaluateDialogue(t, f)
	if err != nil {
		t.Fatal(err)
	}
	record := f.record(t)
	if result.Verdict != vote.Yes || record.Tactic == nil || record.Tactic.Tactic != tactic.None {
		t.Fatalf("verdict %s, tactic %+v; want YES with none", result.Verdict, record.Tactic)
	}
	if len(f.quoted) != 0 || len(record.Quotes) != 0 {
		t.Errorf("%d quotes asked without a tactic", len(f.quoted))
	}
}

func TestDialogueFailures(t *testing.T) {
	broken := temporal.NewNonRetryableApplicationError("voice v9 does not exist (use another pool)", "voice_not_found", nil)
	for _, test := range []struct {
		name   string
		fail   []string
		stage  string
		never  string // must not begin after it
		turns  int
		passes int // refs in the record
	}{
		{"plan", []string{"PlanDialogue"}, "planning", "SynthesizeTurn", 0, 0},
		{"one turn: the others are spoken", []string{"SynthesizeTurn 1"}, "synthesise turns 1", "ComposeClip", 2, 0},
		{"two turns: both are named", []string{"SynthesizeTurn 0", "SynthesizeTurn 3"}, "synthesise turns 0 3", "ComposeClip", 1, 0},
		{"compose", []string{"ComposeClip"}, "composing the clip", "RecognizeClip", 3, 0},
		{"recognise", []string{"RecognizeClip"}, "recognising the clip", "PrepareItem", 3, 0},
		{"measure", []string{"MeasureClip"}, "recognising the clip", "PrepareItem", 3, 0},
		{"prepare", []string{"PrepareItem"}, "preparing", "DetectPass", 3, 0},
		{"a pass", []string{"DetectPass 2"}, "making 5 passes", "ScoreTactics", 3, 4},
		{"tactics", []string{"ScoreTactics"}, "attributing the tactic", "QuoteEvidence", 3, 5},
		{"quote", []string{"QuoteEvidence 0"}, "quoting the evidence", "QuoteEvidence 1", 3, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakes()
			for _, step := range test.fail {
				f.fail[step] = broken
			}
			_, err := evaluateDialogue(t, f)
			if err == nil || !strings.Contains(err.Error(), "voice v9 does not exist") {
				t.Fatalf("workflow error %v, want the cause", err)
			}
			record := f.record(t)
			want := &evaluation.Failure{Stage: test.stage, Code: "voice_not_found", Message: "voice v9 does not exist (use another pool)"}
			if diff := cmp.Diff(want, record.Failure); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
			if record.Verdict.Verdict != "" && len(record.Passes) < 5 {
				t.Errorf("verdict %s after %d passes", record.Verdict.Verdict, len(record.Passes))
			}
			if n := f.count(test.never); n != 0 {
				t.Errorf("%s began %d times", test.never, n)
			}
			if record.Usage.TurnsMade != test.turns || len(record.Passes) != test.passes {
				t.Errorf("%d turns and %d passes in the record, want %d and %d", record.Usage.TurnsMade, len(record.Passes), test.turns, test.passes)
			}
		})
	}
}

func TestDialogueRetries(t *testing.T) {
	f := newFakes()
	f.fail["SynthesizeTurn 1"] = temporal.NewApplicationError("connection reset", "internal")
	f.on["SynthesizeTurn 1"] = func() {
		if f.count("SynthesizeTurn 1") == 3 {
			f.mu.Lock()
			delete(f.fail, "SynthesizeTurn 1")
			f.mu.Unlock()
		}
	}
	if _, err := evaluateDialogue(t, f); err != nil {
		t.Fatal(err)
	}
	if got := f.count("SynthesizeTurn 1"); got != 4 { // the third attempt's answer was decided before its hook ran
		t.Errorf("%d attempts, want 4", got)
	}
	if f.record(t).Failure != nil {
		t.Error("a fault that passed is a failure in the record")
	}
}

// A cancelled dialogue has no record, so that nothing takes it for a failure.
func TestDialogueCancelled(t *testing.T) {
	for _, step := range []string{"SynthesizeTurn 1", "ComposeClip", "RecognizeClip", "DetectPass 3", "QuoteEvidence 0"} {
		t.Run(step, func(t *testing.T) {
			f := newFakes()
			env := environment(t, f)
			f.on[step] = env.CancelWorkflow
			_, err := dialogueIn(t, env)
			if !temporal.IsCanceledError(err) {
				t.Errorf("workflow error %v, want that it is cancelled", err)
			}
			if len(f.records) != 0 {
				t.Errorf("records saved: %+v", f.records)
			}
		})
	}
}

func TestDialogueShowsVerdict(t *testing.T) {
	verdict := temporal.NewSearchAttributeKeyKeyword(evaluation.AttributeVerdict)
	detector := temporal.NewSearchAttributeKeyKeyword(evaluation.AttributeDetector)
	t.Run("where the namespace knows the attributes", func(t *testing.T) {
		env := environment(t, newFakes())
		if err := env.SetTypedSearchAttributesOnStart(temporal.NewSearchAttributes(detector.ValueSet("d"))); err != nil {
			t.Fatal(err)
		}
		env.OnUpsertTypedSearchAttributes(temporal.NewSearchAttributes(verdict.ValueSet("YES"))).Return(nil).Once()
		if _, err := dialogueIn(t, env); err != nil {
			t.Fatal(err)
		}
		env.AssertExpectations(t)
	})
	t.Run("not elsewhere", func(t *testing.T) {
		env := environment(t, newFakes())
		// With something expected, anything else panics.
		env.OnUpsertTypedSearchAttributes(temporal.NewSearchAttributes()).Return(nil)
		if _, err := dialogueIn(t, env); err != nil {
			t.Fatal(err)
		}
	})
}
