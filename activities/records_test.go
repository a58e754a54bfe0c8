package activities

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// judged takes the fixture's dialogue through all activities to a YES.
func (f *fixture) judged(t *testing.T) RecordTask {
	t.Helper()
	task := f.heard(t)
	clip := must[ClipResult](t, f.clips.ComposeClip, f.task)
	record := RecordTask{Task: f.task, Clip: clip.Clip, Timeline: clip.Timeline, Transcript: task.Transcript, Usage: evaluation.Usage{ClipsMade: 1}}
	record.Quality = must[StoredResult](t, f.clips.MeasureClip, ClipTask{Task: f.task, Clip: clip.Clip, Timeline: clip.Timeline, Transcript: task.Transcript}).Ref
	var passes []vote.Pass
	for i := range 5 {
		pass := must[PassResult](t, f.detection.DetectPass, PassTask{JudgeTask: task, Index: i})
		record.Passes, passes = append(record.Passes, pass.Ref), append(passes, pass.Pass)
	}
	record.Verdict = vote.Decide(passes, vote.Paper())
	scored := must[TacticsResult](t, f.detection.ScoreTactics, task)
	outcome := vote.DecideTactic(vote.ScoredPasses(scored.Masses, vote.Paper()), vote.Paper())
	record.Tactics, record.Tactic = scored.Ref, &outcome
	record.Quotes = []objectstore.Ref{must[QuoteResult](t, f.detection.QuoteEvidence, QuoteTask{JudgeTask: task}).Ref}
	return record
}

func TestSaveRecord(t *testing.T) {
	f := newFixture(t, nil)
	task := f.judged(t)
	ref := must[objectstore.Ref](t, f.records.SaveRecord, task)
	record := get[evaluation.Record](t, f.store, ref)
	if ref.Key != evaluation.RecordKey("e", 0, "7", 0) || record.ID != "7" || record.Evaluation != "e" {
		t.Errorf("record %q of %q under %q", record.ID, record.Evaluation, ref.Key)
	}
	if record.Truth != dialogue.Yes || record.TextHash != quarrel.TextHash() || record.Turns != 4 || record.Wordless != 1 {
		t.Errorf("the dialogue in the record: %+v", record)
	}
	if diff := cmp.Diff(quarrel.Tactics, record.Tactics); diff != "" {
		t.Errorf("annotated tactics (-want +got):\n%s", diff)
	}
	timeline := get[audio.Timeline](t, f.store, task.Timeline)
	casting := voice.Casting{{Speaker: "Person1", Voice: timeline.Turns[0].Voice}, {Speaker: "Person2", Voice: timeline.Turns[1].Voice}}
	if diff := cmp.Diff(casting, record.Casting); diff != "" || record.ClipSeconds != timeline.Seconds {
		t.Errorf("%g s, casting (-want +got):\n%s", record.ClipSeconds, diff)
	}
	if len(record.Passes) != 5 || record.Passes[4].Seed != evaluation.PassSeed(0, task.Clip.SHA256, 4) || record.Passes[4].PYes.P != 900_000_000 {
		t.Errorf("passes %+v", record.Passes)
	}
	if record.Verdict.Verdict != vote.Yes || record.Failure != nil || record.Tactic == nil || record.Tactic.Tactic != tactic.Anger {
		t.Errorf("verdict %+v, tactic %+v, failure %v", record.Verdict, record.Tactic, record.Failure)
	}
	if record.Quality == nil || record.Scores == nil || record.Scores.Mass(tactic.Accusation).P != 100_000_000 {
		t.Errorf("quality %+v, scores %+v", record.Quality, record.Scores)
	}
	if e := record.Evidence; e == nil || e.Text != "you never listen" || e.Start != 0.5 || e.End != 1.5 || e.Attempts != 1 {
		t.Errorf("evidence %+v", record.Evidence)
	}

	// The first record of a dialogue stays, whatever a repeated attempt says.
	task.Failure = &evaluation.Failure{Stage: "saving the record"}
	if again := must[objectstore.Ref](t, f.records.SaveRecord, task); again != ref {
		t.Errorf("saved again: %+v, want %+v", again, ref)
	}
}

