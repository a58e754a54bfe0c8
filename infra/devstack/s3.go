package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// s3Server is the S3 server, a child process: its library changes the
// process's working folder and allows one server a process.
type s3Server struct {
	stdin io.Closer // closing it asks the child to stop
	proc  *os.Process
	done  chan struct{} // closed when the child has ended
	log   string
	mark  int64 // where in the log this server's own lines begin
}

// startS3 starts this program again as an S3 server on listen, with its state
// in d. The child holds d's lock open too and dies with this process.
func startS3(d dataDir, s settings, listen netip.AddrPort) (*s3Server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the S3 server: %w", err)
	}
	logFile, err := os.OpenFile(d.s3Log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w; choose another with --data", err)
	}
	defer logFile.Close()
	conf, err := json.Marshal(s3ChildConfig{
		Parent:    os.Getpid(),
		Listen:    listen.String(),
		Root:      d.s3Root(),
		IAM:       d.iamRoot(),
		AccessKey: s.accessKey,
		SecretKey: s.secretKey,
	})
	if err != nil {
		return nil, fmt.Errorf("start the S3 server: %w", err)
	}

	cmd := exec.Command(self, s3ChildArg)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.ExtraFiles = []*os.File{d.lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL,
		Setpgid:   true, // Ctrl-C in a terminal reaches devstack only, which then stops it
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the S3 server: %w", err)
	}

	info, err := logFile.Stat()
	if err != nil {
		return nil, fmt.Errorf("start the S3 server: %w", err)
	}
	server := &s3Server{stdin: stdin, done: make(chan struct{}), log: d.s3Log(), mark: info.Size()}
	started := make(chan error)
	go func() {
		// The kernel sends Pdeathsig when the thread that started the child
		// ends, so this goroutine keeps its thread until the child is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(server.done)
		err := cmd.Start()
		server.proc = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the S3 server: %w", err)
	}
	if _, err := stdin.Write(append(conf, '\n')); err != nil {
		server.stop(0)
		return nil, server.fault()
	}
	return server, nil
}

// stop asks the server to end and kills it after grace.
func (s *s3Server) stop(grace time.Duration) {
	_ = s.stdin.Close()
	select {
	case <-s.done:
	case <-time.After(grace):
		_ = s.proc.Kill()
		<-s.done
	}
}

// fault says why the server ended on its own: the last line it logged.
func (s *s3Server) fault() error {
	reason := "no reason given"
	if b, err := os.ReadFile(s.log); err == nil && int64(len(b)) > s.mark {
		lines := strings.Split(strings.TrimSpace(string(b[s.mark:])), "\n")
		reason = lines[len(lines)-1]
	}
	return fmt.Errorf("the S3 server ended: %s (see %s)", reason, s.log)
}
