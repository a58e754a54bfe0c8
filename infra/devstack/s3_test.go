package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// These tests hold the S3 server to what its users rely on.

func newBucket(t *testing.T, c *s3.Client) string {
	t.Helper()
	name := "bucket"
	if _, err := c.CreateBucket(testContext(t), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	return name
}

func put(t *testing.T, c *s3.Client, bucket, key, body string) (etag string) {
	t.Helper()
	out, err := c.PutObject(testContext(t), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(out.ETag)
}

func get(t *testing.T, c *s3.Client, bucket, key string) string {
	t.Helper()
	out, err := c.GetObject(testContext(t), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	return readAll(t, out.Body)
}

func readAll(t *testing.T, r io.ReadCloser) string {
	t.Helper()
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// code is the S3 error code of err, or "" for none.
func code(err error) string {
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func TestS3(t *testing.T) {
	p := start(t, t.TempDir())
	c := p.s3()
	bucket := newBucket(t, c)

	t.Run("creating a bucket again names its owner", func(t *testing.T) {
		_, err := c.CreateBucket(testContext(t), &s3.CreateBucketInput{Bucket: &bucket})
		if got := code(err); got != "BucketAlreadyOwnedByYou" {
			t.Errorf("error code %q (%v)", got, err)
		}
	})
	t.Run("a wrong key is refused", func(t *testing.T) {
		_, err := p.s3With("wrong").ListBuckets(testContext(t), nil)
		if got := code(err); got != "SignatureDoesNotMatch" {
			t.Errorf("error code %q (%v)", got, err)
		}
	})
	t.Run("user metadata and content type come back", func(t *testing.T) {
		key := "meta"
		meta := map[string]string{"synthetic": "true", "sha256": "ab"}
		if _, err := c.PutObject(testContext(t), &s3.PutObjectInput{Bucket: &bucket, Key: &key,
			Body: strings.NewReader("x"), Metadata: meta, ContentType: aws.String("audio/wav")}); err != nil {
			t.Fatal(err)
		}
		h, err := c.HeadObject(testContext(t), &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(h.Metadata) != fmt.Sprint(meta) || aws.ToString(h.ContentType) != "audio/wav" || aws.ToInt64(h.ContentLength) != 1 {
			t.Errorf("head: %v %q %d", h.Metadata, aws.ToString(h.ContentType), aws.ToInt64(h.ContentLength))
		}
	})
	t.Run("a missing key is 404", func(t *testing.T) {
		_, err := c.HeadObject(testContext(t), &s3.HeadObjectInput{Bucket: &bucket, Key: aws.String("none")})
		if got := code(err); got != "NotFound" {
			t.Errorf("error code %q (%v)", got, err)
		}
	})
	t.Run("range", func(t *testing.T) {
		put(t, c, bucket, "range", "0123456789")
		out, err := c.GetObject(testContext(t), &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("range"), Range: aws.String("bytes=2-4")})
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, out.Body); got != "234" || aws.ToString(out.ContentRange) != "bytes 2-4/10" {
			t.Errorf("got %q, range %q", got, aws.ToString(out.ContentRange))
		}
	})
	t.Run("pagination", func(t *testing.T) {
		for i := range 7 {
			put(t, c, bucket, fmt.Sprintf("page/%d", i), "x")
		}
		var keys []string
		pages := s3.NewListObjectsV2Paginator(c, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("page/"), MaxKeys: aws.Int32(3)})
		n := 0
		for ; pages.HasMorePages(); n++ {
			page, err := pages.NextPage(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range page.Contents {
				keys = append(keys, aws.ToString(o.Key))
			}
		}
		if got, want := strings.Join(keys, " "), "page/0 page/1 page/2 page/3 page/4 page/5 page/6"; got != want || n != 3 {
			t.Errorf("%d pages: %s", n, got)
		}
	})
	t.Run("presigned get", func(t *testing.T) {
		put(t, c, bucket, "signed", "open to the link")
		req, err := s3.NewPresignClient(c).PresignGetObject(testContext(t),
			&s3.GetObjectInput{Bucket: &bucket, Key: aws.String("signed")}, s3.WithPresignExpires(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Get(req.URL)
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, resp.Body); got != "open to the link" {
			t.Errorf("%s: %q", resp.Status, got)
		}
		unsigned, err := http.Get(p.ready.S3 + "/" + bucket + "/signed")
		if err != nil {
			t.Fatal(err)
		}
		unsigned.Body.Close()
		if unsigned.StatusCode != http.StatusForbidden {
			t.Errorf("without a signature: %s", unsigned.Status)
		}
	})
	t.Run("copy", func(t *testing.T) {
		put(t, c, bucket, "from", "copied")
		if _, err := c.CopyObject(testContext(t), &s3.CopyObjectInput{Bucket: &bucket, Key: aws.String("to"), CopySource: aws.String(bucket + "/from")}); err != nil {
			t.Fatal(err)
		}
		if got := get(t, c, bucket, "to"); got != "copied" {
			t.Errorf("copy: %q", got)
		}
	})
	t.Run("a key below a key is refused", func(t *testing.T) {
		put(t, c, bucket, "x", "file")
		_, err := c.PutObject(testContext(t), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("x/y"), Body: strings.NewReader("z")})
		if got := code(err); got != "ObjectParentIsFile" {
			t.Errorf("error code %q (%v)", got, err)
		}
	})
	t.Run("lifecycle rules are not implemented", func(t *testing.T) {
		_, err := c.PutBucketLifecycleConfiguration(testContext(t), &s3.PutBucketLifecycleConfigurationInput{
			Bucket: &bucket,
			LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{{
				ID: aws.String("parts"), Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String("")},
				AbortIncompleteMultipartUpload: &types.AbortIncompleteMultipartUpload{DaysAfterInitiation: aws.Int32(1)},
			}}},
		})
		if got := code(err); got != "NotImplemented" {
			t.Errorf("error code %q (%v)", got, err)
		}
	})
}

func TestS3ConditionalPut(t *testing.T) {
	p := start(t, t.TempDir())
	c := p.s3()
	bucket := newBucket(t, c)

	t.Run("If-None-Match", func(t *testing.T) {
		in := &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("once"), IfNoneMatch: aws.String("*")}
		if wins := race(t, c, in); wins != 1 {
			t.Errorf("%d writers won, want 1", wins)
		}
	})
	t.Run("If-Match", func(t *testing.T) {
		etag := put(t, c, bucket, "current", "first")
		in := &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("current"), IfMatch: &etag}
		if wins := race(t, c, in); wins != 1 {
			t.Errorf("%d writers won, want 1", wins)
		}
		now := get(t, c, bucket, "current")
		stale := *in
		stale.Body = strings.NewReader("stale")
		if _, err := c.PutObject(testContext(t), &stale); code(err) != "PreconditionFailed" {
			t.Errorf("a stale ETag: %v", err)
		}
		if got := get(t, c, bucket, "current"); got != now {
			t.Errorf("a refused put changed %q to %q", now, got)
		}
	})
	t.Run("If-Match on a missing key", func(t *testing.T) {
		in := &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("absent"), IfMatch: aws.String(`"0"`), Body: strings.NewReader("x")}
		if _, err := c.PutObject(testContext(t), in); code(err) != "NoSuchKey" {
			t.Errorf("error code %q (%v)", code(err), err)
		}
	})
}

// race lets 32 writers put different bodies under the condition of in at
// once. It returns how many won and fails the test when another was refused
// for a reason other than the condition.
func race(t *testing.T, c *s3.Client, in *s3.PutObjectInput) int {
	t.Helper()
	ctx := testContext(t)
	var wins atomic.Int64
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			own := *in
			own.Body = strings.NewReader(fmt.Sprintf("writer %d", i))
			switch _, err := c.PutObject(ctx, &own); {
			case err == nil:
				wins.Add(1)
			case code(err) != "PreconditionFailed":
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	return int(wins.Load())
}
