package annotate

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

// clipLife is how long a clip's link plays: it is bound to its annotator besides.
const clipLife = time.Hour

// clip plays an item's clip. Nothing of the answer but the sound, and its length, is of
// this clip: no name, no time, no type of its own.
func (s *Server) clip(w http.ResponseWriter, r *http.Request, who visitor) {
	t, err := s.seal.openTicket(r.PathValue("ticket"), "clip", who.Study, who.Pseudonym)
	if err != nil || s.Now().Sub(t.at) > clipLife {
		notFound(w)
		return
	}
	of, err := s.study(r.Context(), who.Study)
	if err == nil && (t.item >= len(of.Items) || of.Items[t.item].Clip.IsZero()) {
		err = fmt.Errorf("study %s has no clip of item %d", who.Study, t.item)
	}
	if err != nil {
		s.unavailable(w, err)
		return
	}
	select {
	case s.clips <- struct{}{}:
		defer func() { <-s.clips }()
	case <-r.Context().Done():
		return
	}
	body, err := s.Archive.Store.Open(r.Context(), of.Items[t.item].Clip)
	if err != nil {
		s.unavailable(w, err)
		return
	}
	defer body.Close()
	data, err := io.ReadAll(body) // and checked against its hash
	if err != nil {
		s.unavailable(w, err)
		return
	}
	w.Header().Set("Content-Type", "audio/wav")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
