// Package telemetry makes the logger that starter and worker share, and adapts
// it to the Temporal SDK.
package telemetry

import (
	"io"

	"go.temporal.io/sdk/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Logger returns a logger that writes lines for people, or JSON, to w.
func Logger(w io.Writer, json bool, level zapcore.Level) *zap.Logger {
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewConsoleEncoder(encoding)
	if json {
		encoder = zapcore.NewJSONEncoder(encoding)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level))
}

// SDK returns the logger for the Temporal SDK.
func SDK(logger *zap.Logger) log.Logger {
	return sdkLogger{logger.WithOptions(zap.AddCallerSkip(1)).Sugar()}
}

type sdkLogger struct{ sugar *zap.SugaredLogger }

func (l sdkLogger) Debug(msg string, keyvals ...any) { l.sugar.Debugw(msg, keyvals...) }
func (l sdkLogger) Info(msg string, keyvals ...any)  { l.sugar.Infow(msg, keyvals...) }
func (l sdkLogger) Warn(msg string, keyvals ...any)  { l.sugar.Warnw(msg, keyvals...) }
func (l sdkLogger) Error(msg string, keyvals ...any) { l.sugar.Errorw(msg, keyvals...) }

// With returns a logger that adds the key-value pairs to every line.
func (l sdkLogger) With(keyvals ...any) log.Logger { return sdkLogger{l.sugar.With(keyvals...)} }
