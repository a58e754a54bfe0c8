package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

const (
	testAccess = "ACCESS-a1b2"
	testSecret = "SECRET-c3d4"
	helloHash  = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
)

// refuse answers every request with one S3 error.
func refuse(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		if r.Method != http.MethodHead { // HEAD carries no body
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
		}
	}
}

// newStore returns a store on a fake endpoint.
func newStore(t *testing.T, endpoint string) *Store {
	t.Helper()
	store, err := New(t.Context(), Config{
		Endpoint: endpoint, Bucket: "clips", PathStyle: true, AccessKey: testAccess, SecretKey: testSecret,
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestMain hides the developer's own AWS settings.
func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "AWS_") {
			os.Unsetenv(name)
		}
	}
	os.Setenv("AWS_CONFIG_FILE", os.DevNull)
	os.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	os.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	os.Exit(m.Run())
}

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name    string
		status  int
		code    string
		message string
		kind    fault.Kind
		want    string
		is      error
		wait    time.Duration
	}{
		{name: "no key", status: 404, code: "NoSuchKey", kind: fault.Permanent, want: `object "k": object not found`, is: objectstore.ErrNotFound},
		{name: "no bucket", status: 404, code: "NoSuchBucket", kind: fault.Pause, want: "run `starter setup`"},
		{name: "denied", status: 403, code: "AccessDenied", message: "no " + testAccess + " and no " + testSecret, kind: fault.Pause, want: "check the access key"},
		{name: "wrong secret", status: 403, code: "SignatureDoesNotMatch", kind: fault.Pause, want: "check the access key"},
		{name: "expired token", status: 400, code: "ExpiredToken", kind: fault.Pause, want: "check the access key"},
		{name: "clock", status: 403, code: "RequestTimeTooSkewed", kind: fault.Pause, want: "set this machine's clock"},
		{name: "throttled", status: 503, code: "SlowDown", kind: fault.Wait, want: "503 SlowDown", wait: 7 * time.Second},
		{name: "too many", status: 429, code: "TooManyRequests", kind: fault.Wait, want: "429", wait: 7 * time.Second},
		{name: "no space", status: 507, code: "InsufficientStorage", kind: fault.Pause, want: "make space"},
		{name: "no space on MinIO", status: 507, code: "XMinioStorageFull", kind: fault.Pause, want: "make space"},
		{name: "quota of a bucket", status: 409, code: "XMinioAdminBucketQuotaExceeded", kind: fault.Pause, want: "make space"},
		{name: "read-only", status: 405, code: "MethodNotAllowed", kind: fault.Pause, want: "make bucket \"clips\" at http"},
		{name: "quota", status: 403, code: "QuotaExceeded", kind: fault.Pause, want: "make space"},
		{name: "region", status: 301, code: "PermanentRedirect", kind: fault.Permanent, want: "another region"},
		{name: "unknown checksum", status: 400, code: "InvalidRequest", message: "trailer\nrefused", kind: fault.Permanent, want: "trailer refused"},
		{name: "broken", status: 500, code: "InternalError", kind: fault.Transient, want: "500 InternalError"},
		{name: "conflict", status: 409, code: "ConditionalRequestConflict", kind: fault.Transient, want: "409"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // the retries wait
			answer := refuse(test.status, test.code, test.message)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", "7")
				answer(w, r)
			}))
			defer server.Close()
			store := newStore(t, server.URL)
			_, err := store.Open(t.Context(), objectstore.Ref{Key: "k"})
			if err == nil || fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %s %v, want %s with %q", fault.KindOf(err), err, test.kind, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
			var f *fault.Error
			if errors.As(err, &f); f == nil || f.RetryAfter != test.wait || f.Code == "" {
				t.Errorf("fault %+v, want to wait %s", f, test.wait)
			}
			if text := fmt.Sprintf("%+v", err); strings.Contains(text, testAccess) || strings.Contains(text, testSecret) {
				t.Errorf("shows a key: %s", text)
			}
		})
	}
}

