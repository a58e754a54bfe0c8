package s3

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/speechmanip/speechmanip/internal/secret"
)

// Checksum modes: what the client adds to requests and checks in replies beyond
// what an operation requires. Some S3-compatible servers refuse the additions.
const (
	WhenSupported = "when_supported" // the default
	WhenRequired  = "when_required"
)

// Config says where the objects are and who asks for them.
type Config struct {
	Endpoint  string // URL of an S3-compatible server; empty: AWS
	Region    string // empty: us-east-1 with an Endpoint, else from the environment
	Bucket    string
	AccessKey secret.Text // empty with SecretKey: AWS's default credential chain
	SecretKey secret.Text
	PathStyle bool   // endpoint/bucket/key instead of bucket.endpoint/key
	Checksums string // WhenSupported or WhenRequired; empty: WhenSupported
}

// Validate returns every problem of the configuration at once, nil when there
// is none.
func (c Config) Validate() error {
	var problems []error
	if c.Endpoint != "" {
		problems = append(problems, checkEndpoint(c.Endpoint))
	}
	if len(c.Bucket) < 3 || len(c.Bucket) > 63 || strings.Trim(c.Bucket, bucketLetters) != "" {
		problems = append(problems, fmt.Errorf("s3 bucket %q: want 3 to 63 of a-z, 0-9, dot and hyphen", c.Bucket))
	}
	if (c.AccessKey == "") != (c.SecretKey == "") {
		problems = append(problems, errors.New("s3 access key and secret key: set both, or neither for AWS's credential chain"))
	}
	switch c.Checksums {
	case "", WhenSupported, WhenRequired:
	default:
		problems = append(problems, fmt.Errorf("s3 checksums %q: want %s or %s", c.Checksums, WhenSupported, WhenRequired))
	}
	return errors.Join(problems...)
}

const bucketLetters = "abcdefghijklmnopqrstuvwxyz0123456789.-"

// checkEndpoint never repeats the endpoint: it may hold a password.
func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("s3 endpoint: want a URL such as http://127.0.0.1:7070")
	case u.User != nil:
		return errors.New("s3 endpoint: has a user name; set the access key and the secret key instead")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("s3 endpoint: want no query and no fragment")
	}
	return nil
}
