package archive_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/objectstore/mem"
	"github.com/speechmanip/speechmanip/internal/vote"
)

// A damaged shard is passed over for the records beside it; a damaged record is named.
func TestDamagedShard(t *testing.T) {
	store := mem.New()
	a := archive.Archive{Store: store}
	m, _, err := a.Create(t.Context(), manifest("e"), chunks("1"))
	if err != nil {
		t.Fatal(err)
	}
	ref, err := a.PutRecord(t.Context(), 0, record("1", vote.Yes))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.PutShard(t.Context(), "e", 0); err != nil {
		t.Fatal(err)
	}
	store.Damage(evaluation.ShardKey("e", 0))
	records, err := a.Records(t.Context(), m)
	if err != nil || len(records) != 1 || records[0].ID != "1" {
		t.Errorf("records %+v, %v", records, err)
	}
	store.Damage(ref.Key)
	if _, err := a.Records(t.Context(), m); !errors.Is(err, objectstore.ErrCorrupt) || !strings.Contains(err.Error(), ref.Key) {
		t.Errorf("a damaged record: %v", err)
	}
}

// What is stored under its own hash is whole again once it is stored again.
func TestStoredAgainIsWhole(t *testing.T) {
	store := mem.New()
	a := archive.Archive{Store: store}
	lines, _, err := a.PutDataset(t.Context(), dialogues())
	if err != nil {
		t.Fatal(err)
	}
	store.Damage(lines.Key)
	if _, err := objectstore.Bytes(t.Context(), store, lines); !errors.Is(err, objectstore.ErrCorrupt) {
		t.Fatalf("damaged: %v", err)
	}
	if _, _, err := a.PutDataset(t.Context(), dialogues()); err != nil {
		t.Fatal(err)
	}
	if _, err := objectstore.Bytes(t.Context(), store, lines); err != nil {
		t.Errorf("stored again: %v", err)
	}
}
