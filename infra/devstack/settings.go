package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings is all that a person can choose.
type settings struct {
	data      string
	temporal  netip.AddrPort
	ui        netip.AddrPort
	s3        netip.AddrPort
	namespace string
	retention time.Duration
	logLevel  string
	readyFile string
	accessKey string
	secretKey string
}

// errHelp is returned by parseSettings when --help was given.
var errHelp = errors.New("help")

// minRetention is the shortest retention that Temporal accepts.
const minRetention = time.Hour

var logLevels = []string{"debug", "info", "warn", "error"}

const usage = `Usage: devstack [flags]

Runs a Temporal server, the Temporal Web UI and an S3 server on this machine,
until Ctrl-C or SIGTERM. Everything is kept in one folder, over kill -9 too.

Flags (each also from the environment, e.g. DEVSTACK_TEMPORAL_ADDR):
  --data DIR                where everything is kept (default .devstack);
                            the file system needs extended attributes
  --temporal-addr IP:PORT   Temporal, gRPC (default 127.0.0.1:7233)
  --ui-addr IP:PORT         Temporal Web UI (default 127.0.0.1:8233)
  --s3-addr IP:PORT         S3, path-style, region us-east-1 (default 127.0.0.1:7070)
  --namespace NAME          Temporal namespace to create (default "default")
  --retention DURATION      how long finished workflows stay (default 720h, at least 1h)
  --log-level LEVEL         of DIR/temporal.log: debug, info, warn, error (default warn)
  --ready-file PATH         written when all three answer: JSON with the keys
                            temporal, ui, s3, namespace, pid
  --help                    this text

Port 0 picks a free port; the readiness line and the ready file name it.

Environment only:
  DEVSTACK_S3_ACCESS_KEY    S3 access key (default "devstack")
  DEVSTACK_S3_SECRET_KEY    S3 secret key (default "devstack-secret")

Output: one line on stdout when all three answer:
  devstack ready: temporal=HOST:PORT ui=http://HOST:PORT s3=http://HOST:PORT
Logs: DIR/temporal.log and DIR/s3.log.
Exit: 0 after a clean stop, 1 when it can't start or a server died, 2 on a wrong flag.
`

// parseSettings reads the flags in args over the environment that lookup
// shows over the defaults. Its errors are one line each and name the flag or
// the variable at fault; errHelp means that help was asked for.
func parseSettings(args []string, lookup func(string) (string, bool)) (settings, error) {
	var s settings
	fs := flag.NewFlagSet("devstack", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&s.data, "data", ".devstack", "")
	addrVar(fs, &s.temporal, "temporal-addr", "127.0.0.1:7233")
	addrVar(fs, &s.ui, "ui-addr", "127.0.0.1:8233")
	addrVar(fs, &s.s3, "s3-addr", "127.0.0.1:7070")
	fs.StringVar(&s.namespace, "namespace", "default", "")
	fs.DurationVar(&s.retention, "retention", 720*time.Hour, "")
	fs.StringVar(&s.logLevel, "log-level", "warn", "")
	fs.StringVar(&s.readyFile, "ready-file", "", "")

	if err := setFromEnvironment(fs, lookup); err != nil {
		return settings{}, err
	}
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return settings{}, errHelp
		}
		return settings{}, errors.New(strings.Replace(err.Error(), " -", " --", 1))
	}
	if fs.NArg() > 0 {
		return settings{}, fmt.Errorf("unexpected argument %q: devstack takes flags only", fs.Arg(0))
	}
	// Not flags: a process's arguments are visible to everyone on the machine.
	s.accessKey = valueOr(lookup, "DEVSTACK_S3_ACCESS_KEY", "devstack")
	s.secretKey = valueOr(lookup, "DEVSTACK_S3_SECRET_KEY", "devstack-secret")
	return s, s.check()
}

func setFromEnvironment(fs *flag.FlagSet, lookup func(string) (string, bool)) error {
	var err error
	fs.VisitAll(func(f *flag.Flag) {
		name := "DEVSTACK_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := lookup(name)
		if !ok || value == "" || err != nil {
			return
		}
		if e := fs.Set(f.Name, value); e != nil {
			err = fmt.Errorf("invalid value %q for %s: %v", value, name, e)
		}
	})
	return err
}

func valueOr(lookup func(string) (string, bool), name, fallback string) string {
	if v, ok := lookup(name); ok && v != "" {
		return v
	}
	return fallback
}

func (s settings) check() error {
	switch {
	case s.data == "":
		return errors.New("--data is empty: name a folder")
	case s.namespace == "" || strings.HasPrefix(s.namespace, "temporal-"):
		return fmt.Errorf("--namespace %q: it can't be empty or begin with temporal-", s.namespace)
	case s.retention < minRetention:
		return fmt.Errorf("--retention %s: at least %s", s.retention, minRetention)
	case !slices.Contains(logLevels, s.logLevel):
		return fmt.Errorf("--log-level %q: one of %s", s.logLevel, strings.Join(logLevels, ", "))
	}
	owner := map[uint16]string{}
	for _, e := range s.endpoints() {
		port := e.addr.Port()
		if other, taken := owner[port]; taken && port != 0 {
			return fmt.Errorf("%s and %s name the same port %d", other, e.flag, port)
		}
		owner[port] = e.flag
	}
	return nil
}

// warnings says what is allowed but worth a word.
func (s settings) warnings() []string {
	var out []string
	for _, e := range s.endpoints() {
		if !e.addr.Addr().IsLoopback() {
			out = append(out, fmt.Sprintf("%s %s can be reached from other machines; this stack is for development only", e.flag, e.addr))
		}
	}
	return out
}

// addrVar defines a flag that takes IP:PORT or localhost:PORT.
func addrVar(fs *flag.FlagSet, target *netip.AddrPort, name, value string) {
	*target = netip.MustParseAddrPort(value)
	fs.Func(name, "", func(text string) error {
		a, err := parseAddr(text)
		if err == nil {
			*target = a
		}
		return err
	})
}

func parseAddr(text string) (netip.AddrPort, error) {
	errShape := errors.New("want IP:PORT, such as 127.0.0.1:7233 (port 0 picks a free one)")
	host, portText, err := net.SplitHostPort(text)
	if err != nil {
		return netip.AddrPort{}, errShape
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.AddrPort{}, errShape
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return netip.AddrPort{}, errShape
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)), nil
}
