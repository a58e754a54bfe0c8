package evaluation

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/tactic"
	"github.com/speechmanip/speechmanip/internal/voice"
	"github.com/speechmanip/speechmanip/internal/vote"
)

var (
	flite    = speech.Engine{Name: "flite", Version: "2.2", Format: "wav_16000"}
	v1       = voice.Voice{Slug: "v1", Params: map[string]string{"voice": "slt", "pitch": "180"}}
	turns    = []ClipTurn{{Key: "turns/a.wav", Speaker: "Person1"}, {Key: "", Speaker: "Person2"}}
	options  = audio.DefaultComposeOptions()
	sphinx   = recognize.Engine{Name: "pocketsphinx", Model: "en-us", Version: "5"}
	question = Question{Detector: detect.Identity{Detector: "d", Model: "m", Fingerprint: "f", Method: "x"}, Modality: detect.Audio, Input: "c", Words: "t"}
	paper    = vote.Paper()
)

// The keys of fixed inputs are pinned: a change makes everything that is stored
// be made again.
func TestContentKeys(t *testing.T) {
	got := []string{
		TurnKey(flite, speech.Request{Text: "Hello.", Voice: v1, Seed: 7}),
		ClipKey(turns, options),
		TimelineKey(turns, options),
		TranscriptKey(sphinx, "c"),
		QualityKey("transcripts/t.json", "c", "text"),
		PreparedKey(question),
		PassKey(question, paper.Sampling, 2, 99),
		TacticsKey(question, paper.TacticForms),
		QuoteKey(question, detect.QuoteRequest{Attempt: 1, Tactic: tactic.Denial}),
	}
	want := []string{
		"turns/38544c7d3e01ee7fe0bbb27a655edce61e96d6438c05962e9afda8f16e100752.wav",
		"clips/5577d9f710782ea910018dea94665c992b6b1f026fbc3cdfae66c8269ce845b1.wav",
		"clips/5577d9f710782ea910018dea94665c992b6b1f026fbc3cdfae66c8269ce845b1.json",
		"transcripts/6d64ac8201fab340d9550ece5b73a792b93b98b8e0b71683116574a5a5b899df.json",
		"quality/85e402c22abb408551185bb65b26f37816e048bd9901ae0723e9623384a225aa.json",
		"prepared/20c86b5453a537980ae22bea73cf434a689a73c7e988dc60a1f393311662c36c.json",
		"passes/1cf95acb4c4e8437ae52c29525a5e67a52fde6e88f9397eee83cf420dc7f03f4.json",
		"passes/2b913e8632eca42e9e217b52548dedf567d1c93649a5664e8dee72798161dc21.json",
		"passes/a8e8197ccb16fe319034a0ad891a4cc0bdafacad09101d36ee728fc4c150795f.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// Everything that shapes an object changes its key, and nothing else does.
func TestContentKeysDiffer(t *testing.T) {
	turnKeys := map[string]string{
		"as it is":       TurnKey(flite, speech.Request{Text: "Hello.", Voice: v1, Seed: 7}),
		"engine":         TurnKey(speech.Engine{Name: "rhvoice", Version: "2.2", Format: "wav_16000"}, speech.Request{Text: "Hello.", Voice: v1, Seed: 7}),
		"engine version": TurnKey(speech.Engine{Name: "flite", Version: "2.3", Format: "wav_16000"}, speech.Request{Text: "Hello.", Voice: v1, Seed: 7}),
		"voice":          TurnKey(flite, speech.Request{Text: "Hello.", Voice: voice.Voice{Slug: "v2", Params: v1.Params}, Seed: 7}),
		"voice settings": TurnKey(flite, speech.Request{Text: "Hello.", Voice: voice.Voice{Slug: "v1", Params: map[string]string{"voice": "slt", "pitch": "181"}}, Seed: 7}),
		"seed":           TurnKey(flite, speech.Request{Text: "Hello.", Voice: v1, Seed: 8}),
		"text":           TurnKey(flite, speech.Request{Text: "Hello!", Voice: v1, Seed: 7}),
		"text before":    TurnKey(flite, speech.Request{Text: "Hello.", Voice: v1, Seed: 7, Previous: "Hi."}),
		"text after":     TurnKey(flite, speech.Request{Text: "Hello.", Voice: v1, Seed: 7, Next: "Hi."}),
	}
	allDiffer(t, turnKeys)
	if traits := (voice.Voice{Slug: "v1", Traits: map[string]string{"name": "Ann"}, Params: v1.Params}); TurnKey(flite, speech.Request{Text: "Hello.", Voice: traits, Seed: 7}) != turnKeys["as it is"] {
		t.Error("what reports show of a voice changes its audio's key")
	}

	louder := options
	louder.TargetLUFS = -20
	allDiffer(t, map[string]string{
		"as it is":     ClipKey(turns, options),
		"options":      ClipKey(turns, louder),
		"order":        ClipKey([]ClipTurn{turns[1], turns[0]}, options),
		"fewer turns":  ClipKey(turns[:1], options),
		"who speaks":   ClipKey([]ClipTurn{{Key: "turns/a.wav", Speaker: "Person2"}, turns[1]}, options),
		"the timeline": TimelineKey(turns, options),
	})

	questions := map[string]string{"as it is": PassKey(question, paper.Sampling, 2, 99)}
	for name, change := range map[string]func(*Question){
		"detector":    func(q *Question) { q.Detector.Detector = "e" },
		"model":       func(q *Question) { q.Detector.Model = "n" },
		"fingerprint": func(q *Question) { q.Detector.Fingerprint = "g" },
		"dialect":     func(q *Question) { q.Detector.Dialect = "d" },
		"method":      func(q *Question) { q.Detector.Method = "y" },
		"modality":    func(q *Question) { q.Modality = detect.ASR },
		"input":       func(q *Question) { q.Input = "d" },
		"words":       func(q *Question) { q.Words = "u" },
		"fresh":       func(q *Question) { q.Fresh = "e" },
	} {
		q := question
		change(&q)
		questions[name] = PassKey(q, paper.Sampling, 2, 99)
	}
	questions["index"] = PassKey(question, paper.Sampling, 3, 99)
	questions["seed"] = PassKey(question, paper.Sampling, 2, 98)
	questions["sampling"] = PassKey(question, vote.Released().Sampling, 2, 99)
	questions["stage: tactics"] = TacticsKey(question, paper.TacticForms)
	questions["tactic forms"] = TacticsKey(question, vote.Released().TacticForms)
	questions["stage: quote"] = QuoteKey(question, detect.QuoteRequest{})
	questions["quote's retry"] = QuoteKey(question, detect.QuoteRequest{Attempt: 1})
	questions["quote's tactic"] = QuoteKey(question, detect.QuoteRequest{Tactic: tactic.Denial})
	allDiffer(t, questions)
}

func allDiffer(t *testing.T, keys map[string]string) {
	t.Helper()
	by := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		key := keys[name]
		if other, taken := by[key]; taken {
			t.Errorf("%q and %q share the key %s", name, other, key)
		}
		by[key] = name
	}
}

func TestNamedKeys(t *testing.T) {
	got := []string{
		DatasetKey("ab"), ModelKey("ab"), ChunkKey("ab"), SourceClipKey("ab", "mp3"),
		ManifestKey("e"), EnginesKey("e"), SeenKey("e"), RecordKey("e", 3, "a/b", 0), ShardKey("e", 3), ReportKey("e", "report.json"),
	}
	want := []string{
		"datasets/ab.jsonl", "models/ab.json", "chunks/ab.json", "clips/source-ab.mp3",
		"evaluations/e/manifest.json", "evaluations/e/engines.json", "evaluations/e/seen.json",
		"evaluations/e/records/00003/a=2Fb.json", "evaluations/e/verdicts/00003.jsonl", "evaluations/e/report.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	for _, key := range got {
		if err := objectstore.CheckKey(key); err != nil {
			t.Error(err)
		}
	}
}

func TestQueuesAndWorkflowIDs(t *testing.T) {
	got := []string{
		SpeechQueue("flite"), DetectQueue("gpu-h100", "qwen25omni"), Detection{Accelerator: "cpu", Pool: "baseline"}.Queue(),
		WorkflowID("e"), ChunkWorkflowID("e", 3), DialogueWorkflowID("e", "a/b", 0), DialogueWorkflowID("e", "chunk-00003", 0),
	}
	want := []string{
		"speech-flite", "detect-gpu-h100-qwen25omni", "detect-cpu-baseline",
		"e", "e/chunk-00003", "e/d-a=2Fb", "e/d-chunk-00003",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestPassSeed(t *testing.T) {
	seen := map[int64]string{}
	for _, seed := range []uint64{0, 1, 1<<64 - 1} {
		for _, input := range []string{"", "a", "b", "a:1"} {
			for index := range 200 {
				got := PassSeed(seed, input, index)
				if got < 0 || got >= 1<<31 {
					t.Errorf("PassSeed(%d, %q, %d) is %d, not 31 bits", seed, input, index, got)
				}
				name := fmt.Sprintf("%d, %q, %d", seed, input, index)
				if other, taken := seen[got]; taken {
					t.Errorf("%s and %s share the seed %d", name, other, got)
				}
				seen[got] = name
			}
		}
	}
	if got := []int64{PassSeed(0, "c", 0), PassSeed(0, "c", 4), PassSeed(1, "c", 0)}; !slices.Equal(got, []int64{1412677030, 416375801, 2129748113}) {
		t.Errorf("pinned seeds are %d", got)
	}
}
