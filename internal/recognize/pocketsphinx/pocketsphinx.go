// Package pocketsphinx adapts CMU PocketSphinx, as Debian ships it, to the
// recogniser port. It runs the program pocketsphinx_continuous with its default
// beams; nothing leaves the machine.
package pocketsphinx

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/speechmanip/speechmanip/internal/audio"
	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/recognize"
)

// Rate is the only rate that the acoustic model understands, in Hz.
const Rate = 16_000

// settings is the version of what this adapter adds to the program: its
// arguments and the reading of its output. Changing either changes transcripts.
const settings = "1"

const (
	hintInstall = "run infra/setup.sh"
	maxOutput   = 64 << 20 // bytes of a transcript; a long clip has a few hundred KiB
)

// Options says where the engine is and how long it may take.
type Options struct {
	Program string        // default "pocketsphinx_continuous" on the PATH
	Model   string        // folder of the model; default Debian's en-us
	Timeout time.Duration // for one clip; default 10 minutes
}

// Recognizer runs one process a clip; it is safe for concurrent use.
type Recognizer struct {
	options Options

	mu     sync.Mutex
	engine recognize.Engine // once found
}

var _ recognize.Recognizer = (*Recognizer)(nil)

// New returns a recogniser; zero options mean the defaults. It doesn't look for
// the program yet: Engine does.
func New(options Options) *Recognizer {
	if options.Program == "" {
		options.Program = "pocketsphinx_continuous"
	}
	if options.Model == "" {
		options.Model = "/usr/share/pocketsphinx/model/en-us"
	}
	if options.Timeout <= 0 {
		options.Timeout = 10 * time.Minute
	}
	return &Recognizer{options: options}
}

// The parts of the model, below its folder.
func (r *Recognizer) acoustic() string   { return filepath.Join(r.options.Model, "en-us") }
func (r *Recognizer) language() string   { return filepath.Join(r.options.Model, "en-us.lm.bin") }
func (r *Recognizer) dictionary() string { return filepath.Join(r.options.Model, "cmudict-en-us.dict") }

// Engine identifies program and model by their content: the package version (or
// the program's hash where dpkg doesn't know it) and the model's hash. It is a
// Permanent fault when either is missing. The answer is computed once.
func (r *Recognizer) Engine(ctx context.Context) (recognize.Engine, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine.Name != "" {
		return r.engine, nil
	}
	program, err := exec.LookPath(r.options.Program)
	if err != nil {
		return recognize.Engine{}, missing(err)
	}
	model, err := hashFiles(r.acoustic(), r.language(), r.dictionary())
	if err != nil {
		return recognize.Engine{}, missing(err)
	}
	version, err := r.version(ctx, program)
	if err != nil {
		return recognize.Engine{}, missing(err)
	}
	r.engine = recognize.Engine{
		Name:    "pocketsphinx",
		Model:   filepath.Base(r.options.Model) + "@" + model,
		Version: version + " settings " + settings,
	}
	return r.engine, nil
}

// version asks dpkg, which also covers the shared library; a program that isn't
// Debian's is known by its hash.
func (r *Recognizer) version(ctx context.Context, program string) (string, error) {
	owner, err := exec.CommandContext(ctx, "dpkg-query", "-S", program).Output()
	if err == nil && strings.HasPrefix(string(owner), "pocketsphinx:") {
		out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", "pocketsphinx").Output()
		if version := strings.TrimSpace(string(out)); err == nil && version != "" {
			return version, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	hash, err := hashFiles(program)
	return "sha256 " + hash, err
}

// Recognize transcribes a clip. The clip travels through a temporary file,
// which is gone when Recognize returns.
func (r *Recognizer) Recognize(ctx context.Context, clip audio.PCM) (recognize.Transcript, error) {
	engine, err := r.Engine(ctx)
	if err != nil {
		return recognize.Transcript{}, err
	}
	transcript := recognize.Transcript{Engine: engine, Words: []recognize.Word{}, Length: clip.Seconds()}
	if len(clip.Samples) == 0 {
		return transcript, nil
	}
	if clip.Rate <= 0 {
		return recognize.Transcript{}, fault.Permanentf("recognise clip", "no_rate", "a clip of %d Hz", clip.Rate)
	}
	path, err := writeTemp(audio.Resample(clip, Rate))
	if err != nil {
		return recognize.Transcript{}, &fault.Error{Kind: fault.Transient, Op: "write clip for recognition", Code: "temp_file", Err: err}
	}
	defer os.Remove(path)
	output, err := r.run(ctx, path)
	if err != nil {
		return recognize.Transcript{}, err
	}
	if transcript.Words, err = parse(output); err != nil {
		return recognize.Transcript{}, &fault.Error{Kind: fault.Permanent, Op: "read the recogniser's output", Code: "bad_output", Err: err}
	}
	return transcript, nil
}

// run starts the program without a shell and returns what it printed.
func (r *Recognizer) run(ctx context.Context, path string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	command := exec.CommandContext(limited, r.options.Program,
		"-infile", path, "-time", "yes",
		"-hmm", r.acoustic(), "-lm", r.language(), "-dict", r.dictionary())
	command.WaitDelay = 5 * time.Second
	output, log := &limit{most: maxOutput}, &tail{}
	command.Stdout, command.Stderr = output, log
	err := command.Run()
	switch {
	case ctx.Err() != nil: // the caller stopped it
		return "", fmt.Errorf("recognise clip: %w", ctx.Err())
	case limited.Err() != nil:
		return "", &fault.Error{Kind: fault.Transient, Op: "recognise clip", Code: "timeout",
			Err: fmt.Errorf("no transcript after %s", r.options.Timeout)}
	case err != nil:
		return "", &fault.Error{Kind: fault.Transient, Op: "recognise clip with " + r.options.Program, Code: "engine_failed",
			Hint: "check that the packages pocketsphinx and pocketsphinx-en-us are whole: " + hintInstall,
			Err:  fmt.Errorf("%w: %s", err, log.lastLine())}
	}
	return output.String(), nil
}

func missing(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("find pocketsphinx: %w", err)
	}
	return &fault.Error{Kind: fault.Permanent, Op: "find pocketsphinx", Code: "engine_missing", Hint: hintInstall, Err: err}
}

func writeTemp(p audio.PCM) (path string, err error) {
	file, err := os.CreateTemp("", "speechmanip-*.wav")
	if err != nil {
		return "", err
	}
	err = errors.Join(audio.EncodeWAV(file, p, nil), file.Close())
	if err != nil {
		os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// hashFiles returns twelve hex digits over names and content of files and of
// all files in folders.
func hashFiles(paths ...string) (string, error) {
	hash := sha256.New()
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			info, err := file.Stat()
			if err != nil {
				return err
			}
			fmt.Fprintf(hash, "%s %d\n", filepath.Base(path), info.Size())
			_, err = io.Copy(hash, file)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}

// limit is a buffer that refuses to grow beyond most bytes.
type limit struct {
	bytes.Buffer
	most int
}

func (l *limit) Write(p []byte) (int, error) {
	if l.Len()+len(p) > l.most {
		return 0, fmt.Errorf("more than %d bytes of output", l.most)
	}
	return l.Buffer.Write(p)
}

// tail keeps the end of a long log.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	t.text = append(t.text, p...)
	if len(t.text) > most {
		t.text = append(t.text[:0], t.text[len(t.text)-most:]...)
	}
	return len(p), nil
}

func (t *tail) lastLine() string {
	text := strings.TrimSpace(string(t.text))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
