// Package s3 keeps objects on an S3 endpoint: AWS or any server that speaks its
// protocol, honours If-None-Match on a put and shows a write to every later
// read and list.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
	"github.com/speechmanip/speechmanip/internal/secret"
)

const (
	defaultRegion = "us-east-1" // what servers other than AWS expect

	// Retries inside one call; what outlasts them is the pipeline's to repeat.
	maxAttempts = 4
	maxBackoff  = 3 * time.Second

	dialTimeout = 5 * time.Second
	// headerTimeout bounds the wait for a reply once the request is written. The
	// bodies' time is bounded by the caller's context, since it depends on size.
	headerTimeout = time.Minute
	// idleConns keeps the connections of a worker's parallel activities open.
	idleConns = 64
)

// Store is an objectstore.Store in one bucket. An object's SHA-256 is kept in
// its user metadata. Use New.
type Store struct {
	client   *awss3.Client
	presign  *awss3.PresignClient
	bucket   string
	region   string
	endpoint string                // for error texts
	redact   func(s string) string // a func, so that printing a Store shows no secret
}

var _ objectstore.Store = (*Store)(nil)

// New returns the store that cfg describes. It doesn't contact the endpoint
// (Check does), but finds the credentials; a Permanent fault when there are
// none or cfg is wrong.
func New(ctx context.Context, cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, &fault.Error{Kind: fault.Permanent, Op: "configure the object store", Code: "bad_config", Err: err}
	}
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(httpClient()),
		config.WithRetryer(func() aws.Retryer { return retryer() }),
		config.WithLogger(logging.Nop{}),
	}
	if cfg.SecretKey != "" {
		options = append(options, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(string(cfg.AccessKey), string(cfg.SecretKey), "")))
	}
	if cfg.Region != "" {
		options = append(options, config.WithRegion(cfg.Region))
	}
	sdk, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fault.Permanentf("configure the object store", "bad_config", "%w", err)
	}
	if sdk.Region == "" {
		if cfg.Endpoint == "" {
			return nil, fault.Permanentf("configure the object store", "bad_config", "the region is missing")
		}
		sdk.Region = defaultRegion
	}
	found, err := sdk.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, &fault.Error{
			Kind: fault.Permanent,
			Op:   "find the object store's credentials",
			Code: "no_credentials",
			Hint: "set the access key and the secret key, or provide AWS credentials in the environment",
			Err:  err,
		}
	}
	client := awss3.NewFromConfig(sdk, cfg.apply)
	s := &Store{
		client:   client,
		presign:  awss3.NewPresignClient(client),
		bucket:   cfg.Bucket,
		region:   sdk.Region,
		endpoint: cfg.Endpoint,
		redact: func(text string) string {
			for _, key := range []string{found.SecretAccessKey, found.SessionToken, found.AccessKeyID} {
				text = secret.Text(key).Redact(text)
			}
			return text
		},
	}
	if s.endpoint == "" {
		s.endpoint = "AWS in " + s.region
	}
	return s, nil
}

// apply sets what concerns S3 alone.
func (c Config) apply(o *awss3.Options) {
	if c.Endpoint != "" {
		o.BaseEndpoint = aws.String(c.Endpoint)
	}
	o.UsePathStyle = c.PathStyle
	o.DisableLogOutputChecksumValidationSkipped = true
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenSupported
	// What is read is checked by its SHA-256: a second sum would report the same
	// damage first, as an error that doesn't say so.
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	if c.Checksums == WhenRequired {
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	}
}

func httpClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(func(t *http.Transport) {
			t.ResponseHeaderTimeout = headerTimeout
			t.MaxIdleConnsPerHost = idleConns
		})
}

func retryer() aws.Retryer {
	standard := retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.MaxBackoff = maxBackoff
	})
	// Two conditional puts met; the loser has to ask again.
	return retry.AddWithErrorCodes(standard, "ConditionalRequestConflict", "OperationAborted")
}

// List yields the entries whose key starts with prefix, in key order.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[objectstore.Entry, error] {
	return func(yield func(objectstore.Entry, error) bool) {
		pages := awss3.NewListObjectsV2Paginator(s.client, &awss3.ListObjectsV2Input{
			Bucket: &s.bucket,
			Prefix: &prefix,
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(objectstore.Entry{}, s.fault(ctx, fmt.Sprintf("list objects under %q", prefix), err))
				return
			}
			for _, o := range page.Contents {
				entry := objectstore.Entry{
					Key:      aws.ToString(o.Key),
					Size:     aws.ToInt64(o.Size),
					Modified: aws.ToTime(o.LastModified),
				}
				if !yield(entry, nil) {
					return
				}
			}
		}
	}
}

// Stat returns the ref of a key. A missing bucket can't be told from a missing
// key here; Check tells it.
func (s *Store) Stat(ctx context.Context, key string) (objectstore.Ref, error) {
	if err := objectstore.CheckKey(key); err != nil {
		return objectstore.Ref{}, err
	}
	head, err := s.client.HeadObject(ctx, &awss3.HeadObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return objectstore.Ref{}, s.objectFault(ctx, "look for", key, err)
	}
	return objectstore.Ref{
		Key:    key,
		SHA256: head.Metadata[hashMetadata],
		Size:   aws.ToInt64(head.ContentLength),
	}, nil
}

// Open reads an object, checked at its end.
func (s *Store) Open(ctx context.Context, ref objectstore.Ref) (io.ReadCloser, error) {
	if err := objectstore.CheckKey(ref.Key); err != nil {
		return nil, err
	}
	got, err := s.client.GetObject(ctx, &awss3.GetObjectInput{Bucket: &s.bucket, Key: &ref.Key})
	if err != nil {
		return nil, s.objectFault(ctx, "read", ref.Key, err)
	}
	if ref.SHA256 == "" {
		ref.SHA256 = got.Metadata[hashMetadata]
	}
	return objectstore.Verify(got.Body, ref), nil
}

// OpenRange reads a part of an object.
func (s *Store) OpenRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := objectstore.CheckKey(key); err != nil {
		return nil, err
	}
	if err := objectstore.CheckRange(key, offset, length); err != nil {
		return nil, err
	}
	got, err := s.client.GetObject(ctx, &awss3.GetObjectInput{
		Bucket: &s.bucket,
		Key:    &key,
		Range:  aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)),
	})
	switch {
	case statusOf(err) == http.StatusRequestedRangeNotSatisfiable:
		return nil, objectstore.OutOfRange(key, offset, length)
	case err != nil:
		return nil, s.objectFault(ctx, "read a part of", key, err)
	}
	return got.Body, nil
}

// Delete removes a key.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := objectstore.CheckKey(key); err != nil {
		return err
	}
	_, err := s.client.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: &s.bucket, Key: &key})
	if err == nil {
		return nil
	}
	// Some servers answer 404, which is as good.
	if err := s.objectFault(ctx, "delete", key, err); !errors.Is(err, objectstore.ErrNotFound) {
		return err
	}
	return nil
}

// Presign returns a link that reads the object until lifetime has passed.
func (s *Store) Presign(ctx context.Context, key string, lifetime time.Duration) (string, error) {
	if err := objectstore.CheckKey(key); err != nil {
		return "", err
	}
	if err := objectstore.CheckPresign(key, lifetime); err != nil {
		return "", err
	}
	link, err := s.presign.PresignGetObject(ctx,
		&awss3.GetObjectInput{Bucket: &s.bucket, Key: &key}, awss3.WithPresignExpires(lifetime))
	if err != nil {
		return "", s.objectFault(ctx, "make a link to", key, err)
	}
	return link.URL, nil
}
