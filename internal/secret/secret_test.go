package secret

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const hidden = "hunter2-hidden"

type settings struct {
	Name string
	Key  Text
	Keys map[string]*Text
}

func TestNeverPrints(t *testing.T) {
	key := Text(hidden)
	s := settings{Name: "n", Key: key, Keys: map[string]*Text{"k": &key}}
	texts := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		for _, value := range []any{key, &key, s, &s, []Text{key}, [1]settings{s}} {
			texts[fmt.Sprintf("%s of %T", verb, value)] = fmt.Sprintf(verb, value)
		}
	}
	encoded, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	texts["json"] = string(encoded)
	texts["error"] = fmt.Errorf("call with %v: %w", key, fmt.Errorf("%s", key)).Error()
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).Info("m", "key", key, "settings", s)
		texts[name] = out.String()
	}
	for name, encoder := range map[string]zapcore.Encoder{
		"zap console": zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig()),
		"zap json":    zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()),
	} {
		var out bytes.Buffer
		log := zap.New(zapcore.NewCore(encoder, zapcore.AddSync(&out), zap.DebugLevel))
		log.Info("m", zap.Any("key", key), zap.Stringer("stringer", key), zap.Any("settings", s), zap.Reflect("reflected", s))
		log.Sugar().Infow("m", "key", key, "settings", s)
		texts[name] = out.String()
	}
	for how, text := range texts {
		for _, form := range []string{hidden, fmt.Sprintf("%x", hidden), fmt.Sprintf("%X", hidden)} {
			if strings.Contains(text, form) {
				t.Errorf("%s shows the secret: %s", how, text)
			}
		}
	}
	for _, how := range []string{"json", "slog json", "zap console", "zap json"} {
		if !strings.Contains(texts[how], Redacted) {
			t.Errorf("%s doesn't tell that a secret is set: %s", how, texts[how])
		}
	}
}

func TestEmptyStaysEmpty(t *testing.T) {
	if got := fmt.Sprintf("%v|%s|%q", Text(""), Text(""), Text("")); got != "||" {
		t.Errorf("an unset secret prints %q", got)
	}
}

func TestRedact(t *testing.T) {
	for _, c := range []struct {
		secret     Text
		text, want string
	}{
		{hidden, "key " + hidden + " and " + hidden, "key [redacted] and [redacted]"},
		{hidden, "nothing", "nothing"},
		{"", "an unset key hides nothing", "an unset key hides nothing"},
	} {
		if got := c.secret.Redact(c.text); got != c.want {
			t.Errorf("Redact(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}
