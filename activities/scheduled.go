package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/trend"
	"github.com/speechmanip/speechmanip/internal/webhook"
)

// Scheduled makes the evaluations of schedules, and says what they found.
type Scheduled struct {
	Library  *Library
	Webhooks map[string]webhook.Hook // by name
	HTTP     *http.Client
	Now      func() time.Time
}

// FiringTask is one firing of a schedule.
type FiringTask struct {
	Schedule objectstore.Ref   `json:"schedule"` // a stored evaluation.Schedule
	Firing   evaluation.Firing `json:"firing"`
	Private  bool              `json:"private,omitempty"` // as evaluation.Spec has it
}

// FiringPlan is what a firing evaluates, the canary first.
type FiringPlan struct {
	Canary *StoredEvaluation `json:"canary,omitempty"` // nil without one
	Main   StoredEvaluation  `json:"main"`
}

// StoredEvaluation is what a workflow needs of an evaluation whose clips exist and
// whose manifest is stored.
type StoredEvaluation struct {
	Evaluation  string            `json:"evaluation"`
	Manifest    objectstore.Ref   `json:"manifest"`
	Chunks      []objectstore.Ref `json:"chunks"`
	Items       int               `json:"items"`
	Limits      evaluation.Limits `json:"limits"`
	DetectQueue string            `json:"detect_queue"`
	Attributes  map[string]string `json:"attributes,omitempty"`
	Shown       bool              `json:"shown,omitempty"` // prompts show exemplars
	Prices      evaluation.Prices `json:"prices,omitzero"`

	Settings evaluation.Settings `json:"settings"`
}

// PrepareFiring stores the manifests of a firing; again, it finds them.
func (s *Scheduled) PrepareFiring(ctx context.Context, task FiringTask) (FiringPlan, error) {
	plan, err := s.prepare(ctx, task)
	return plan, toTemporal(err)
}

func (s *Scheduled) prepare(ctx context.Context, task FiringTask) (FiringPlan, error) {
	a := s.Library.Archive
	schedule, err := cached[evaluation.Schedule](ctx, s.Library, task.Schedule)
	if err != nil {
		return FiringPlan{}, err
	}
	source, err := a.Source(ctx, schedule.Baseline)
	if errors.Is(err, objectstore.ErrNotFound) {
		return FiringPlan{}, badInput("read the schedule's baseline", err)
	}
	if err != nil {
		return FiringPlan{}, err
	}
	if err := a.PutFiring(ctx, task.Firing); err != nil {
		return FiringPlan{}, err
	}
	var plan FiringPlan
	if task.Firing.Canary != "" {
		spec := source.Manifest.Spec.Again(task.Firing.Canary)
		spec.Note = fmt.Sprintf("canary of schedule %s, judged before %s", schedule.ID, task.Firing.Evaluation)
		spec.Quality.Off = true
		var items []evaluation.Item
		for _, item := range schedule.Canary {
			items = append(items, item.Item)
		}
		canary, err := s.create(ctx, task, source, spec, items, nil)
		if err != nil {
			return plan, err
		}
		plan.Canary = &canary
	}
	spec := source.Manifest.Spec.Again(task.Firing.Evaluation)
	kept, leftOut := evaluation.Again(source.Items, source.Records, spec.Heard())
	if len(kept) == 0 {
		return plan, fault.Permanentf("judge "+schedule.Baseline+" again", "nothing_left", "none of its %d dialogues has a clip", len(source.Items))
	}
	plan.Main, err = s.create(ctx, task, source, spec, kept, append(append([]evaluation.Excluded{}, source.Manifest.Exemplars...), leftOut...))
	return plan, err
}

// create stores an evaluation of items, or finds the one that an earlier attempt stored.
func (s *Scheduled) create(ctx context.Context, task FiringTask, source archive.Source, spec evaluation.Spec, items []evaluation.Item, excluded []evaluation.Excluded) (StoredEvaluation, error) {
	spec.Private = spec.Private || task.Private
	for i := range items {
		items[i].Alias = spec.Alias(i)
	}
	var shown []evaluation.Exemplar
	for i, e := range source.Shown {
		e.Item.Alias = spec.Alias(i)
		shown = append(shown, e)
	}
	m := evaluation.Manifest{Spec: spec, Created: s.Now().UTC(), Exemplars: excluded, Shown: shown}
	m, ref, err := s.Library.Archive.Create(ctx, m, evaluation.Divide(items, spec.Limits.ChunkSize))
	if errors.Is(err, archive.ErrUsed) {
		m, ref, err = s.Library.Archive.Manifest(ctx, spec.ID)
		if err == nil && m.Spec.Dataset.From != spec.Dataset.From {
			err = fault.Permanentf("store evaluation "+spec.ID, "id_used", "its id is used by another evaluation")
		}
	}
	if err != nil {
		return StoredEvaluation{}, err
	}
	out := StoredEvaluation{
		Evaluation: spec.ID, Manifest: ref, Chunks: m.Chunks, Items: m.Items, Limits: m.Spec.Limits,
		DetectQueue: m.Spec.Detection.Queue(), Shown: len(m.Shown) > 0, Prices: m.Spec.Prices, Settings: m.Spec.Settings(),
	}
	if m.Spec.SearchAttributes {
		out.Attributes = m.Spec.Attributes()
	}
	return out, nil
}

