package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func environment(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := pairs[name]
		return v, ok
	}
}

func TestParseSettings(t *testing.T) {
	s, err := parseSettings(nil, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	if s.data != ".devstack" || s.temporal.String() != "127.0.0.1:7233" || s.ui.String() != "127.0.0.1:8233" ||
		s.s3.String() != "127.0.0.1:7070" || s.namespace != "default" || s.retention != 720*time.Hour ||
		s.logLevel != "warn" || s.accessKey != "devstack" || s.secretKey != "devstack-secret" || len(s.warnings()) != 0 {
		t.Errorf("defaults: %+v", s)
	}

	env := environment(map[string]string{
		"DEVSTACK_DATA": "/from/env", "DEVSTACK_TEMPORAL_ADDR": "127.0.0.1:1", "DEVSTACK_UI_ADDR": "[::1]:2",
		"DEVSTACK_S3_ADDR": "localhost:3", "DEVSTACK_NAMESPACE": "env", "DEVSTACK_RETENTION": "2h",
		"DEVSTACK_LOG_LEVEL": "error", "DEVSTACK_S3_ACCESS_KEY": "a", "DEVSTACK_S3_SECRET_KEY": "b",
	})
	s, err = parseSettings([]string{"--namespace", "flag", "--s3-addr=0.0.0.0:4"}, env)
	if err != nil {
		t.Fatal(err)
	}
	if s.data != "/from/env" || s.temporal.Port() != 1 || s.ui.String() != "[::1]:2" || s.s3.String() != "0.0.0.0:4" ||
		s.namespace != "flag" || s.retention != 2*time.Hour || s.logLevel != "error" || s.accessKey != "a" || s.secretKey != "b" {
		t.Errorf("flags over the environment: %+v", s)
	}
	if w := s.warnings(); len(w) != 1 || !strings.Contains(w[0], "--s3-addr") {
		t.Errorf("warnings %q, want one for --s3-addr", w)
	}
	if got := reachable(s.s3).String(); got != "127.0.0.1:4" {
		t.Errorf("reachable(%s) = %s", s.s3, got)
	}
}

func TestParseSettingsRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		env  map[string]string
		want string
	}{
		{"unknown flag", []string{"--port", "1"}, nil, "--port"},
		{"argument", []string{"up"}, nil, `"up"`},
		{"address without port", []string{"--ui-addr", "127.0.0.1"}, nil, "want IP:PORT"},
		{"address without host", []string{"--ui-addr", ":80"}, nil, "want IP:PORT"},
		{"host name", []string{"--ui-addr", "example.org:80"}, nil, "want IP:PORT"},
		{"port too high", []string{"--ui-addr", "127.0.0.1:65536"}, nil, "want IP:PORT"},
		{"one port twice", []string{"--ui-addr", "127.0.0.1:7233"}, nil, "--temporal-addr and --ui-addr"},
		{"retention too short", []string{"--retention", "59m"}, nil, "at least 1h"},
		{"retention no duration", []string{"--retention", "soon"}, nil, "--retention"},
		{"log level", []string{"--log-level", "loud"}, nil, "debug, info, warn, error"},
		{"reserved namespace", []string{"--namespace", "temporal-system"}, nil, "--namespace"},
		{"no data folder", []string{"--data", ""}, nil, "--data"},
		{"environment", nil, map[string]string{"DEVSTACK_S3_ADDR": "x"}, "DEVSTACK_S3_ADDR"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parseSettings(tc.args, environment(tc.env))
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, tc.want)
			}
		})
	}
	if _, err := parseSettings([]string{"--help"}, environment(nil)); !errors.Is(err, errHelp) {
		t.Errorf("--help: %v", err)
	}
}
