//go:build integration

package check

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// request is what somebody asked of the store: an action of IAM's and a key, "" for the
// bucket.
type request struct{ action, key string }

// recorder passes requests on to the store and notes them.
type recorder struct {
	mu   sync.Mutex
	seen map[request]bool
	*httptest.Server
}

func record(t *testing.T, store string) *recorder {
	t.Helper()
	target, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{seen: map[request]bool{}}
	// The host stays what the client has signed.
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = target.Scheme, target.Host, p.In.Host
	}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.seen[requestOf(req)] = true
		r.mu.Unlock()
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

func requestOf(r *http.Request) request {
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	action := map[string]string{"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject", "DELETE": "s3:DeleteObject"}[r.Method]
	switch {
	case key == "" && r.URL.Query().Has("lifecycle"):
		action = map[string]string{"GET": "s3:GetLifecycleConfiguration", "PUT": "s3:PutLifecycleConfiguration"}[r.Method]
	case key == "" && r.Method == "GET" && r.URL.Query().Has("uploads"):
		action = "s3:ListBucketMultipartUploads"
	case key == "" && r.Method == "PUT":
		action = "s3:CreateBucket"
	case key == "" && (r.Method == "HEAD" || r.URL.Query().Get("list-type") == "2"):
		action = "s3:ListBucket"
	}
	if action == "" || key != "" && len(r.URL.Query()) > 1 { // x-id names the operation
		action = r.Method + " " + r.URL.RequestURI()
	}
	return request{action, key}
}

// access is local.access of infra/terraform.
func access(t *testing.T) map[string]map[string][]string {
	t.Helper()
	for _, body := range terraformFiles(t) {
		for _, block := range body.Blocks {
			attribute := block.Body.Attributes["access"]
			if block.Type != "locals" || attribute == nil {
				continue
			}
			value, problems := attribute.Expr.Value(nil)
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			out := map[string]map[string][]string{}
			for role, rights := range value.AsValueMap() {
				out[role] = map[string][]string{}
				for name, patterns := range rights.AsValueMap() {
					for _, pattern := range patterns.AsValueSlice() {
						out[role][name] = append(out[role][name], pattern.AsString())
					}
				}
			}
			return out
		}
	}
	t.Fatal("no local.access")
	return nil
}

// allowed reports whether a policy as access.tf makes it allows a request.
func allowed(role string, rights map[string][]string, r request) bool {
	switch r.action {
	case "s3:ListBucket":
		return true
	case "s3:ListBucketMultipartUploads":
		return role == "gc"
	case "s3:GetLifecycleConfiguration":
		return role == "setup"
	case "s3:CreateBucket", "s3:PutLifecycleConfiguration": // Terraform has done it
		return role == "setup"
	}
	name := map[string]string{"s3:GetObject": "read", "s3:PutObject": "write", "s3:DeleteObject": "delete"}[r.action]
	return slices.ContainsFunc(rights[name], func(pattern string) bool { return match(pattern, r.key) })
}

func match(pattern, key string) bool {
	expression := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") // IAM's * goes beyond a slash
	return regexp.MustCompile("^" + expression + "$").MatchString(key)
}

// stack is a dev stack, and a recorder for each role before its store.
type stack struct {
	temporal, store string
	data            string // its folder
	recorders       map[string]*recorder
}

func startStack(t *testing.T, roles []string) stack {
	t.Helper()
	folder := t.TempDir()
	ready, data := filepath.Join(folder, "ready.json"), filepath.Join(folder, "data")
	launch(t, nil, "devstack", "--data", data, "--ready-file", ready,
		"--temporal-addr", "127.0.0.1:0", "--ui-addr", "127.0.0.1:0", "--s3-addr", "127.0.0.1:0")
	var at struct{ Temporal, S3 string }
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if text, err := os.ReadFile(ready); err == nil && json.Unmarshal(text, &at) == nil {
			break
		}
		if time.Since(start) > 2*time.Minute {
			t.Fatal("the dev stack didn't start")
		}
	}
	s := stack{data: data, temporal: at.Temporal, store: at.S3, recorders: map[string]*recorder{}}
	for _, role := range roles {
		s.recorders[role] = record(t, at.S3)
	}
	return s
}

// environment is what a role reaches Temporal and the store by.
func (s stack) environment(role string) []string {
	var env []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "TEMPORAL_") && !strings.HasPrefix(name, "SPEECHMANIP_") {
			env = append(env, entry)
		}
	}
	return append(env, "TEMPORAL_ADDRESS="+s.temporal, "TEMPORAL_CONFIG_FILE="+os.DevNull, "SPEECHMANIP_S3_ENDPOINT="+s.recorders[role].URL,
		"SPEECHMANIP_S3_ACCESS_KEY=devstack", "SPEECHMANIP_S3_SECRET_KEY=devstack-secret", "SPEECHMANIP_DRAIN=5s")
}

// launch starts a program that runs until the test ends.
func launch(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(program(t, name), args...)
	cmd.Env = env
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
		if t.Failed() {
			t.Logf("%s %q: %s", name, args, errOut.String()[max(0, errOut.Len()-2000):])
		}
	})
}

// A whole evaluation, a process a role, asks the store for nothing that the role's
// policy in infra/terraform doesn't allow.
func TestAccess(t *testing.T) {
	policies := access(t)
	var roles []string
	for role := range policies {
		roles = append(roles, role)
	}
	s := startStack(t, roles)
	folder := t.TempDir()
	starter := func(role string, args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, program(t, "starter"), args...)
		cmd.Dir, cmd.Env = folder, s.environment(role)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("starter %q: %v: %s", args, err, out)
		}
	}
	starter("setup", "setup")
	for role := range policies {
		if role != "setup" && role != "starter" && role != "gc" {
			launch(t, s.environment(role), "worker", "--roles="+role)
		}
	}
	starter("starter", "evaluate", "--id", "access", "--limit", "2")
	starter("starter", "evaluate", "--id", "access-again", "--limit", "2")
	for _, args := range [][]string{{"list"}, {"status", "access"}, {"report", "access"}, {"estimate"}, {"doctor"}} {
		starter("starter", args...)
	}
	age(t, filepath.Join(s.data, "s3"))
	starter("gc", "gc", "--delete")
	for role, rights := range policies {
		r := s.recorders[role]
		r.mu.Lock()
		if len(r.seen) == 0 {
			t.Errorf("%s asked for nothing", role)
		}
		for request := range r.seen {
			if !allowed(role, rights, request) {
				t.Errorf("%s may not %s %s", role, request.action, request.key)
			}
		}
		for name, patterns := range rights {
			action := map[string]string{"read": "s3:GetObject", "write": "s3:PutObject", "delete": "s3:DeleteObject"}[name]
			for _, pattern := range patterns {
				used := false
				for request := range r.seen {
					used = used || request.action == action && match(pattern, request.key)
				}
				if !used {
					t.Logf("%s: this evaluation needed no %s of %s", role, name, pattern)
				}
			}
		}
		r.mu.Unlock()
	}
}

// age makes all that is stored eight days old, so that gc looks at it.
func age(t *testing.T, root string) {
	t.Helper()
	then := time.Now().Add(-8 * 24 * time.Hour)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		t.Fatal(err)
	}
}
