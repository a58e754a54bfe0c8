package export_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/export"
	"github.com/speechmanip/speechmanip/internal/report"
)

// program runs a program that somebody else wrote, in a folder, and returns what it
// prints. Where it isn't installed the test is skipped.
func program(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed: `infra/setup.sh --test` brings it", name)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.String(), errOut.String())
	}
	return out.String()
}

func TestSha256sum(t *testing.T) {
	for _, format := range export.Formats() {
		w := newWorld(t)
		dir := onDisk(t, w, format)
		out := program(t, dir, "sha256sum", "--check", "--strict", "SHA256SUMS")
		files := len(exported(t, w, format)) - 1 // but itself
		if n := strings.Count(out, ": OK\n"); n != files {
			t.Errorf("%s: %d files are OK, want %d", format, n, files)
		}
	}
}

func TestSox(t *testing.T) {
	w := newWorld(t)
	dir := onDisk(t, w, export.AudioFolder)
	for name, want := range map[string]string{hostileName: "1.700000", "a": "0.500000", "given": "1.100000"} {
		if got := strings.TrimSpace(program(t, dir, "sox", "--i", "-D", filepath.Join("clips", name+".wav"))); got != want {
			t.Errorf("sox says that clip %s takes %s s, want %s", name, got, want)
		}
	}
}

func TestFFmpeg(t *testing.T) {
	dir := onDisk(t, newWorld(t), export.AudioFolder)
	got := program(t, dir, "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,sample_rate,channels,duration:format_tags=comment", "-of", "default=nk=1:nw=1", filepath.Join("clips", "a.wav"))
	if want := "pcm_s16le\n8000\n1\n0.500000\nsynthetic=true"; strings.TrimSpace(got) != want {
		t.Errorf("ffprobe says %q, want %q", got, want)
	}
}

// pythonFolder reads metadata.jsonl and, where it is there, manifest.json, and opens
// every clip that they name.
const pythonFolder = `
import json, os, wave
def seconds(path):
    with wave.open(path) as w:
        return w.getnframes() / w.getframerate()
rows = [json.loads(line) for line in open("metadata.jsonl", encoding="utf-8")]
assert len({tuple(r) for r in rows}) == 1, "rows have other keys"
for r in rows:
    assert abs(seconds(r["file_name"]) - r["seconds"]) < 1e-4, r["id"]
    print(r["id"].encode("unicode_escape").decode(), r["truth"], r["verdict"], r["synthetic"], len(r["turns"]))
if os.path.exists("manifest.json"):
    for line in open("manifest.json", encoding="utf-8"):
        m = json.loads(line)
        assert m["offset"] + m["duration"] <= seconds(m["audio_filepath"]) + 1e-4, m
        print(m["offset"], m["duration"], m.get("speaker", "-").encode("unicode_escape").decode(), m["text"].encode("unicode_escape").decode())
`

func TestPython(t *testing.T) {
	rows := `../CON.wav\n<b>"x" \xe9 YES YES True 3
A NO NO True 2
a None UNRESOLVED True 1
late YES None True 1
given NO NO None 2
`
	turns := `0.0 0.5 ../CON.wav\n<b>"x" \xe9/Person1 He said "you owe me", <b>\xe9</b>.
1.2 0.5 ../CON.wav\n<b>"x" \xe9/Person1 -- \u201cSo?\u201d \t\\item [1]: \u6f22\u5b57
0.0 0.5 A/Person1 Tea?
0.6 0.5 A/Person 2; Or coffee?
0.0 0.5 a/Person1 Hm.
0.0 0.5 late/Person1 No.
0.0 1.1 - Left. Right.
`
	for format, want := range map[export.Format]string{export.AudioFolder: rows, export.NeMo: rows + turns} {
		got := program(t, onDisk(t, newWorld(t), format), "python3", "-c", pythonFolder)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

// Python's tarfile and wave read the shards as WebDataset does: files that stand
// together and share what is before the first dot are one sample.
const pythonShards = `
import io, json, tarfile, wave
samples = []
for member in tarfile.open("shard-000000.tar"):
    key, extension = member.name.split(".", 1)
    if not samples or samples[-1][0] != key:
        samples.append((key, {}))
    samples[-1][1][extension] = tarfile.open("shard-000000.tar").extractfile(member).read()
    assert member.mtime == 0 and member.uid == 0 and member.uname == ""
for key, files in samples:
    row = json.loads(files["json"])
    with wave.open(io.BytesIO(files["wav"])) as w:
        assert abs(w.getnframes() / w.getframerate() - row["seconds"]) < 1e-4
    print(key, sorted(files), row["file_name"] == key + ".wav", row["verdict"])
`

func TestPythonShards(t *testing.T) {
	got := program(t, onDisk(t, newWorld(t), export.WebDataset), "python3", "-c", pythonShards)
	var want strings.Builder
	for _, s := range [][2]string{{hostileName, "YES"}, {"=41", "NO"}, {"a", "UNRESOLVED"}, {"late", "None"}, {"given", "NO"}} {
		fmt.Fprintf(&want, "%s ['json', 'wav'] True %s\n", s[0], s[1])
	}
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTar(t *testing.T) {
	w := newWorld(t)
	dir := onDisk(t, w, export.WebDataset)
	program(t, dir, "tar", "--extract", "--file", "shard-000000.tar")
	for id, key := range map[string]string{hostile: hostileName, "A": "=41", "given": "given"} {
		i := slices.IndexFunc(w.set(t, export.WebDataset).Dialogues, func(d report.Dialogue) bool { return d.ID == id })
		clip, err := os.ReadFile(filepath.Join(dir, key+".wav"))
		if err != nil || !bytes.Equal(clip, w.clips[w.report.Dialogues[i].Clip.Key]) {
			t.Errorf("the clip of %q is another: %v", id, err)
		}
	}
}

// The same without programs: order, pairs and metadata of a shard.
func TestShard(t *testing.T) {
	archive := tar.NewReader(bytes.NewReader(exported(t, newWorld(t), export.WebDataset)["shard-000000.tar"]))
	var names []string
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		if filepath.Ext(header.Name) != ".json" {
			continue
		}
		var it export.Item
		if err := json.NewDecoder(archive).Decode(&it); err != nil || it.FileName != names[len(names)-2] {
			t.Errorf("%s is of %q: %v", header.Name, it.FileName, err)
		}
	}
	if len(names) != 10 {
		t.Errorf("a shard of %v", names)
	}
}
