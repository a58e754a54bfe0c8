package evaluation

import "github.com/speechmanip/speechmanip/internal/speech"

// DiagnoseInput asks the workers of some queues what an evaluation with such a spec
// would find there.
type DiagnoseInput struct {
	Spec   Spec     `json:"spec"`
	Queues []string `json:"queues"` // of the spec's
}

// Diagnosis is what the workers answered, a queue each, in the order asked.
type Diagnosis struct {
	Queues []QueueDiagnosis `json:"queues"`
}

// QueueDiagnosis is what one queue's worker found.
type QueueDiagnosis struct {
	Queue    string `json:"queue"`
	Unserved bool   `json:"unserved,omitempty"` // no worker took the question in time
	Examined
}

// Examined is what a worker found out about itself.
type Examined struct {
	Findings []Finding     `json:"findings"`
	Engine   speech.Engine `json:"engine,omitzero"` // of a queue for speech, where it works
}

// Add adds a check: it is OK with its detail where err is nil.
func (e *Examined) Add(what, detail string, err error) {
	f := Finding{What: what, OK: err == nil, Detail: detail}
	if err != nil {
		f.Detail = err.Error()
	}
	e.Findings = append(e.Findings, f)
}

// Finding is one thing that was checked.
type Finding struct {
	What   string `json:"what"` // e.g. "speech engine"
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what was found, or what is wrong and what to do
}

// DiagnosisKey is where a check of the store writes, for a moment. Name is from
// outside.
func DiagnosisKey(name string) string { return "diagnosis/" + EncodeID(name) + ".json" }

// DiagnosisWorkflowID is the workflow id of one diagnosis; it is no evaluation's.
func DiagnosisWorkflowID(id string) string { return "diagnosis/" + id }
