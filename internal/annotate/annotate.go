// Package annotate is the web page on which people judge the items of a study, and its
// leader looks on. Of an item it shows what the modality allows and nothing else: in
// audio a clip, in text a dialogue.
package annotate

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/people"
	"github.com/speechmanip/speechmanip/internal/recent"
	"github.com/speechmanip/speechmanip/internal/study"
)

// Studies is what goes on: the workflows of studies.
type Studies interface {
	// Desk returns what an annotator has to do now.
	Desk(ctx context.Context, id, annotator string) (study.Desk, error)
	// Progress returns how far an assignment is, by its workflow's id.
	Progress(ctx context.Context, workflow string) (study.Progress, error)
	// Judge returns when a judgment is durable. An error that is a Refusal says why it
	// isn't taken; after any other it may be given again.
	Judge(ctx context.Context, workflow string, j study.Judge) error
	// Finish gives a batch back; its errors are those of Judge.
	Finish(ctx context.Context, workflow string) error
	// Status returns how far a study is.
	Status(ctx context.Context, id string) (study.Status, error)
	// Export writes what was judged, as a CSV without times: "long" or "consensus".
	Export(ctx context.Context, id, form string, w io.Writer) error
	// Agreement writes how far annotators agree so far, as text.
	Agreement(ctx context.Context, id string, w io.Writer) error
}

// Refusal is why a study doesn't take something; sending it again doesn't help.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Event is a line of the audit log. It has no name of a person, no address, no token,
// no item and no answer.
type Event struct {
	Time   time.Time `json:"time"`
	Action string    `json:"action"`
	Study  string    `json:"study,omitempty"`
	Who    string    `json:"who,omitempty"`    // a pseudonym, or "leader"
	Detail string    `json:"detail,omitempty"` // a batch, a form, a version
}

// Config is what a server needs.
type Config struct {
	Archive archive.Archive
	People  people.Registry
	Studies Studies
	Now     func() time.Time
	Failed  func(error) // told why something behind the page didn't answer
	Audit   func(Event) // both are by several requests at once
	// BehindProxy takes the client's address, for the limit on signing in, from the last
	// entry of X-Forwarded-For, which the proxy has to write.
	BehindProxy bool
}

// Server answers the page's requests. Use New.
type Server struct {
	Config
	seal     sealer
	sign     limiter
	making   chan struct{}        // one for each clip that is made ready now
	sounds   recent.Cache[[]byte] // clips, by key
	studies  recent.Cache[study.Study]
	consents recent.Cache[time.Time] // when somebody's consent was last looked up
}

// New returns a server with a key of its own: who was signed in with another one signs
// in again.
func New(c Config) (*Server, error) {
	seal, err := newSealer()
	if err != nil {
		return nil, err
	}
	return &Server{Config: c, seal: seal, sign: limiter{now: c.Now}, making: make(chan struct{}, maxClips)}, nil
}

// Handler returns all of the page.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /static/{name}", http.HandlerFunc(static))
	// Browsers ask for it by themselves.
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /enter", s.enterPage)
	mux.HandleFunc("POST /enter", s.enter)
	mux.HandleFunc("POST /leave", s.signedIn(s.leave))
	mux.HandleFunc("GET /{$}", s.signedIn(s.home))
	mux.HandleFunc("GET /consent", s.annotator(s.consentPage))
	mux.HandleFunc("POST /consent", s.annotator(s.consent))
	mux.HandleFunc("GET /guidelines", s.consented(s.guidelines))
	mux.HandleFunc("GET /work", s.consented(s.work))
	mux.HandleFunc("POST /judge", s.consented(s.judge))
	mux.HandleFunc("POST /finish", s.consented(s.finish))
	mux.HandleFunc("GET /clip/{ticket}", s.consented(s.clip))
	mux.HandleFunc("GET /lead", s.leader(s.lead))
	mux.HandleFunc("GET /lead/{form}", s.leader(s.export))
	return protect(mux)
}

// study reads a study once: what is stored of it never changes.
func (s *Server) study(ctx context.Context, id string) (study.Study, error) {
	if known, ok := s.studies.Get(id); ok {
		return known, nil
	}
	read, err := s.Archive.Study(ctx, id)
	if err == nil {
		s.studies.Put(id, read, 1, 20)
	}
	return read, err
}

func (s *Server) audit(action string, who visitor, detail string) {
	s.Audit(Event{Time: s.Now().UTC(), Action: action, Study: who.Study, Who: who.name(), Detail: detail})
}