func TestSaveRecordOfFailure(t *testing.T) {
	f := newFixture(t, nil)
	failure := &evaluation.Failure{Stage: "synthesise turns 3", Code: "voice_not_found", Message: "no voice v9"}
	ref := must[objectstore.Ref](t, f.records.SaveRecord, RecordTask{Task: f.task, Failure: failure})
	record := get[evaluation.Record](t, f.store, ref)
	want := evaluation.Record{
		Evaluation: "e", ID: "7", Truth: dialogue.Yes, Tactics: quarrel.Tactics, TextHash: quarrel.TextHash(),
		Turns: 4, Wordless: 1, Failure: failure,
	}
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// Without a timeline the recogniser says how long a clip is, and the last quote
// counts.
func TestSaveRecordOfGivenClip(t *testing.T) {
	f := newFixture(t, nil)
	task := f.judged(t)
	task.Timeline = objectstore.Ref{}
	f.detector.quote = "I do listen"
	retry := QuoteTask{JudgeTask: JudgeTask{Task: f.task, Clip: task.Clip, Transcript: task.Transcript, Modality: detect.Audio}, Attempt: 1}
	task.Quotes = append(task.Quotes, must[QuoteResult](t, f.detection.QuoteEvidence, retry).Ref)
	record := get[evaluation.Record](t, f.store, must[objectstore.Ref](t, f.records.SaveRecord, task))
	if record.ClipSeconds < 5 || record.Casting != nil {
		t.Errorf("%g s, casting %v", record.ClipSeconds, record.Casting)
	}
	if e := record.Evidence; e == nil || e.Text != "I do listen" || e.Attempts != 2 {
		t.Errorf("evidence %+v", e)
	}
}

func TestSaveRecordNeedsItsObjects(t *testing.T) {
	f := newFixture(t, nil)
	whole := f.judged(t)
	for name, lose := range map[string]func(*RecordTask){
		"timeline": func(r *RecordTask) { r.Timeline.Key = "clips/gone.json" },
		"quality":  func(r *RecordTask) { r.Quality.Key = "quality/gone.json" },
		"pass":     func(r *RecordTask) { r.Passes = []objectstore.Ref{{Key: "passes/gone.json"}} },
		"tactics":  func(r *RecordTask) { r.Tactics.Key = "passes/gone.json" },
		"quote":    func(r *RecordTask) { r.Quotes = []objectstore.Ref{{Key: "passes/gone.json"}} },
	} {
		t.Run(name, func(t *testing.T) {
			task := whole
			lose(&task)
			_, err := run[objectstore.Ref](t, f.records.SaveRecord, task)
			failedWith(t, err, CodeLost, false)
		})
	}
}

func TestCloseChunkAndReport(t *testing.T) {
	f := newFixture(t, nil)
	must[objectstore.Ref](t, f.records.SaveRecord, f.judged(t))
	shard := must[objectstore.Ref](t, f.records.CloseChunk, "e", 0)
	if shard.Key != evaluation.ShardKey("e", 0) || shard.Size == 0 {
		t.Errorf("shard %+v", shard)
	}
	ref := must[objectstore.Ref](t, f.records.WriteReport, "e")
	built := get[report.Report](t, f.store, ref)
	if ref.Key != evaluation.ReportKey("e", "report.json") || built.Evaluation != "e" || built.Items != 1 || built.Pending != 0 || len(built.Dialogues) != 1 {
		t.Errorf("report %q of %d items, %d pending, %d dialogues", ref.Key, built.Items, built.Pending, len(built.Dialogues))
	}
	if took := built.Took; took == nil || !took.Started.Equal(noon) || took.Seconds <= 0 {
		t.Errorf("it took %+v", took)
	}
	again := get[report.Report](t, f.store, must[objectstore.Ref](t, f.records.WriteReport, "e"))
	if *again.Took != *built.Took {
		t.Errorf("written again, the report has another end: %v, %v", again.Took, built.Took)
	}
	_, err := run[objectstore.Ref](t, f.records.WriteReport, "another")
	failedWith(t, err, "object_not_found", false)
}
