package workflows

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/evaluation"
)

// budgeted gives every dialogue of the tree an estimate. A dialogue of the fakes
// takes 3 turns, one preparation, 5 passes, a scoring and a quote: 11 calls.
func budgeted(f *fakes, in EvaluateInput, estimate, calls int) EvaluateInput {
	var whole evaluation.Cost
	for _, chunk := range f.chunks {
		for i := range chunk.Items {
			chunk.Items[i].Estimate = evaluation.Cost{Calls: estimate}
			whole = whole.Add(chunk.Items[i].Estimate)
		}
	}
	for range in.Chunks {
		in.Estimates = append(in.Estimates, whole)
	}
	in.Budget = evaluation.Budget{Calls: calls}
	return in
}

func TestBudget(t *testing.T) {
	const actual = 11
	for _, test := range []struct {
		name             string
		estimate, budget int
		done             int // of 10, when the evaluation pauses; 10 when it doesn't
	}{
		{"enough", actual, 10 * actual, 10},
		{"exactly four", actual, 4 * actual, 4},
		{"not quite five", actual, 5*actual - 1, 4},
		// What is in flight reserves its estimate, and gives back what it doesn't take:
		// 5 dialogues took 55, the sixth's estimate of 20 fits into 79 no more beside them.
		{"estimates are too high", 20, 79, 6},
		{"not one", 20, 19, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFakes()
			env, in := treeOf(t, f, 10)
			in = budgeted(f, in, test.estimate, test.budget)
			paused := false
			env.RegisterDelayedCallback(func() {
				p := progressOf(t, env)
				paused = true
				if got := f.count("SaveRecord"); p.Paused == nil || p.Paused.Code != evaluation.ReasonBudget || got != test.done {
					t.Errorf("%d recorded, want %d; paused %+v", got, test.done, p.Paused)
				}
				if got := f.count("SaveRecord"); got*actual > test.budget {
					t.Errorf("%d calls, the budget is %d", got*actual, test.budget)
				}
				env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: 1, Budget: evaluation.Budget{Calls: 1000}})
			}, time.Hour)
			env.ExecuteWorkflow(Evaluate, in)
			var result EvaluateResult
			if err := env.GetWorkflowResult(&result); err != nil {
				t.Fatal(err)
			}
			if paused != (test.done < 10) {
				t.Errorf("paused %v with %d of 10 done", paused, test.done)
			}
			if diff := cmp.Diff([]int{10, 0}, []int{result.Progress.Done, result.Progress.Failed}); diff != "" {
				t.Errorf("done and failed (-want +got):\n%s", diff)
			}
		})
	}
}

// Resumed without a larger budget it pauses again, and spends nothing meanwhile.
func TestBudgetResumedWithoutMore(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 6)
	in = budgeted(f, in, 11, 22)
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: 1})
	}, time.Hour)
	env.RegisterDelayedCallback(func() {
		p := progressOf(t, env)
		if p.Paused == nil || p.Paused.Generation != 1 || f.count("SaveRecord") != 2 {
			t.Errorf("%d recorded, paused %+v", f.count("SaveRecord"), p.Paused)
		}
		env.SignalWorkflow(evaluation.SignalResume, evaluation.Resume{Generation: 2, Budget: evaluation.Budget{Calls: 66}})
	}, 2*time.Hour)
	env.ExecuteWorkflow(Evaluate, in)
	var result EvaluateResult
	if err := env.GetWorkflowResult(&result); err != nil || result.Progress.Done != 6 {
		t.Errorf("%v, progress %+v", err, result.Progress)
	}
}

// Chunks share one budget: what one gives back another may take.
func TestBudgetOverChunks(t *testing.T) {
	f := newFakes()
	env, in := treeOf(t, f, 3)
	in.Chunks = append(in.Chunks, ref("other"), ref("third"))
	f.chunks["other"], f.chunks["third"] = chunkNamed("o", 3), chunkNamed("t", 3)
	in.Items = 9
	in = budgeted(f, in, 20, 9*11+9) // each chunk estimates 60 and takes 33
	for i := range in.Estimates {
		in.Estimates[i] = evaluation.Cost{Calls: 60}
	}
	env.RegisterDelayedCallback(func() { t.Errorf("paused: %+v", progressOf(t, env).Paused) }, time.Hour)
	env.ExecuteWorkflow(Evaluate, in)
	var result EvaluateResult
	if err := env.GetWorkflowResult(&result); err != nil || result.Progress.Done != 9 {
		t.Errorf("%v, progress %+v", err, result.Progress)
	}
}

func chunkNamed(prefix string, n int) evaluation.Chunk {
	chunk := chunkOf(n)
	for i := range chunk.Items {
		chunk.Items[i].ID = prefix + chunk.Items[i].ID
	}
	return chunk
}
