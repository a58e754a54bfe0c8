package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
)

const pollEvery = 25 * time.Millisecond

// ready is what the ready file and the readiness line tell.
type ready struct {
	Temporal  string `json:"temporal"` // host:port
	UI        string `json:"ui"`       // URL
	S3        string `json:"s3"`       // URL
	Namespace string `json:"namespace"`
	PID       int    `json:"pid"`
}

func (r ready) line() string {
	return fmt.Sprintf("devstack ready: temporal=%s ui=%s s3=%s", r.Temporal, r.UI, r.S3)
}

// writeFile writes r to path as JSON, whole or not at all.
func (r ready) writeFile(path string) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".devstack-ready-*")
	if err != nil {
		return fmt.Errorf("ready file: %w; choose another with --ready-file", err)
	}
	_, err = tmp.Write(append(b, '\n'))
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("ready file: %w; choose another with --ready-file", err)
	}
	return nil
}

// removeReadyFile removes the file of an earlier devstack, which would
// otherwise tell of servers that are not there.
func removeReadyFile(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ready file: %w; choose another with --ready-file", err)
	}
	return nil
}

// awaitHTTP returns when the server at url answers anything at all.
func awaitHTTP(ctx context.Context, url string) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
			return resp.Body.Close()
		}
		if !sleep(ctx, pollEvery) {
			return fmt.Errorf("no answer from %s: %w", url, err)
		}
	}
}

// awaitNamespace returns when the Temporal server at addr answers for the
// namespace, and sees to it that the namespace has the wanted retention.
func awaitNamespace(ctx context.Context, addr, name string, retention time.Duration) error {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("connect to Temporal at %s: %w", addr, err)
	}
	defer conn.Close()
	client := workflowservice.NewWorkflowServiceClient(conn)
	for {
		d, err := client.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: name})
		if err == nil && d.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() != retention {
			_, err = client.UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{
				Namespace: name,
				Config:    &namespace.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(retention)},
			})
		}
		if err == nil {
			return nil
		}
		if !sleep(ctx, pollEvery) {
			return fmt.Errorf("no answer from Temporal at %s: %w", addr, err)
		}
	}
}
