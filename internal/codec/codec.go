// Package codec encrypts what crosses Temporal: payloads and the texts of failures.
package codec

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// Encoding marks an encrypted payload in its metadata, as in Temporal's samples.
// Beside it stands the id of the key.
const (
	Encoding      = "binary/encrypted"
	metadataKeyID = "encryption-key-id"
)

// boundTo is authenticated with every payload, so that nothing else that was sealed
// with the key passes for one.
const boundTo = "speechmanip payload 1"

// Codec is Temporal's PayloadCodec with AES-256-GCM. Without keys it leaves payloads
// as they are, and says of encrypted ones what is missing. Any number of goroutines
// may use it.
type Codec struct {
	seal    string // the id of the key that encrypts; "" for none
	open    map[string]cipher.AEAD
	missing chan error
}

// New makes a codec whose first key encrypts; all of them decrypt.
func New(keys Keys) (*Codec, error) {
	c := &Codec{open: map[string]cipher.AEAD{}, missing: make(chan error, 1)}
	for i, key := range keys {
		block, err := aes.NewCipher([]byte(key.Secret))
		if err != nil {
			return nil, fmt.Errorf("payload key %d: %w", i+1, err)
		}
		// Nonces are random: docs/decisions/013-encryption.md says how long a key lasts.
		if c.open[key.ID], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, fmt.Errorf("payload key %d: %w", i+1, err)
		}
		if i == 0 {
			c.seal = key.ID
		}
	}
	return c, nil
}

// DataConverter converts as Temporal's own does, and encrypts.
func (c *Codec) DataConverter() converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
}

// FailureConverter converts as Temporal's own does, and encrypts what failures say and
// where they happened. Their types stay readable: they are words of this code's.
func (c *Codec) FailureConverter() converter.FailureConverter {
	return temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter:          c.DataConverter(),
		EncodeCommonAttributes: c.Encrypts(),
	})
}

// Encrypts reports whether there is a key to encrypt with.
func (c *Codec) Encrypts() bool { return c.seal != "" }

// Missing receives the first KeyError of Decode. A worker ends on it: work that it
// can't read is another's.
func (c *Codec) Missing() <-chan error { return c.missing }

// KeyError is a payload under a key that isn't here.
type KeyError struct {
	ID string // of the key; what the payload says, so anything
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("a payload is encrypted with key %.32q, which is not here: add that key to %s or %s", e.ID, EnvKeys, EnvKeyFile)
}

// Encode encrypts payloads, each with its metadata.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if !c.Encrypts() {
		return payloads, nil
	}
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := p.Marshal()
		if err != nil {
			return nil, taskFailure(fmt.Errorf("encrypt a payload: %w", err))
		}
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{
				converter.MetadataEncoding: []byte(Encoding),
				metadataKeyID:              []byte(c.seal),
			},
			Data: c.open[c.seal].Seal(nil, nil, plain, []byte(boundTo)),
		}
	}
	return out, nil
}

// Decode decrypts payloads. Those that aren't encrypted stay as they are: search
// attributes, and what was begun before there was a key.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.GetMetadata()[converter.MetadataEncoding]) != Encoding {
			out[i] = p
			continue
		}
		var err error
		if out[i], err = c.decrypt(p); err != nil {
			return nil, taskFailure(err)
		}
	}
	return out, nil
}

// KeyID returns the id of the key that a payload is encrypted with, "" for one that is
// readable. It is what the payload says, so anything.
func KeyID(p *commonpb.Payload) string {
	if string(p.GetMetadata()[converter.MetadataEncoding]) != Encoding {
		return ""
	}
	return string(p.GetMetadata()[metadataKeyID])
}

func (c *Codec) decrypt(p *commonpb.Payload) (*commonpb.Payload, error) {
	id := string(p.GetMetadata()[metadataKeyID])
	key, ok := c.open[id]
	if !ok {
		err := &KeyError{ID: id}
		select {
		case c.missing <- err:
		default: // one is enough
		}
		return nil, err
	}
	plain, err := key.Open(nil, nil, p.GetData(), []byte(boundTo))
	if err != nil {
		return nil, fmt.Errorf("a payload under key %q doesn't open: its bytes were changed", id)
	}
	out := &commonpb.Payload{}
	if err := out.Unmarshal(plain); err != nil {
		return nil, errors.New("a decrypted payload is none of Temporal's")
	}
	return out, nil
}

// taskFailure has Temporal try a workflow task again, elsewhere perhaps, where it
// would fail the workflow for good.
func taskFailure(err error) error { return converter.NewWorkflowTaskFailureError(err) }
