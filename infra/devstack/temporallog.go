package main

import (
	"fmt"
	"io"
	"os"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// temporalLogs sends the Temporal server's log to a file. The server ends the
// process on some faults by a fatal log entry; that entry goes to the person too.
type temporalLogs struct {
	logger log.Logger
	file   *os.File
}

// openTemporalLogs appends to the file at path all entries of level (one of
// logLevels) and above; a fatal entry also goes to stderr, as one line.
func openTemporalLogs(path, level string, stderr io.Writer) (*temporalLogs, error) {
	zapLevel, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w; choose another with --data", err)
	}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(log.DefaultZapEncoderConfig), f, zapLevel)
	zl := zap.New(core, zap.WithFatalHook(exitOnFatal{path, stderr}))
	return &temporalLogs{log.NewZapLogger(zl), f}, nil
}

func (l *temporalLogs) close() { _ = l.file.Close() }

type exitOnFatal struct {
	path   string
	stderr io.Writer
}

// OnWrite implements zapcore.CheckWriteHook.
func (h exitOnFatal) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	detail := ""
	for _, f := range fields {
		if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
			detail = ": " + err.Error()
		}
	}
	fmt.Fprintf(h.stderr, "devstack: the Temporal server gave up: %s%s (see %s)\n", entry.Message, detail, h.path)
	os.Exit(exitFault)
}
