package annotate

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

const (
	// clipLife is how long a clip's link plays: it is bound to its annotator besides.
	clipLife = time.Hour
	// maxClips are made ready at once: each is in memory, several times over.
	maxClips = 4
	// keptClips bounds, in bytes, what is kept ready: browsers ask for a clip in parts.
	keptClips = 64 << 20
)

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
	sound, err := s.sound(r.Context(), of.Items[t.item].Clip)
	if err != nil {
		s.unavailable(w, err)
		return
	}
	w.Header().Set("Content-Type", "audio/wav")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(sound))
}

// sound returns a clip's samples as WAV. It is encoded anew: the stored file names its
// dialogue and its synthesizer, and one that somebody else made may hold anything.
func (s *Server) sound(ctx context.Context, clip objectstore.Ref) ([]byte, error) {
	if ready, ok := s.sounds.Get(clip.Key); ok {
		return ready, nil
	}
	select {
	case s.making <- struct{}{}:
		defer func() { <-s.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	body, err := s.Archive.Store.Open(ctx, clip)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	pcm, _, err := audio.DecodeReader(body)
	if err != nil {
		return nil, fmt.Errorf("clip %s: %w", clip.Key, err)
	}
	var out audio.Buffer
	if err := audio.EncodeWAV(&out, pcm, nil); err != nil {
		return nil, fmt.Errorf("clip %s: %w", clip.Key, err)
	}
	s.sounds.Put(clip.Key, out.Bytes(), len(out.Bytes()), keptClips)
	return out.Bytes(), nil
}
