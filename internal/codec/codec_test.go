package codec

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

// material is a key as an operator writes it; each seed has its own.
func material(seed byte) string {
	raw := make([]byte, keySize)
	for i := range raw {
		raw[i] = seed + byte(i)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func codecOf(t testing.TB, seeds ...byte) *Codec {
	t.Helper()
	var keys Keys
	for _, seed := range seeds {
		key, err := Parse(material(seed))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key...)
	}
	c, err := New(keys)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func payload(encoding, data string) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte(encoding), "of": []byte("its own")}, Data: []byte(data)}
}

var samples = []*commonpb.Payload{
	payload("json/plain", `{"text":"marked"}`),
	payload("json/plain", ""),
	payload("binary/null", ""),
	payload("binary/plain", "\x00\xff\xfe marked"),
	payload("json/protobuf", strings.Repeat("marked ", 100_000)),
	{},
	nil,
}

func TestRoundTrip(t *testing.T) {
	c := codecOf(t, 1)
	sealed, err := c.Encode(samples)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range sealed {
		if bytes.Contains(p.GetData(), []byte("marked")) || len(p.GetMetadata()) != 2 || string(p.GetMetadata()["encoding"]) != Encoding {
			t.Errorf("sample %d: metadata %v, %d bytes", i, p.GetMetadata(), len(p.GetData()))
		}
	}
	opened, err := c.Decode(sealed)
	if err != nil || len(opened) != len(samples) {
		t.Fatalf("%d payloads of %d, %v", len(opened), len(samples), err)
	}
	for i, p := range opened {
		if !p.Equal(samples[i]) && !(samples[i] == nil && p.Equal(&commonpb.Payload{})) {
			t.Errorf("sample %d comes back as %v", i, p)
		}
	}
	if none, err := c.Encode(nil); err != nil || len(none) != 0 {
		t.Errorf("nothing becomes %v, %v", none, err)
	}
}

func TestTheSameTwiceLooksDifferent(t *testing.T) {
	c := codecOf(t, 1)
	sealed, err := c.Encode([]*commonpb.Payload{samples[0], samples[0]})
	if err != nil || bytes.Equal(sealed[0].Data, sealed[1].Data) {
		t.Errorf("equal payloads have equal bytes (err %v)", err)
	}
}

func TestWithoutKeysNothingChanges(t *testing.T) {
	c := codecOf(t)
	if c.Encrypts() {
		t.Error("encrypts without a key")
	}
	for name, do := range map[string]func([]*commonpb.Payload) ([]*commonpb.Payload, error){"encode": c.Encode, "decode": c.Decode} {
		same, err := do(samples)
		if err != nil || len(same) != len(samples) {
			t.Fatalf("%s: %d payloads, %v", name, len(same), err)
		}
		for i := range same {
			if same[i] != samples[i] {
				t.Errorf("%s changes sample %d", name, i)
			}
		}
	}
}

// A new key is added behind the old one everywhere, then put before it.
func TestRotation(t *testing.T) {
	before, during, after, later := codecOf(t, 1), codecOf(t, 1, 2), codecOf(t, 2, 1), codecOf(t, 2)
	for _, step := range []struct {
		name         string
		seals, opens *Codec
		works        bool
	}{
		{"old to prepared", before, during, true},
		{"prepared to old", during, before, true},
		{"new to prepared", after, during, true},
		{"prepared to new", during, after, true},
		{"new to later", after, later, true},
		{"new to old", after, before, false},
		{"old to later", before, later, false},
		{"old to keyless", before, codecOf(t), false},
	} {
		sealed, err := step.seals.Encode(samples[:1])
		if err != nil {
			t.Fatal(err)
		}
		opened, err := step.opens.Decode(sealed)
		if works := err == nil && opened[0].Equal(samples[0]); works != step.works {
			t.Errorf("%s: opens %v, want %v (%v)", step.name, works, step.works, err)
		}
	}
}

func TestAMissingKeyIsNamed(t *testing.T) {
	sealed, err := codecOf(t, 1).Encode(samples[:1])
	if err != nil {
		t.Fatal(err)
	}
	c := codecOf(t, 2)
	for range 3 {
		_, err = c.Decode(sealed)
	}
	var missing *KeyError
	var retried *converter.WorkflowTaskFailureError
	if !errors.As(err, &missing) || !errors.As(err, &retried) {
		t.Fatalf("%T %v", err, err)
	}
	for _, want := range []string{missing.ID, EnvKeys, EnvKeyFile} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q leaves out %q", err, want)
		}
	}
	select {
	case told := <-c.Missing():
		if told.Error() != err.Error() {
			t.Errorf("told of %v", told)
		}
	default:
		t.Error("nobody is told")
	}
	// The id is whatever the payload says.
	sealed[0].Metadata[metadataKeyID] = []byte(strings.Repeat("x\n", 500))
	if _, err := c.Decode(sealed); err == nil || len(err.Error()) > 300 || strings.Contains(err.Error(), "\n") {
		t.Errorf("an odd id: %v", err)
	}
}

