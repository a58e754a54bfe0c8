package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

// s3ChildArg is the one argument with which devstack starts itself as the S3 server.
const s3ChildArg = "__s3"

// s3ChildConfig reaches the child on its standard input: keys in arguments
// could be read by everyone on the machine.
type s3ChildConfig struct {
	Parent    int // process id
	Listen    string
	Root      string
	IAM       string
	AccessKey string
	SecretKey string
}

// s3ChildMain serves S3 until its standard input ends; it returns the exit code.
func s3ChildMain(stdin io.Reader, stderr io.Writer) int {
	dec := json.NewDecoder(stdin)
	var conf s3ChildConfig
	if err := dec.Decode(&conf); err != nil {
		fmt.Fprintf(stderr, "read the configuration: %v\n", err)
		return exitFault
	}
	if os.Getppid() != conf.Parent {
		return exitFault // the parent died before Pdeathsig was set
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		stop()
	}()
	if err := serveS3(ctx, conf); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, err)
		return exitFault
	}
	return exitOK
}

func serveS3(ctx context.Context, conf s3ChildConfig) error {
	backend, err := posix.New(conf.Root, meta.XattrMeta{}, posix.PosixOpts{
		CopyObjectThreshold: 5 << 30, // without it every copy is refused
	})
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
		RootUserAccess:    conf.AccessKey,
		RootUserSecret:    conf.SecretKey,
		Region:            s3Region,
		Ports:             []string{conf.Listen},
		MaxConnections:    10_000,
		MaxRequests:       10_000,
		MultipartMaxParts: 10_000,
		IAMDir:            conf.IAM,
		// The cache would be pruned every 0 s: a goroutine that burns a core. There
		// is one account only, the root, and that is never looked up in it.
		IAMCacheDisable: true,
		KeepAlive:       true,
		Quiet:           true, // no line a request
	})
}

const s3Region = "us-east-1"
