package activities

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// unreliable is a store of which one put fails: before anything is written, or late,
// when only the answer is lost.
type unreliable struct {
	objectstore.Store
	n    int // puts so far
	at   int // the one that fails, counted from 1; 0 for none
	late bool
}

func (u *unreliable) Put(ctx context.Context, key string, body io.ReadSeeker, opts objectstore.PutOptions) (objectstore.Ref, error) {
	u.n++
	if u.n != u.at {
		return u.Store.Put(ctx, key, body, opts)
	}
	if u.late {
		if _, err := u.Store.Put(ctx, key, body, opts); err != nil {
			return objectstore.Ref{}, err
		}
	}
	return objectstore.Ref{}, &fault.Error{Kind: fault.Transient, Op: "write", Code: "no_answer", Err: errors.New("connection reset")}
}

func newQuick(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, nil)
	f.tones.quick = true
	return f
}

// attempted runs an activity as Temporal does: again where its error allows it.
func attempted[T any](t *testing.T, failed *error, fn any, args ...any) T {
	t.Helper()
	var result T
	if *failed != nil {
		return result
	}
	for range 4 {
		result, *failed = run[T](t, fn, args...)
		var application *temporal.ApplicationError
		if *failed == nil || errors.As(*failed, &application) && application.NonRetryable() {
			break
		}
	}
	return result
}

// stages takes the fixture's dialogue once through all stages to its record, as the
// workflow does.
func (f *fixture) stages(t *testing.T) error {
	t.Helper()
	var failed error
	plan := attempted[Plan](t, &failed, f.planner.PlanDialogue, f.task)
	clip := ClipResult{Clip: plan.Clip, Timeline: plan.Timeline}
	if clip.Clip.IsZero() {
		for _, turn := range plan.Spoken {
			attempted[TurnResult](t, &failed, f.speech.SynthesizeTurn, TurnTask{Task: f.task, Turn: turn})
		}
		clip = attempted[ClipResult](t, &failed, f.clips.ComposeClip, f.task)
	}
	listen := ClipTask{Task: f.task, Clip: clip.Clip, Timeline: clip.Timeline}
	listen.Transcript = attempted[StoredResult](t, &failed, f.clips.RecognizeClip, listen).Ref
	quality := attempted[StoredResult](t, &failed, f.clips.MeasureClip, listen).Ref
	judge := JudgeTask{Task: f.task, Clip: clip.Clip, Transcript: listen.Transcript, Modality: detect.Audio}
	judge.Prepared = attempted[PreparedResult](t, &failed, f.detection.PrepareItem, judge).Ref
	record := RecordTask{Task: f.task, Clip: clip.Clip, Timeline: clip.Timeline, Transcript: listen.Transcript, Quality: quality}
	for i := range 5 {
		record.Passes = append(record.Passes, attempted[PassResult](t, &failed, f.detection.DetectPass, PassTask{JudgeTask: judge, Index: i}).Ref)
	}
	record.Tactics = attempted[TacticsResult](t, &failed, f.detection.ScoreTactics, judge).Ref
	record.Quotes = []objectstore.Ref{attempted[QuoteResult](t, &failed, f.detection.QuoteEvidence, QuoteTask{JudgeTask: judge}).Ref}
	attempted[objectstore.Ref](t, &failed, f.records.SaveRecord, record)
	return failed
}

// dialogue goes through the stages until nothing is lost, and returns how often.
func (f *fixture) dialogue(t *testing.T) int {
	t.Helper()
	for n := 1; n <= 20; n++ {
		err := f.stages(t)
		var application *temporal.ApplicationError
		switch {
		case err == nil:
			return n
		case !errors.As(err, &application) || application.Type() != CodeLost:
			t.Fatal(err)
		}
	}
	t.Fatal("something stays lost")
	return 0
}

// stored returns the hash of everything in the store but claims; that of what is
// damaged is "damaged".
func (f *fixture) stored(t *testing.T) map[string]string {
	t.Helper()
	hashes := map[string]string{}
	for entry, err := range f.store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(entry.Key, objectstore.ClaimPrefix) {
			continue
		}
		ref, err := f.store.Stat(t.Context(), entry.Key)
		if err != nil {
			t.Fatal(err)
		}
		hashes[entry.Key] = ref.SHA256
		if _, err := objectstore.Bytes(t.Context(), f.store, ref); err != nil {
			hashes[entry.Key] = "damaged"
		}
	}
	return hashes
}

