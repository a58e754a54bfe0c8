package architecture

import "strings"

// rule says what the code of one package may import; its tests may import more.
type rule struct {
	// product lists packages of this module, without internal/.
	product string
	// outside lists what reaches beyond the process, and third-party code.
	// A name stands for all packages beneath it too.
	outside string
}

// Groups of packages that are allowed together.
const (
	// domain is pure: the same input gives the same output, everywhere.
	domain = "audio dialogue score tactic voice vote"
	ports  = "detect objectstore recognize speech"

	// A port speaks in the domain's words, and in none of another port's but the
	// words that were recognised.
	forPort = "audio dialogue fault tactic voice vote"
	// An adapter knows its own port, which its row adds.
	forAdapter = forPort + " prompt recognize remote secret"

	temporal = "go.temporal.io"
	aws      = "github.com/aws"
	zap      = "go.uber.org/zap"
	otel     = "go.opentelemetry.io github.com/prometheus"
	// A simulator is a vendor's server: it shares nothing with the adapter that asks it.
	forSimulator = "simulator/ledger simulator/schedule"

	// Distributions and quantiles.
	gonum = "gonum.org/v1/gonum"

	forSuite = "testing github.com/google/go-cmp"
)

// rules has a row for every package of the module, and docs/architecture.md the
// reasons. What isn't in a row is forbidden.
var rules = map[string]rule{
	// The domain.
	"tactic":     {},
	"dialogue":   {product: "tactic"},
	"vote":       {product: "tactic"},
	"voice":      {product: "dialogue tactic vote", outside: "github.com/BurntSushi/toml"},
	"score":      {product: "agreement dialogue tactic vote", outside: gonum},
	"agreement":  {outside: gonum},
	"annotation": {product: "dialogue vote"},
	"audio":      {outside: "os github.com/go-audio github.com/hajimehoshi/go-mp3 github.com/mewkiz/flac"}, // os: composition spools to a temporary file
	"prosody":    {product: "audio"},
	"study":      {product: "annotation dialogue evaluation objectstore vote"}, // of evaluation and the store it takes types and EncodeID
	"sample":     {},
	"evaluation": {product: domain + " " + ports + " prompt", outside: "github.com/BurntSushi/toml"}, // of the ports it takes types only
	"report":     {product: domain + " " + ports + " agreement annotation evaluation"},
	"export":     {product: "audio dialogue evaluation objectstore report sample voice"},
	"compare":    {product: "dialogue evaluation report score tactic vote"},
	"trend":      {product: "compare evaluation report score vote", outside: gonum},
	"webhook":    {product: "fault secret", outside: "net/http"},
	"fault":      {},
	"secret":     {},
	"remote":     {product: "fault secret", outside: "net/http"},
	"prompt":     {product: "dialogue tactic vote"},

	// The ports, each with its adapters and its conformance suite.
	"speech":                      {product: forPort, outside: "golang.org/x/text"},
	"speech/program":              {product: forAdapter + " speech", outside: "os"},
	"speech/flite":                {product: forAdapter + " speech speech/program"},
	"speech/rhvoice":              {product: forAdapter + " speech speech/program", outside: "os"},
	"speech/elevenlabs":           {product: forAdapter + " speech", outside: "net/http"},
	"speech/speechtest":           {product: forPort + " speech", outside: forSuite},
	"recognize":                   {product: forPort},
	"recognize/pocketsphinx":      {product: forAdapter, outside: "os"},
	"recognize/recognizetest":     {product: forPort + " recognize", outside: forSuite},
	"detect":                      {product: forPort + " recognize"},
	"detect/baseline":             {product: forAdapter + " detect prosody"},
	"detect/chat":                 {product: forAdapter + " detect recent", outside: "net/http"},
	"detect/detecttest":           {product: forPort + " detect recognize", outside: forSuite},
	"objectstore":                 {product: "fault", outside: "crypto/rand"}, // a claim's owner is random
	"objectstore/mem":             {product: "fault objectstore"},
	"objectstore/s3":              {product: "fault objectstore secret", outside: aws + " net net/http"},
	"objectstore/objectstoretest": {product: "fault objectstore", outside: forSuite + " net/http"},

	// What stands between ports and Temporal, and the mains.
	"archive":    {product: "detect dialogue evaluation fault objectstore report study"},
	"annotate":   {product: "annotation archive audio evaluation objectstore people recent secret study", outside: "crypto/rand net net/http"},
	"people":     {product: "annotation evaluation objectstore secret", outside: "crypto/rand github.com/BurntSushi/toml"},
	"activities": {product: domain + " " + ports + " archive evaluation fault prosody recent report study trend webhook", outside: temporal + " " + zap + " net/http os"},
	"workflows":  {product: "activities detect dialogue evaluation objectstore recognize speech study tactic voice vote", outside: temporal}, // of the ports it takes types only
	"overview":   {product: "archive evaluation", outside: temporal},
	"codec":      {product: "secret", outside: temporal}, // its nonces are random
	"config":     {product: "codec objectstore/s3 secret webhook", outside: temporal + " " + zap + " os"},
	"telemetry":  {outside: temporal + " " + zap + " " + otel + " net/http os"},
	"actions":    {outside: temporal},
	"recent":     {},
	"starter": {
		product: domain + " " + ports + " agreement annotate annotation archive codec compare config detect/baseline evaluation export fault objectstore/s3 people overview prompt report sample secret study telemetry trend workflows",
		outside: temporal + " " + zap + " crypto/rand net net/http os syscall github.com/spf13",
	},
	"worker": {
		product: domain + " " + ports + " activities archive codec config evaluation fault overview prompt telemetry webhook workflows" +
			" detect/baseline detect/chat objectstore/s3 recognize/pocketsphinx speech/elevenlabs speech/flite speech/rhvoice",
		outside: temporal + " " + zap + " " + otel + " crypto/rand net net/http os runtime syscall github.com/spf13",
	},

	"infra/vulncheck": {outside: "os"},

	// Help for tests: no product code imports it.
	"architecture":         {},
	"chaos":                {outside: "net"},
	"devstacktest":         {outside: "net/http os syscall testing"},
	"e2e":                  {},
	"simulator/chat":       {product: forSimulator, outside: "net/http"},
	"simulator/elevenlabs": {product: forSimulator, outside: "net/http"},
	"simulator/ledger":     {},
	"simulator/schedule":   {},
}

// timeless packages read no clock, on top of their rows: they may name times,
// never ask for one.
var timeless = strings.Fields(domain + " agreement annotation study compare trend prosody sample evaluation report fault prompt detect recognize speech")
