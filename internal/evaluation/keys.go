package evaluation

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/detect"
	"github.com/speechmanip/speechmanip/internal/recognize"
	"github.com/speechmanip/speechmanip/internal/speech"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// Content keys. A key names everything that shaped the object under it, so that
// what is stored is never made again and never taken for something else. The
// structs below are the lists of what that is; a field added to one of them
// makes new keys.

// TurnKey is where a turn's audio lies.
func TurnKey(engine speech.Engine, r speech.Request) string {
	return "turns/" + contentHash("turn", struct {
		Engine     speech.Engine
		Voice      string
		Params     map[string]string
		Seed       uint32
		Normalizer string
		Text       string
		Previous   string `json:",omitempty"` // so that keys without neighbours stay as they were
		Next       string `json:",omitempty"`
	}{engine, r.Voice.Slug, r.Voice.Params, r.Seed, speech.NormalizerVersion, r.Text, r.Previous, r.Next}) + ".wav"
}

// ClipTurn is one turn as it goes into a clip's key. Key is "" for a wordless
// turn.
type ClipTurn struct {
	Key     string `json:"key"`
	Speaker string `json:"speaker"` // the gain at audio.LevelSpeaker depends on who speaks
}

// ClipKey is where a composed clip lies.
func ClipKey(turns []ClipTurn, options audio.ComposeOptions) string {
	return "clips/" + clipHash(turns, options) + ".wav"
}

// TimelineKey is where the timeline of that clip lies.
func TimelineKey(turns []ClipTurn, options audio.ComposeOptions) string {
	return "clips/" + clipHash(turns, options) + ".json"
}

func clipHash(turns []ClipTurn, options audio.ComposeOptions) string {
	return contentHash("clip", struct {
		Turns   []ClipTurn
		Options audio.ComposeOptions
	}{turns, options})
}

// SourceClipKey is where a clip that somebody else made lies; extension is "mp3",
// "wav" or "flac".
func SourceClipKey(sha256, extension string) string {
	return "clips/source-" + sha256 + "." + extension
}

// TranscriptKey is where the recogniser's words of a clip lie.
func TranscriptKey(engine recognize.Engine, clipHash string) string {
	return "transcripts/" + contentHash("transcript", struct {
		Engine recognize.Engine
		Clip   string
	}{engine, clipHash}) + ".json"
}

// QualityKey is where the measurements of a clip against its text lie.
func QualityKey(transcriptKey, clipHash, textHash string) string {
	return "quality/" + contentHash("quality", struct {
		Version                    int
		Transcript, Clip, TextHash string
	}{QualityVersion, transcriptKey, clipHash, textHash}) + ".json"
}

// QualityVersion names the measurements; raise it whenever they change.
const QualityVersion = 1

// Question is everything that shapes a detector's answer about one item, apart
// from the pass. The prompt's wording is part of the detector's identity.
type Question struct {
	Detector  detect.Identity `json:"detector"`
	Modality  detect.Modality `json:"modality"`
	Input     string          `json:"input"`     // hash of the clip, or of the text
	Words     string          `json:"words"`     // the transcript's key where the detector reads it
	Exemplars []string        `json:"exemplars"` // hashes
	Fresh     string          `json:"fresh"`     // the evaluation's id under PassesFresh
}

// PreparedKey is where what an item's passes share lies.
func PreparedKey(q Question) string {
	return "prepared/" + contentHash("prepared", q) + ".json"
}

// PassKey is where one decision pass lies.
func PassKey(q Question, sampling vote.Sampling, index int, seed int64) string {
	return "passes/" + contentHash("decide", struct {
		Question Question
		Sampling vote.Sampling
		Index    int
		Seed     int64
	}{q, sampling, index, seed}) + ".json"
}

// ChoiceKey is where the distribution behind an item's passes lies.
func ChoiceKey(q Question, sampling vote.Sampling) string {
	return "passes/" + contentHash("choose", struct {
		Question Question
		Sampling vote.Sampling
	}{q, sampling}) + ".json"
}

