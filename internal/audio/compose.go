package audio

import (
	"errors"
	"io"
)

// Compose: to be written.
func Compose(dst io.WriteSeeker, turns []TurnSource, opts ComposeOptions, prov Provenance) (Timeline, error) {
	return Timeline{}, errors.New("not yet")
}
