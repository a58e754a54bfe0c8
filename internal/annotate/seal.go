package annotate

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"
)

// sealer seals what a browser holds for the server: it can't be read, made up, or used
// for another purpose or by another person than it was sealed for.
type sealer struct{ aead cipher.AEAD }

var errSeal = errors.New("not sealed here, or not for this")

func newSealer() (sealer, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return sealer{aead}, err
}

func purpose(parts []string) []byte { return []byte(strings.Join(parts, "\x00")) }

func (s sealer) seal(plain []byte, use ...string) string {
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, purpose(use)))
}

func (s sealer) open(text string, use ...string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, errSeal
	}
	plain, err := s.aead.Open(nil, nil, sealed, purpose(use))
	if err != nil {
		return nil, errSeal
	}
	return plain, nil
}

// ticket names an item to the server alone. All are of the same length, so that not
// even how large the item's number is can be told.
type ticket struct {
	item int
	at   time.Time // when it was made
}

func (s sealer) ticket(t ticket, use ...string) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(t.at.UnixMilli()))
	return s.seal(binary.BigEndian.AppendUint32(plain, uint32(t.item)), use...)
}

func (s sealer) openTicket(text string, use ...string) (ticket, error) {
	plain, err := s.open(text, use...)
	if err != nil || len(plain) != 12 {
		return ticket{}, errSeal
	}
	return ticket{at: time.UnixMilli(int64(binary.BigEndian.Uint64(plain))), item: int(binary.BigEndian.Uint32(plain[8:]))}, nil
}
