package evaluation

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/score"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Schedule is the stored half of a schedule: what each firing judges again, and what
// it holds that against. When it fires is Temporal's half.
type Schedule struct {
	ID       string    `json:"id"`
	Created  time.Time `json:"created"`
	Baseline string    `json:"baseline"` // the evaluation whose clips are judged again and compared with
	// Limits are what may be lost, of the baseline and of the firing before.
	Limits []LossLimit  `json:"limits"`
	Canary []CanaryItem `json:"canary,omitempty"` // judged first
	// Shift is the mean absolute shift of the canary's probabilities above which the
	// model has changed.
	Shift   float64 `json:"shift,omitempty"`
	Webhook string  `json:"webhook,omitempty"` // its name at the workers; "" where nobody is called
}

// LossLimit is how much of a metric may be lost.
type LossLimit struct {
	Metric  score.Metric `json:"metric"`
	Allowed float64      `json:"allowed"` // from 0 to 1
}

// CanaryItem is a clip with the answer that the baseline had from it.
type CanaryItem struct {
	Item   Item   `json:"item"`
	Answer Answer `json:"answer"`
}

// Answer is what is known of the distribution of a detector's passes on an item.
type Answer struct {
	// P is the probability of YES at temperature 1, before sampling, where it was
	// observed: the mean over the passes.
	P vote.Mass `json:"p"`
	// Yes of Drawn votes said so; both are 0 where how many are drawn depends on what
	// they say.
	Yes   int `json:"yes"`
	Drawn int `json:"drawn"`
}

// AnswerOf reads the answer of a record, in the evaluation's modality and with the
// option letters in their usual order. It has neither where the dialogue failed.
func AnswerOf(r Record, votes vote.VoteMode) Answer {
	if r.Analytic != nil {
		return Answer{P: r.Analytic.Choice.PYes}
	}
	var out Answer
	var sum vote.Nano
	observed := 0
	for _, p := range r.Passes {
		if p.PYes.Observed {
			sum += p.PYes.P
			observed++
		}
		if votes == vote.VotesEarlyStop || p.Vote == vote.VoteInvalid {
			continue
		}
		out.Drawn++
		if p.Vote == vote.VoteYes {
			out.Yes++
		}
	}
	if observed > 0 && observed == len(r.Passes) {
		out.P = vote.Mass{P: sum / vote.Nano(observed), Observed: true}
	}
	return out
}

// Firing is one scheduled evaluation, as it is stored when it begins.
type Firing struct {
	Schedule   string    `json:"schedule"`
	Evaluation string    `json:"evaluation"`
	Canary     string    `json:"canary,omitempty"` // the canary's evaluation
	Workflow   string    `json:"workflow"`         // the id of the workflow that makes it
	Due        time.Time `json:"due"`
}

const (
	// MaxScheduleID leaves room for the time of a firing in its evaluation's id.
	MaxScheduleID = 36
	// MaxCanary bounds the clips of a canary: they are judged on top of the others.
	MaxCanary = 100

	schedulesPrefix = "schedules/"
	firingPrefix    = "scheduled/"
)

var schedulePattern = regexp.MustCompile(fmt.Sprintf(`^[a-z0-9][a-z0-9-]{0,%d}$`, MaxScheduleID-1))

// CheckScheduleID refuses a schedule's id that can't be part of evaluation ids.
func CheckScheduleID(id string) error {
	if !schedulePattern.MatchString(id) {
		return fmt.Errorf("schedule id %q: use 1 to %d lower-case letters, digits or '-', beginning with a letter or digit", id, MaxScheduleID)
	}
	return nil
}

// FiringWorkflowID is what the workflow ids of a schedule's firings begin with;
// Temporal adds the time at which each was due.
func FiringWorkflowID(schedule string) string { return firingPrefix + schedule }

// ScheduledID is the id of the evaluation that the firing with that workflow id
// makes: the schedule's and the time, as an evaluation's id may be written.
func ScheduledID(workflowID string) string {
	id := strings.ToLower(strings.TrimPrefix(workflowID, firingPrefix))
	return strings.NewReplacer(":", "", "/", "-").Replace(id)
}

// CanaryID is the id of the canary's evaluation beside that of a firing.
func CanaryID(evaluation string) string { return evaluation + "-canary" }

// ScheduleKey is where a Schedule lies.
func ScheduleKey(schedule string) string {
	return schedulesPrefix + EncodeID(schedule) + "/schedule.json"
}

// FiringsPrefix is where the Firings of a schedule lie.
func FiringsPrefix(schedule string) string {
	return schedulesPrefix + EncodeID(schedule) + "/firings/"
}

// FiringKey is where a Firing lies.
func FiringKey(schedule, evaluation string) string {
	return FiringsPrefix(schedule) + EncodeID(evaluation) + ".json"
}

// LooksPrefix is where the Outcomes of a schedule lie.
func LooksPrefix(schedule string) string { return schedulesPrefix + EncodeID(schedule) + "/looks/" }

// LookKey is where the Outcome of a schedule's look lies, counted from 1. It is
// written only if absent: no two firings are the same look.
func LookKey(schedule string, look int) string {
	return fmt.Sprintf("%s%06d.json", LooksPrefix(schedule), look)
}

// OutcomeKey is where the Outcome lies beside the evaluation that it is of.
func OutcomeKey(evaluation string) string { return Prefix(evaluation) + "outcome.json" }

// ServerChange is one thing that a detector says of itself or of its server, as it was
// and as it is.
type ServerChange struct {
	Name string `json:"name"`
	Was  string `json:"was"`
	Now  string `json:"now"`
}

// ServerChanges lists what differs between what two detectors say of themselves and of
// their servers.
func ServerChanges(was, now detect.Identity, factsWas, factsNow []detect.Fact) []ServerChange {
	out := []ServerChange{}
	add := func(name, a, b string) {
		if a != b {
			out = append(out, ServerChange{name, a, b})
		}
	}
	add("detector", was.Detector, now.Detector)
	add("model", was.Model, now.Model)
	add("fingerprint", was.Fingerprint, now.Fingerprint)
	add("dialect", was.Dialect, now.Dialect)
	add("method", was.Method, now.Method)
	value := func(facts []detect.Fact, name string) string {
		for _, f := range facts {
			if f.Name == name {
				return f.Value
			}
		}
		return ""
	}
	seen := map[string]bool{"model": true, "fingerprint": true, "dialect": true}
	for _, f := range append(append([]detect.Fact{}, factsWas...), factsNow...) {
		if !seen[f.Name] {
			seen[f.Name] = true
			add(f.Name, value(factsWas, f.Name), value(factsNow, f.Name))
		}
	}
	return out
}
