package people

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"

	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// key is one person's: AES-256-GCM with random nonces, far below the 2^32 that one key
// may use.
type key struct{ aead cipher.AEAD }

const keySize = 32

// storedKey is a key in the object store: whoever may read what is below keys/ may
// read what people wrote.
type storedKey struct {
	Key []byte `json:"key"`
}

func keyKey(study, pseudonym string) string {
	return studyPrefix(study) + "keys/" + evaluation.EncodeID(pseudonym) + ".json"
}

func newKey(raw []byte) (key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return key{aead}, err
}

// newKey makes a person's key. An error that is objectstore.ErrExists says that the
// pseudonym was just given to somebody else.
func (r Registry) newKey(ctx context.Context, study, pseudonym string) (key, error) {
	raw := make([]byte, keySize)
	_, _ = rand.Read(raw) // never fails
	if _, err := objectstore.PutJSON(ctx, r.Store, keyKey(study, pseudonym), storedKey{raw}, objectstore.PutOptions{IfAbsent: true}); err != nil {
		return key{}, err
	}
	return newKey(raw)
}

func (r Registry) key(ctx context.Context, study, pseudonym string) (key, error) {
	stored, err := get[storedKey](ctx, r.Store, keyKey(study, pseudonym))
	if err != nil {
		return key{}, err
	}
	return newKey(stored.Key)
}

// seal encrypts, bound to what it is: sealed bytes in another's place don't open.
func (k key) seal(plain []byte, of string) []byte { return k.aead.Seal(nil, nil, plain, []byte(of)) }

func (r Registry) open(ctx context.Context, study, pseudonym string, sealed []byte, of string) ([]byte, error) {
	k, err := r.key(ctx, study, pseudonym)
	if err != nil {
		return nil, err
	}
	plain, err := k.aead.Open(nil, nil, sealed, []byte(of))
	if err != nil {
		return nil, fmt.Errorf("what is stored of annotator %s doesn't open: its bytes were changed", pseudonym)
	}
	return plain, nil
}

// What sealed bytes are bound to.
func contactOf(study, pseudonym string) string {
	return fmt.Sprintf("speechmanip contact 1 %q %q", study, pseudonym)
}

func noteOf(study, pseudonym, part string) string {
	return fmt.Sprintf("speechmanip note 1 %q %q %q", study, pseudonym, part)
}