func (f *fixture) contentKeys(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.stored(t))), func(key string) bool { return !remakeable(key) })
}

func (f *fixture) deleteRecord(t *testing.T) {
	t.Helper()
	if err := f.store.Delete(t.Context(), evaluation.RecordKey("e", 0, quarrel.ID, 0)); err != nil {
		t.Fatal(err)
	}
}

// Whatever is damaged or gone, the same comes to be stored again, and nothing is
// asked for that isn't lost.
func TestLostIsMadeAgain(t *testing.T) {
	whole := newQuick(t)
	whole.dialogue(t)
	want := whole.stored(t)
	keys := whole.contentKeys(t)
	if len(keys) != 2+2+1+1+1+7 { // turns, clip and timeline, transcript, quality, prepared, answers
		t.Fatalf("content: %q", keys)
	}
	for _, key := range keys {
		for how, lose := range map[string]func(*fixture){
			"damaged": func(f *fixture) { f.store.Damage(key) },
			"gone":    func(f *fixture) { _ = f.store.Delete(t.Context(), key) },
		} {
			folder, _, _ := strings.Cut(key, "/")
			t.Run(how+" "+folder, func(t *testing.T) {
				f := newQuick(t)
				f.dialogue(t)
				f.deleteRecord(t)
				speeches, hearings, answers := len(f.tones.asked), f.ears.calls, f.detector.calls
				lose(f)
				f.dialogue(t)
				got := f.stored(t)
				// What is made of it is there, so that nobody reads a turn or a clip.
				if unread := folder == "turns" || folder == "clips" || folder == "transcripts" || folder == "prepared"; unread && got[key] != want[key] {
					got[key] = want[key]
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("stored (-want +got):\n%s", diff)
				}
				again := len(f.tones.asked) - speeches + f.ears.calls - hearings + f.detector.calls - answers
				if again > 1 {
					t.Errorf("%d calls for one lost object", again)
				}
			})
		}
	}
	t.Run("all damaged", func(t *testing.T) {
		f := newQuick(t)
		f.dialogue(t)
		f.deleteRecord(t)
		for _, key := range keys {
			f.store.Damage(key)
		}
		t.Logf("%d times through the stages", f.dialogue(t))
		if diff := cmp.Diff(want, f.stored(t)); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
		// A preparation begins before it finds its transcript damaged.
		if len(f.tones.asked) != 2*2 || f.ears.calls != 2 || f.detector.calls != 2*8+1 {
			t.Errorf("%d turns, %d recognitions, %d answers; want each twice", len(f.tones.asked), f.ears.calls, f.detector.calls)
		}
	})
}

// Nothing that the stages store is garbage while its evaluation is there, with a record
// or without; once that is gone, all of it is.
func TestStoredIsNoGarbage(t *testing.T) {
	const week = 7 * 24 * time.Hour
	f := newQuick(t)
	f.dialogue(t)
	collector := archive.Collector{Archive: archive.Archive{Store: f.store}, Now: func() time.Time { return noon.Add(2 * week) }, OlderThan: week}
	garbage := func() (keys []string) {
		t.Helper()
		found, err := collector.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range found.Objects {
			if !strings.HasPrefix(entry.Key, objectstore.ClaimPrefix) {
				keys = append(keys, entry.Key)
			}
		}
		return keys
	}
	if found := garbage(); len(found) != 0 {
		t.Errorf("with a record: %q", found)
	}
	f.deleteRecord(t)
	if found := garbage(); len(found) != 0 {
		t.Errorf("without a record: %q", found)
	}
	if err := f.store.Delete(t.Context(), evaluation.ManifestKey("e")); err != nil {
		t.Fatal(err)
	}
	if found, want := len(garbage()), len(f.contentKeys(t))+2; found != want { // the dataset and the chunk
		t.Errorf("without an evaluation %d objects, want %d", found, want)
	}
}