// TacticsKey is where the tactic scores of an item lie.
func TacticsKey(q Question, forms vote.FormRule) string {
	return "passes/" + contentHash("tactics", struct {
		Question Question
		Forms    vote.FormRule
	}{q, forms}) + ".json"
}

// QuoteKey is where one attempt at the evidence lies.
func QuoteKey(q Question, request detect.QuoteRequest) string {
	return "passes/" + contentHash("quote", struct {
		Question Question
		Request  detect.QuoteRequest
	}{q, request}) + ".json"
}

// PassSeed is the seed of one pass on one input: passes never share one, and
// neither do two inputs, as their noise must be independent.
func PassSeed(seed uint64, input string, index int) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "pass-seed:%d:%s:%d", seed, input, index))
	// 31 bits: servers differ in what they accept beyond that.
	return int64(binary.BigEndian.Uint32(sum[:4]) >> 1)
}

// DatasetKey is where a dataset's lines lie.
func DatasetKey(sha256 string) string { return "datasets/" + sha256 + ".jsonl" }

// PayloadKeysKey is where the ids of the keys stand with which a deployment encrypts what
// crosses Temporal.
const PayloadKeysKey = "deployment/payload-keys.json"

// ModelKey is where a detector's file lies.
func ModelKey(sha256 string) string { return "models/" + sha256 + ".json" }

// Prefix of all evaluations.
const EvaluationsPrefix = "evaluations/"

// Prefix is where everything of one evaluation lies.
func Prefix(evaluation string) string { return EvaluationsPrefix + EncodeID(evaluation) + "/" }

// ManifestKey is where an evaluation's manifest lies.
func ManifestKey(evaluation string) string { return Prefix(evaluation) + "manifest.json" }

// EnginesKey is where an evaluation's Engines lie.
func EnginesKey(evaluation string) string { return Prefix(evaluation) + "engines.json" }

// EndedKey is where it lies when an evaluation ended.
func EndedKey(evaluation string) string { return Prefix(evaluation) + "ended.json" }

// SpeakingKey is where the engines that render an evaluation's exemplars lie: they
// are needed before the detector, which shows the exemplars, can say who it is.
func SpeakingKey(evaluation string) string { return Prefix(evaluation) + "speaking.json" }

// ExemplarsKey is where an evaluation's rendered exemplars lie.
func ExemplarsKey(evaluation string) string { return Prefix(evaluation) + "exemplars.json" }

// FactsKey is where what the detector found out about its server lies.
func FactsKey(evaluation string) string { return Prefix(evaluation) + "server.json" }

// SeenKey is where what its detector has seen lies.
func SeenKey(evaluation string) string { return Prefix(evaluation) + "seen.json" }

// ChunkKey is where a chunk with that hash lies. Chunks are content-addressed,
// so that two starters with one id can't write into each other's.
func ChunkKey(sha256 string) string { return "chunks/" + sha256 + ".json" }

// RecordsPrefix is where the records of one chunk's dialogues lie.
func RecordsPrefix(evaluation string, chunk int) string {
	return fmt.Sprintf("%srecords/%05d/", Prefix(evaluation), chunk)
}

// RecordKey is where one dialogue's record lies; castingNumber is its item's.
func RecordKey(evaluation string, chunk int, dialogue string, castingNumber int) string {
	return RecordsPrefix(evaluation, chunk) + FileName(dialogue, castingNumber) + ".json"
}

// ShardKey is where all records of a finished chunk lie, one a line.
func ShardKey(evaluation string, chunk int) string {
	return fmt.Sprintf("%sverdicts/%05d.jsonl", Prefix(evaluation), chunk)
}

// ReportKey is where one file of the report lies.
func ReportKey(evaluation, name string) string { return Prefix(evaluation) + name }

// contentHash is the hex SHA-256 of a kind and a value's JSON, which is
// canonical: struct fields in order, map keys sorted.
func contentHash(kind string, value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // only plain data comes here: a programming error
	}
	sum := sha256.Sum256(append([]byte(kind+":"), data...))
	return hex.EncodeToString(sum[:])
}
