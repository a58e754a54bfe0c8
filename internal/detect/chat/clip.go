package chat

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/audio"
)

// clipRate is what the audio encoders of such models work at, in Hz.
const clipRate = 16_000

// minClipSeconds is the shortest clip that is sent: a WAV of one sample brings
// llama-server down.
const minClipSeconds = 0.1

// clip is audio as it is sent; the zero clip is none.
type clip struct {
	data    string // a mono 16-bit WAV in standard base64 without line breaks
	hash    string
	seconds float64
}

// newClip encodes audio of any rate; audio that is too short to be sent gives
// the zero clip.
func newClip(p audio.PCM) (clip, error) {
	if p.Seconds() < minClipSeconds {
		return clip{}, nil
	}
	if p.Rate != clipRate {
		p = audio.Resample(p, clipRate)
	}
	var b audio.Buffer
	if err := audio.EncodeWAV(&b, p, nil); err != nil {
		return clip{}, fmt.Errorf("encode the clip: %w", err)
	}
	sum := sha256.Sum256(b.Bytes())
	return clip{
		data:    base64.StdEncoding.EncodeToString(b.Bytes()),
		hash:    hex.EncodeToString(sum[:]),
		seconds: p.Seconds(),
	}, nil
}
