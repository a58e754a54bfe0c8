//go:build integration && linux

package s3_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/speechmanip/speechmanip/internal/devstacktest"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/objectstoretest"
	"github.com/speechmanip/speechmanip/internal/objectstore/s3"
	"github.com/speechmanip/speechmanip/internal/secret"
)

func TestDevstack(t *testing.T) {
	stack := devstacktest.Start(t)
	var buckets atomic.Int32
	for _, checksums := range []string{s3.WhenSupported, s3.WhenRequired} {
		t.Run(checksums, func(t *testing.T) {
			objectstoretest.Run(t, func(t *testing.T) objectstore.Store {
				cfg := config(stack, fmt.Sprintf("suite-%d", buckets.Add(1)))
				cfg.Checksums = checksums
				return ensured(t, cfg)
			})
		})
	}
	t.Run("SetupTwice", func(t *testing.T) { testSetupTwice(t, stack) })
	t.Run("NoBucket", func(t *testing.T) { testNoBucket(t, stack) })
	t.Run("WrongSecret", func(t *testing.T) { testWrongSecret(t, stack) })
	t.Run("KeptOverKill", func(t *testing.T) { testKeptOverKill(t, stack) })
}

func config(stack *devstacktest.Stack, bucket string) s3.Config {
	return s3.Config{
		Endpoint: stack.S3, Bucket: bucket, PathStyle: true,
		AccessKey: secret.Text(stack.AccessKey), SecretKey: secret.Text(stack.SecretKey),
	}
}

func open(t *testing.T, cfg s3.Config) *s3.Store {
	t.Helper()
	store, err := s3.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func ensured(t *testing.T, cfg s3.Config) *s3.Store {
	t.Helper()
	store := open(t, cfg)
	if _, err := store.EnsureBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

func testSetupTwice(t *testing.T, stack *devstacktest.Stack) {
	store := open(t, config(stack, "twice"))
	for _, want := range []string{`made bucket "twice"`, `bucket "twice" is there`} {
		lines, err := store.EnsureBucket(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if lines[0] != want {
			t.Errorf("got %q, want %q", lines[0], want)
		}
		t.Log(strings.Join(lines, "; "))
	}
	if err := store.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func testNoBucket(t *testing.T, stack *devstacktest.Stack) {
	store := open(t, config(stack, "absent"))
	_, putErr := objectstore.PutBytes(t.Context(), store, "k", nil, objectstore.PutOptions{})
	_, openErr := store.Open(t.Context(), objectstore.Ref{Key: "k"})
	for op, err := range map[string]error{"Check": store.Check(t.Context()), "Put": putErr, "Open": openErr} {
		if fault.KindOf(err) != fault.Pause || !strings.Contains(err.Error(), "`starter setup`") {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func testWrongSecret(t *testing.T, stack *devstacktest.Stack) {
	ensured(t, config(stack, "guarded"))
	cfg := config(stack, "guarded")
	cfg.SecretKey = "wrong-secret"
	store := open(t, cfg)
	_, putErr := objectstore.PutBytes(t.Context(), store, "k", nil, objectstore.PutOptions{})
	_, statErr := store.Stat(t.Context(), "k")
	for op, err := range map[string]error{"Check": store.Check(t.Context()), "Put": putErr, "Stat": statErr} {
		if fault.KindOf(err) != fault.Pause || !strings.Contains(err.Error(), "check the access key") {
			t.Errorf("%s: %v", op, err)
		}
		if err != nil && strings.Contains(err.Error(), "wrong-secret") {
			t.Errorf("%s shows the secret: %v", op, err)
		}
	}
}

func testKeptOverKill(t *testing.T, stack *devstacktest.Stack) {
	store := ensured(t, config(stack, "killed"))
	ref, err := objectstore.PutBytes(t.Context(), store, "turns/a", []byte("kept"), objectstore.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stack.Kill(t)
	if _, err := store.Stat(t.Context(), "turns/a"); fault.KindOf(err) != fault.Transient || !strings.Contains(err.Error(), stack.S3) {
		t.Errorf("while it is down: %v", err)
	}
	stack.Restart(t)
	got, err := objectstore.Bytes(t.Context(), store, ref)
	if err != nil || string(got) != "kept" {
		t.Errorf("after the restart: %q, %v", got, err)
	}
	if stat, err := store.Stat(t.Context(), "turns/a"); err != nil || stat != ref {
		t.Errorf("Stat after the restart: %+v, %v", stat, err)
	}
}
