package activities

import (
	"context"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// judgement reads what one modality's answers say.
func (r *Records) judgement(ctx context.Context, job Job, judged Judged, modality detect.Modality) (evaluation.Judgement, error) {
	store := r.Library.Archive.Store
	out := evaluation.Judgement{Verdict: judged.Verdict, Tactic: judged.Tactic}
	var err error
	if out.Passes, out.Analytic, err = r.answers(ctx, judged.Answers); err != nil {
		return out, err
	}
	if judged.Swapped != nil {
		swapped := evaluation.SwappedRecord{Straight: judged.Outcome, Verdict: judged.Swapped.Outcome}
		if swapped.Passes, swapped.Analytic, err = r.answers(ctx, *judged.Swapped); err != nil {
			return out, err
		}
		out.Swapped = &swapped
	}
	if !judged.Tactics.IsZero() {
		tactics, err := objectstore.GetJSON[evaluation.StoredTactics](ctx, store, judged.Tactics)
		if err != nil {
			return out, err
		}
		out.Scores = &tactics.Scores
	}
	if attempts := len(judged.Quotes); attempts > 0 {
		quote, err := objectstore.GetJSON[evaluation.StoredQuote](ctx, store, judged.Quotes[attempts-1])
		if err != nil {
			return out, err
		}
		out.Evidence = evidence(quote.Evidence, attempts, job.Spec.Rules)
		if modality == detect.Text && out.Evidence.Text != "" {
			occurs := job.Dialogue.Says(out.Evidence.Text)
			out.Evidence.Occurs = &occurs
		}
	}
	return out, nil
}

func (r *Records) answers(ctx context.Context, a Answers) (passes []evaluation.PassRecord, analytic *evaluation.AnalyticRecord, err error) {
	store := r.Library.Archive.Store
	for _, ref := range a.Passes {
		pass, err := objectstore.GetJSON[evaluation.StoredPass](ctx, store, ref)
		if err != nil {
			return nil, nil, err
		}
		passes = append(passes, evaluation.PassRecord{Pass: pass.Pass, Seed: pass.Seed, PYes: pass.Decision.PYes, Ref: ref})
	}
	if a.Choice.IsZero() {
		return passes, nil, nil
	}
	choice, err := objectstore.GetJSON[evaluation.StoredChoice](ctx, store, a.Choice)
	return passes, &evaluation.AnalyticRecord{Choice: choice.Choice, Majority: a.Majority, Ref: a.Choice}, err
}

func evidence(e detect.Evidence, attempts int, rules vote.Rules) *evaluation.EvidenceRecord {
	return &evaluation.EvidenceRecord{Quote: vote.NormalizeQuote(e.Quote, rules), Start: e.Start, End: e.End, Attempts: attempts}
}