func TestChangedBytesDontOpen(t *testing.T) {
	c := codecOf(t, 1, 2)
	sealed, err := c.Encode(samples[:1])
	if err != nil {
		t.Fatal(err)
	}
	data := sealed[0].Data
	other := c.seal
	for id := range c.open {
		if id != c.seal {
			other = id
		}
	}
	changed := map[string]*commonpb.Payload{
		"no bytes":    {Metadata: sealed[0].Metadata},
		"cut":         {Metadata: sealed[0].Metadata, Data: data[:len(data)-1]},
		"longer":      {Metadata: sealed[0].Metadata, Data: append(bytes.Clone(data), 0)},
		"another key": {Metadata: map[string][]byte{"encoding": []byte(Encoding), metadataKeyID: []byte(other)}, Data: data},
		"no key":      {Metadata: map[string][]byte{"encoding": []byte(Encoding)}, Data: data},
	}
	for i := range data {
		flipped := bytes.Clone(data)
		flipped[i] ^= 1
		changed[fmt.Sprintf("byte %d", i)] = &commonpb.Payload{Metadata: sealed[0].Metadata, Data: flipped}
	}
	for name, p := range changed {
		if opened, err := c.Decode([]*commonpb.Payload{p}); err == nil {
			t.Errorf("%s: opens as %v", name, opened)
		}
	}
	// What else was sealed with the key is no payload.
	plain, err := samples[0].Marshal()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := &commonpb.Payload{Metadata: sealed[0].Metadata, Data: c.open[c.seal].Seal(nil, nil, plain, []byte("something else"))}
	if _, err := c.Decode([]*commonpb.Payload{elsewhere}); err == nil {
		t.Error("opens what was sealed for something else")
	}
	garbage := &commonpb.Payload{Metadata: sealed[0].Metadata, Data: c.open[c.seal].Seal(nil, nil, []byte("\xff\xff"), []byte(boundTo))}
	if _, err := c.Decode([]*commonpb.Payload{garbage}); err == nil {
		t.Error("opens what is no payload")
	}
}

func TestFailuresAreEncrypted(t *testing.T) {
	c := codecOf(t, 1)
	failures := c.FailureConverter()
	failed := temporal.NewApplicationErrorWithCause("marked message", "bad_input", errors.New("marked cause"), "marked detail")
	stored := failures.ErrorToFailure(failed)
	if text := stored.String(); strings.Contains(text, "marked") || !strings.Contains(text, "bad_input") {
		t.Errorf("stored: %s", text)
	}
	if back := failures.FailureToError(stored); !strings.Contains(back.Error(), "marked message") {
		t.Errorf("comes back as %v", back)
	}
}

func TestManyAtOnce(t *testing.T) {
	c := codecOf(t, 1)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				sealed, err := c.Encode(samples[:4])
				if err != nil {
					t.Error(err)
					return
				}
				if opened, err := c.Decode(sealed); err != nil || !opened[3].Equal(samples[3]) {
					t.Errorf("%v, %v", opened, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// FuzzDecode: whatever a payload holds, it decodes or is refused, and what is refused
// shows none of it.
func FuzzDecode(f *testing.F) {
	c := codecOf(f, 1, 2)
	sealed, err := c.Encode(samples[:4])
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range sealed {
		f.Add(p.Metadata["encoding"], p.Metadata[metadataKeyID], p.Data)
	}
	f.Add([]byte("json/plain"), []byte(nil), []byte(`"x"`))
	f.Add([]byte(Encoding), []byte("?"), []byte(nil))
	f.Fuzz(func(t *testing.T, encoding, id, data []byte) {
		in := &commonpb.Payload{Metadata: map[string][]byte{"encoding": encoding, metadataKeyID: id}, Data: data}
		out, err := c.Decode([]*commonpb.Payload{in})
		switch {
		case string(encoding) != Encoding:
			if err != nil || out[0] != in {
				t.Errorf("not encrypted: %v, %v", out, err)
			}
		case err == nil:
			again, err := c.Encode(out)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := c.Decode(again); err != nil || !back[0].Equal(out[0]) {
				t.Errorf("%v becomes %v, %v", out[0], back, err)
			}
		case len(err.Error()) > 300:
			t.Errorf("a long error: %v", err)
		}
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	c := codecOf(b, 1)
	plain := []*commonpb.Payload{payload("json/plain", strings.Repeat("x", 1000))}
	for b.Loop() {
		sealed, err := c.Encode(plain)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Decode(sealed); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(sealed[0].Size()-plain[0].Size()), "bytes-added")
	}
}
