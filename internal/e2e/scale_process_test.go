//go:build integration && linux

package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// clockTick is the unit of the times in /proc/PID/stat: USER_HZ, which is 100 for
// every program on Linux.
const clockTick = time.Second / 100

// usage is what a process has used since it began.
type usage struct {
	name string
	cpu  time.Duration // of its children too, once they have ended
	now  int64         // memory that is resident, in bytes
	peak int64         // the most that was

	children time.Duration // of cpu
}

// usageOf reads what a process has used.
func usageOf(t *testing.T, name string, pid int) usage {
	t.Helper()
	fields := statOf(t, pid)
	u := usage{name: name}
	for i, field := range fields[11:15] { // utime, stime, cutime, cstime
		spent := time.Duration(number(t, field)) * clockTick
		if u.cpu += spent; i >= 2 {
			u.children += spent
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		switch name, rest, _ := strings.Cut(line, ":"); name {
		case "VmRSS":
			u.now = number(t, strings.Fields(rest)[0]) << 10
		case "VmHWM":
			u.peak = number(t, strings.Fields(rest)[0]) << 10
		}
	}
	return u
}

// statOf returns the fields of /proc/PID/stat from the third on: the state.
func statOf(t *testing.T, pid int) []string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // the name may hold anything
}

// childrenOf returns the processes that a process has now.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	for _, file := range files {
		child, err := strconv.Atoi(filepath.Base(file))
		if err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(file, "stat"))
		if err != nil {
			continue // it has ended
		}
		if fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])); fields[1] == strconv.Itoa(pid) {
			children = append(children, child)
		}
	}
	slices.Sort(children)
	return children
}

// ended is what a process that has been waited for used.
func ended(name string, state *os.ProcessState) usage {
	u := usage{name: name, cpu: state.UserTime() + state.SystemTime()}
	if rusage, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.peak = rusage.Maxrss << 10
	}
	return u
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// bytesIn returns how much the files below a folder hold, and how many there are.
func bytesIn(t *testing.T, folder string) (bytes int64, files int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes, files = bytes+info.Size(), files+1
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes, files
}
