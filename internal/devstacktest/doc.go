// Package devstacktest runs the built dev stack (Temporal, Web UI, S3) under
// integration tests. It runs on Linux only, as the dev stack does.
package devstacktest