// A put that fails, before or after it took effect, changes nothing in what comes to
// be stored: nothing half-written counts.
func TestEveryPutFails(t *testing.T) {
	whole := newQuick(t)
	before := whole.puts.n
	whole.dialogue(t)
	want, puts := whole.stored(t), whole.puts.n-before
	if puts < 30 {
		t.Fatalf("only %d puts", puts)
	}
	for _, late := range []bool{false, true} {
		for at := range puts {
			f := newQuick(t)
			f.puts.at, f.puts.late = f.puts.n+1+at, late
			f.dialogue(t)
			if f.puts.n < f.puts.at {
				t.Fatalf("put %d was not reached", at)
			}
			if diff := cmp.Diff(want, f.stored(t)); diff != "" {
				t.Errorf("put %d failed, late: %v: stored (-want +got):\n%s", at, late, diff)
			}
			// A call whose result could not be written is made again; one whose result is
			// there is not.
			if calls := len(f.tones.asked) + f.ears.calls + f.detector.calls; calls > 2+1+8+1 || late && calls > 2+1+8 {
				t.Errorf("put %d failed, late: %v: %d calls", at, late, calls)
			}
		}
	}
}

// What nothing can make again stays where it is, and is named.
func TestDamageIsNamed(t *testing.T) {
	for _, prefix := range []string{"datasets/", "evaluations/e/manifest", "evaluations/e/engines", "clips/source-"} {
		t.Run(prefix, func(t *testing.T) {
			f := newQuick(t)
			if _, err := objectstore.PutBytes(t.Context(), f.store, "clips/source-1.wav", []byte("audio"), objectstore.PutOptions{}); err != nil {
				t.Fatal(err)
			}
			before := len(f.stored(t))
			var damaged string
			for key := range f.stored(t) {
				if strings.HasPrefix(key, prefix) {
					damaged = key
					f.store.Damage(key)
				}
			}
			var err error
			switch prefix {
			case "clips/source-":
				_, err = run[StoredResult](t, f.clips.RecognizeClip, ClipTask{Task: f.task, Clip: objectstore.Ref{Key: "clips/source-1.wav"}})
			case "datasets/": // whose lines have their own hashes
				if _, err := objectstore.PutBytes(t.Context(), f.store, damaged, make([]byte, 1000), objectstore.PutOptions{}); err != nil {
					t.Fatal(err)
				}
				fallthrough
			default:
				_, err = run[Plan](t, f.planner.PlanDialogue, f.task)
			}
			failedWith(t, err, "object_corrupt", false)
			if err == nil || !strings.Contains(err.Error(), damaged) || !strings.Contains(err.Error(), "restore it from a backup") {
				t.Errorf("error %v doesn't name %q", err, damaged)
			}
			if after := len(f.stored(t)); after != before {
				t.Errorf("%d objects, want %d: nothing may be removed", after, before)
			}
		})
	}
}

// An object that is good, and another than a ref says, isn't removed.
func TestOtherMakingStays(t *testing.T) {
	f := newQuick(t)
	clip := f.render(t).Clip
	other, err := objectstore.PutBytes(t.Context(), f.store, clip.Key, []byte("another making"), objectstore.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = run[StoredResult](t, f.clips.RecognizeClip, ClipTask{Task: f.task, Clip: clip})
	failedWith(t, err, CodeLost, false)
	if got, err := f.store.Stat(t.Context(), clip.Key); err != nil || got != other {
		t.Errorf("%+v, %v: want what is stored to stay", got, err)
	}
}

// While somebody makes an object, it isn't removed.
func TestRemovalWaitsForMaker(t *testing.T) {
	f := newQuick(t)
	f.dialogue(t)
	f.deleteRecord(t)
	key := f.contentKeys(t)[3] // an answer
	f.store.Damage(key)
	claim, err := objectstore.Acquire(t.Context(), f.store, key, "a maker", noon, objectstore.MaxClaim)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.stages(t); err == nil || !strings.Contains(err.Error(), "claimed by a maker") {
		t.Errorf("%s: error %v", key, err)
	}
	if f.stored(t)[key] != "damaged" {
		t.Errorf("%s was removed under a maker's claim", key)
	}
	if err := claim.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.dialogue(t)
	if f.stored(t)[key] == "damaged" {
		t.Error("it stays damaged")
	}
}