// A server that can't write often says no more than that.
func TestUnwritable(t *testing.T) {
	for status, want := range map[int]string{500: objectstore.CodeUnwritable, 502: "server_error"} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel() // the retries wait
			server := httptest.NewServer(refuse(status, "InternalError", "We encountered an internal error"))
			defer server.Close()
			_, err := objectstore.PutBytes(t.Context(), newStore(t, server.URL), "k", []byte("x"), objectstore.PutOptions{})
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Transient || f.Code != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// A HEAD has no body, so that its status must do.
func TestStatFaults(t *testing.T) {
	for status, want := range map[int]error{404: objectstore.ErrNotFound, 403: nil} {
		kind := fault.Pause
		if want != nil {
			kind = fault.Permanent
		}
		server := httptest.NewServer(refuse(status, "", ""))
		defer server.Close()
		_, err := newStore(t, server.URL).Stat(t.Context(), "k")
		if fault.KindOf(err) != kind || want != nil && !errors.Is(err, want) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "http://" + listener.Addr().String()
	listener.Close() // nobody is there
	_, err = newStore(t, endpoint).Stat(t.Context(), "k")
	if fault.KindOf(err) != fault.Transient || !strings.Contains(err.Error(), "is the S3 server at "+endpoint+" running") {
		t.Errorf("got %v", err)
	}
}

func TestNoCredentials(t *testing.T) {
	_, err := New(t.Context(), Config{Endpoint: "http://127.0.0.1:1", Bucket: "clips"})
	if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "set the access key") {
		t.Errorf("got %v", err)
	}
}

func TestConditionalPut(t *testing.T) {
	for _, test := range []struct {
		name   string
		stored string // hash in the metadata of what is there
		body   string // what is there
		want   error
	}{
		{"a retry of our own", helloHash, "hello", nil},
		{"without metadata, the same bytes", "", "hello", nil},
		{"without metadata, other bytes", "", "jello", objectstore.ErrExists},
		{"another's", strings.Repeat("0", 64), "other", objectstore.ErrExists},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut {
					if r.Header.Get("If-None-Match") != "*" {
						t.Errorf("If-None-Match is %q", r.Header.Get("If-None-Match"))
					}
					refuse(http.StatusPreconditionFailed, "PreconditionFailed", "")(w, r)
					return
				}
				if test.stored != "" {
					w.Header().Set("X-Amz-Meta-Sha256", test.stored)
				}
				w.Header().Set("Content-Length", fmt.Sprint(len(test.body)))
				io.WriteString(w, test.body)
			}))
			defer server.Close()
			ref, err := objectstore.PutBytes(t.Context(), newStore(t, server.URL), "k", []byte("hello"),
				objectstore.PutOptions{IfAbsent: true})
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if want := (objectstore.Ref{Key: "k", SHA256: helloHash, Size: 5}); err == nil && ref != want {
				t.Errorf("ref %+v", ref)
			}
		})
	}
}

// A conflict between two conditional puts is asked again, with the whole body.
func TestConflictIsRetried(t *testing.T) {
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if len(bodies) == 1 {
			refuse(http.StatusConflict, "ConditionalRequestConflict", "")(w, r)
		}
	}))
	defer server.Close()
	_, err := objectstore.PutBytes(t.Context(), newStore(t, server.URL), "k", []byte("hello"),
		objectstore.PutOptions{IfAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 2 || bodies[0] != "hello" || bodies[1] != "hello" {
		t.Errorf("sent %q", bodies)
	}
}

// A key that was taken and is free again is tried again, with the whole body.
func TestDeletedBetween(t *testing.T) {
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		default:
			body, _ := io.ReadAll(r.Body)
			if bodies = append(bodies, string(body)); len(bodies) == 1 {
				refuse(http.StatusPreconditionFailed, "PreconditionFailed", "")(w, r)
			}
		}
	}))
	defer server.Close()
	body := strings.NewReader("hello")
	if _, err := newStore(t, server.URL).Put(t.Context(), "k", body, objectstore.PutOptions{IfAbsent: true}); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 2 || bodies[0] != "hello" || bodies[1] != "hello" {
		t.Errorf("sent %q", bodies)
	}
}

func TestCancelledCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	if _, err := newStore(t, server.URL).Stat(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestEnsureBucket(t *testing.T) {
	for _, test := range []struct {
		name  string
		rules http.HandlerFunc // answers requests for the lifecycle rules
		want  []string
		sent  []string // in the rules that were set
	}{
		{
			name:  "without lifecycle rules",
			rules: refuse(http.StatusNotImplemented, "NotImplemented", ""),
			want:  []string{`made bucket "clips"`, "this store has no lifecycle rules"},
		},
		{
			name: "others' rules are kept",
			rules: func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					io.WriteString(w, `<LifecycleConfiguration><Rule><ID>theirs</ID><Status>Enabled</Status>`+
						`<Filter><Prefix>x/</Prefix></Filter><Expiration><Days>9</Days></Expiration></Rule></LifecycleConfiguration>`)
				}
			},
			want: []string{`made bucket "clips"`, "set its lifecycle rules"},
			sent: []string{"<ID>theirs</ID>", "<Days>9</Days>", "<ID>speechmanip-abort-uploads</ID>", "<ID>speechmanip-expire-claims</ID>"},
		},
		{
			name: "already set",
			rules: func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, `<LifecycleConfiguration><Rule><ID>speechmanip-abort-uploads</ID></Rule>`+
					`<Rule><ID>speechmanip-expire-claims</ID></Rule></LifecycleConfiguration>`)
			},
			want: []string{`made bucket "clips"`, "its lifecycle rules are there"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var sent string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Query().Has("lifecycle"):
					if r.Method == http.MethodPut {
						body, _ := io.ReadAll(r.Body)
						sent = string(body)
					}
					test.rules(w, r)
				case r.Method == http.MethodHead:
					w.WriteHeader(http.StatusNotFound)
				}
			}))
			defer server.Close()
			lines, err := newStore(t, server.URL).EnsureBucket(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("line %d is %q, want %q", i, lines[i], want)
				}
			}
			for _, want := range test.sent {
				if !strings.Contains(sent, want) {
					t.Errorf("sent %q without %s", sent, want)
				}
			}
			if len(test.sent) == 0 && sent != "" {
				t.Errorf("sent %q", sent)
			}
		})
	}
}

func TestCheckMissingBucket(t *testing.T) {
	server := httptest.NewServer(refuse(http.StatusNotFound, "", ""))
	defer server.Close()
	err := newStore(t, server.URL).Check(t.Context())
	if fault.KindOf(err) != fault.Pause || !strings.Contains(err.Error(), "run `starter setup`") {
		t.Errorf("got %v", err)
	}
}