// CompareFiring says what a firing whose evaluations have ended found, stores that and
// writes the evaluation's report once more, with it.
func (s *Scheduled) CompareFiring(ctx context.Context, task FiringTask) (evaluation.Outcome, error) {
	outcome, err := s.compare(ctx, task)
	return outcome, toTemporal(err)
}

func (s *Scheduled) compare(ctx context.Context, task FiringTask) (evaluation.Outcome, error) {
	a := s.Library.Archive
	look, err := s.look(ctx, task)
	if err != nil {
		return evaluation.Outcome{}, err
	}
	for {
		outcomes, err := a.Outcomes(ctx, look.Schedule.ID)
		if err != nil {
			return evaluation.Outcome{}, err
		}
		for _, o := range outcomes {
			if o.Evaluation == task.Firing.Evaluation { // by an earlier attempt
				return o, s.show(ctx, o)
			}
		}
		if look.Before, err = s.before(ctx, outcomes); err != nil {
			return evaluation.Outcome{}, err
		}
		look.Number = len(outcomes) + 1
		outcome := look.Outcome()
		first, err := a.PutOutcome(ctx, outcome)
		if err != nil {
			return outcome, err
		}
		if first {
			return outcome, s.show(ctx, outcome)
		}
	}
}

// look reads what a firing is held against, but for the look before.
func (s *Scheduled) look(ctx context.Context, task FiringTask) (trend.Look, error) {
	a := s.Library.Archive
	out := trend.Look{Firing: task.Firing}
	var err error
	if out.Schedule, err = cached[evaluation.Schedule](ctx, s.Library, task.Schedule); err != nil {
		return out, err
	}
	if out.Baseline, err = a.Report(ctx, out.Schedule.Baseline); err != nil {
		return out, err
	}
	if out.Now, err = a.Report(ctx, task.Firing.Evaluation); err != nil {
		return out, err
	}
	if task.Firing.Canary == "" {
		return out, nil
	}
	canary, _, err := a.Manifest(ctx, task.Firing.Canary)
	if err != nil {
		return out, err
	}
	out.Canary, err = a.Records(ctx, canary)
	return out, err
}

// before is the report of the last look; nil at the first, and where it is gone.
func (s *Scheduled) before(ctx context.Context, outcomes []evaluation.Outcome) (*report.Report, error) {
	if len(outcomes) == 0 {
		return nil, nil
	}
	built, err := s.Library.Archive.Report(ctx, outcomes[len(outcomes)-1].Evaluation)
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil, nil
	}
	return &built, err
}

// show puts the outcome beside its evaluation and into its report.
func (s *Scheduled) show(ctx context.Context, o evaluation.Outcome) error {
	a := s.Library.Archive
	if err := a.PutOutcomeBeside(ctx, o); err != nil {
		return err
	}
	built, err := a.Report(ctx, o.Evaluation)
	if err != nil {
		return err
	}
	_, err = a.PutReport(ctx, o.Evaluation, built)
	return err
}

// NotifyTask is a look that somebody wants to be told of.
type NotifyTask struct {
	Webhook  string `json:"webhook"` // its name
	Schedule string `json:"schedule"`
	Look     int    `json:"look"`
}

// Notification is the JSON that a webhook gets.
type Notification struct {
	Schema  string             `json:"schema"`
	Events  []string           `json:"events"` // regression, model_changed
	Outcome evaluation.Outcome `json:"outcome"`
}

// NotificationSchema names its shape.
const NotificationSchema = "speechmanip.notification/1"

// Events are what of an outcome somebody is told of.
func Events(o evaluation.Outcome) []string {
	var events []string
	if o.Regression == evaluation.RegressionShown {
		events = append(events, "regression")
	}
	if o.Drift.Canary.Changed {
		events = append(events, "model_changed")
	}
	return events
}

// Notify calls a webhook about a look.
func (s *Scheduled) Notify(ctx context.Context, task NotifyTask) error {
	return toTemporal(s.notify(ctx, task))
}

func (s *Scheduled) notify(ctx context.Context, task NotifyTask) error {
	hook, ok := s.Webhooks[task.Webhook]
	if !ok {
		return fault.Permanentf("call the webhook", "no_webhook", "this worker has no webhook %q: see docs/schedules.md", task.Webhook)
	}
	outcome, err := objectstore.GetJSON[evaluation.Outcome](ctx, s.Library.Archive.Store, objectstore.Ref{Key: evaluation.LookKey(task.Schedule, task.Look)})
	if err != nil {
		return err
	}
	body, err := json.Marshal(Notification{Schema: NotificationSchema, Events: Events(outcome), Outcome: outcome})
	if err != nil {
		return err
	}
	return webhook.Send(ctx, s.HTTP, hook, webhook.Delivery{ID: fmt.Sprintf("%s/%d", task.Schedule, task.Look), Time: s.Now(), Body: body})
}
