//go:build integration && linux

package e2e

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/report"
	"github.com/speechmanip/speechmanip/internal/vote"
)

func verdictsOf(r report.Report) map[string]vote.Verdict {
	out := map[string]vote.Verdict{}
	for _, d := range r.Dialogues {
		out[d.ID] = d.Verdict.Verdict
	}
	return out
}

// What is gone and what a disk has changed is made again by the next evaluation that
// needs it, and nothing else is. Then what no evaluation refers to goes, and no more.
func TestStoredSurvives(t *testing.T) {
	t.Parallel() // it waits more than it works
	r := newRig(t)
	r.worker(t)
	first := r.evaluate(t, "--limit", "3", "--id", "first")
	if first.N != 3 {
		t.Fatalf("%d of 3 done: %v", first.N, first.Failures)
	}
	t.Run("lost", func(t *testing.T) { r.loseSome(t, first) })
	t.Run("garbage", func(t *testing.T) { r.collect(t, first) })
}

func (r *rig) loseSome(t *testing.T, first report.Report) {
	a := r.archive(t)
	turns, records := r.turnsOf(t, a)
	remove := func(key string) {
		t.Helper()
		if err := a.Store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	// Of the first dialogue two turns, without its clip; of the second the clip, which
	// is read as its words are gone, and an answer.
	r.damage(t, turns[0][0])
	remove(turns[0][1])
	remove(records[0].Clip.Key)
	r.damage(t, records[1].Clip.Key)
	remove(records[1].Transcript.Key)
	r.damage(t, records[1].Passes[2].Ref.Key)

	again := r.evaluate(t, "--limit", "3", "--id", "again")
	if diff := cmp.Diff(verdictsOf(first), verdictsOf(again)); diff != "" || len(again.Failures) != 0 {
		t.Errorf("failures %v, verdicts (-want +got):\n%s", again.Failures, diff)
	}
	u := again.Usage
	if u.TurnsMade != 2 || u.ClipsMade != 2 || u.Recognized != 1 || u.PassesMade != 1 {
		t.Errorf("made %d turns, %d clips, %d transcripts, %d answers: want 2, 2, 1, 1", u.TurnsMade, u.ClipsMade, u.Recognized, u.PassesMade)
	}
	for _, ref := range []objectstore.Ref{records[0].Clip, records[1].Clip, records[1].Transcript, records[1].Passes[2].Ref, {Key: turns[0][0]}} {
		if _, err := objectstore.Bytes(t.Context(), a.Store, ref); err != nil {
			t.Errorf("made again: %v", err)
		}
	}
}

// turnsOf returns the keys of each dialogue's turns, and the records, of evaluation
// first.
func (r *rig) turnsOf(t *testing.T, a archive.Archive) ([][]string, []evaluation.Record) {
	t.Helper()
	m, _, err := a.Manifest(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	engines, _, err := a.Engines(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	all, err := a.Records(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	chunk, err := objectstore.GetJSON[evaluation.Chunk](t.Context(), a.Store, m.Chunks[0])
	if err != nil {
		t.Fatal(err)
	}
	var turns [][]string
	var records []evaluation.Record
	for _, item := range chunk.Items {
		d, err := a.Dialogue(t.Context(), m.Spec.Dataset.Lines, item)
		if err != nil {
			t.Fatal(err)
		}
		script, err := evaluation.NewScript(m.Spec.Speech, engines.Speech, d, 0)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, turn := range script.Turns {
			if turn.Key != "" {
				keys = append(keys, turn.Key)
			}
		}
		turns = append(turns, keys)
		for _, record := range all {
			if record.ID == item.ID {
				records = append(records, record)
			}
		}
	}
	return turns, records
}

func (r *rig) file(key string) string {
	return filepath.Join(r.stack.S3Root(), "speechmanip", filepath.FromSlash(key))
}

// damage changes one byte on the disk.
func (r *rig) damage(t *testing.T, key string) {
	t.Helper()
	file, err := os.OpenFile(r.file(key), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var b [1]byte
	if _, err := file.ReadAt(b[:], 20); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x40
	if _, err := file.WriteAt(b[:], 20); err != nil {
		t.Fatal(err)
	}
}

// age makes everything that is stored eight days old.
func (r *rig) age(t *testing.T) {
	t.Helper()
	then := time.Now().Add(-8 * 24 * time.Hour)
	err := filepath.WalkDir(r.stack.S3Root(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) collect(t *testing.T, first report.Report) {
	a := r.archive(t)
	put := func(key string) {
		t.Helper()
		if _, err := objectstore.PutBytes(t.Context(), a.Store, key, []byte("garbage"), objectstore.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	put("turns/garbage.wav")
	put("datasets/garbage.jsonl")
	r.age(t)
	put("turns/young.wav")
	var found struct {
		Found, Deleted map[string]struct{ Objects int }
		Kept           []string
	}
	run := func(args ...string) {
		t.Helper()
		found.Found, found.Deleted = nil, nil
		if err := json.Unmarshal([]byte(r.starter(t, append([]string{"gc", "--json"}, args...)...)), &found); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, got map[string]struct{ Objects int }) {
		t.Helper()
		claims := got["claims/"].Objects
		if len(got) != 3 || got["turns/"].Objects != 1 || got["datasets/"].Objects != 1 || claims == 0 {
			t.Errorf("%s: %v, kept %q", what, got, found.Kept)
		}
	}
	run()
	check("found", found.Found)
	run("--delete")
	check("deleted", found.Deleted)
	run()
	if len(found.Found) != 0 {
		t.Errorf("left: %v", found.Found)
	}
	after := r.evaluate(t, "--limit", "3", "--id", "after")
	if diff := cmp.Diff(verdictsOf(first), verdictsOf(after)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if u := after.Usage; u.TurnsMade+u.ClipsMade+u.Recognized+u.PassesMade != 0 {
		t.Errorf("something that was in use was deleted: %+v", u)
	}
}

// A bucket that may only be read, and a disk that is full, let an evaluation stand
// still; mended it goes on, and nothing has failed.
func TestFullAndReadOnly(t *testing.T) {
	t.Parallel() // it waits more than it works
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small disk")
	}
	r := newRig(t)
	r.stack.Kill(t)
	disk := r.stack.S3Root()
	mount := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("mount", append(args, disk)...).CombinedOutput(); err != nil {
			t.Fatalf("mount %v: %v\n%s", args, err, out)
		}
	}
	mount("-t", "tmpfs", "-o", "size=5m", "tmpfs")
	t.Cleanup(func() { // after the worker's and before the stack's, which holds it
		if out, err := exec.Command("umount", "-l", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
	r.stack.Restart(t)
	r.starter(t, "setup")

	r.starter(t, "evaluate", "--limit", "8", "--id", "full", "--detach")
	var readOnly atomic.Bool
	readOnly.Store(true)
	workers := *r
	workers.env = append(slices.Clone(r.env), "SPEECHMANIP_S3_ENDPOINT="+refusingWrites(t, r.stack.S3, &readOnly))
	workers.worker(t)
	r.waitPaused(t, "full", "access_denied", 0)
	readOnly.Store(false)
	r.starter(t, "resume", "full")
	r.waitPaused(t, "full", "store_full", 1)
	mount("-o", "remount,size=300m")
	r.starter(t, "resume", "full")
	built := decode(t, r.starter(t, "watch", "full", "--json"))
	if built.N != 8 || built.Pending != 0 || len(built.Failures) != 0 {
		t.Errorf("%d of %d done, %d pending, failures %v", built.N, built.Items, built.Pending, built.Failures)
	}
}

// refusingWrites is a way to an S3 server that refuses writes where it is told to, as
// a bucket's policy does; it returns its URL.
func refusingWrites(t *testing.T, to string, refuse *atomic.Bool) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // which is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse.Load() && r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
