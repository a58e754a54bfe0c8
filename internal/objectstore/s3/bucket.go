package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// Check returns nil when the bucket is there and may be used, so that a worker
// can refuse to start without it.
func (s *Store) Check(ctx context.Context) error {
	_, err := s.client.HeadBucket(ctx, &awss3.HeadBucketInput{Bucket: &s.bucket})
	switch {
	case err == nil:
		return nil
	case statusOf(err) == http.StatusNotFound:
		return &fault.Error{
			Kind: fault.Pause,
			Op:   fmt.Sprintf("look for bucket %q at %s", s.bucket, s.endpoint),
			Code: "no_bucket",
			Hint: "run `starter setup` to make it, or correct its name",
			Err:  errors.New("there is no such bucket"),
		}
	default:
		return s.fault(ctx, fmt.Sprintf("look for bucket %q", s.bucket), err)
	}
}

// EnsureBucket makes the bucket and its lifecycle rules where they are missing
// and returns what it did, one line each, for a person. Rules of others are
// kept. A server without lifecycle rules, or credentials that may not set them,
// are no error: a line says so.
func (s *Store) EnsureBucket(ctx context.Context) ([]string, error) {
	made, err := s.ensureBucket(ctx)
	if err != nil {
		return nil, err
	}
	rules, err := s.ensureRules(ctx)
	if err != nil {
		return nil, err
	}
	return []string{made, rules}, nil
}

func (s *Store) ensureBucket(ctx context.Context) (string, error) {
	there := fmt.Sprintf("bucket %q is there", s.bucket)
	err := s.Check(ctx)
	if err == nil {
		return there, nil
	}
	var missing *fault.Error
	if !errors.As(err, &missing) || missing.Code != "no_bucket" {
		return "", err
	}
	input := &awss3.CreateBucketInput{Bucket: &s.bucket}
	if s.region != defaultRegion { // which AWS refuses as a location
		input.CreateBucketConfiguration = &types.CreateBucketConfiguration{
			LocationConstraint: types.BucketLocationConstraint(s.region),
		}
	}
	_, err = s.client.CreateBucket(ctx, input)
	switch code := codeOf(err); {
	case err == nil:
		return fmt.Sprintf("made bucket %q", s.bucket), nil
	case code == "BucketAlreadyOwnedByYou": // another setup was faster
		return there, nil
	case code == "BucketAlreadyExists":
		return "", &fault.Error{
			Kind: fault.Permanent,
			Op:   fmt.Sprintf("make bucket %q", s.bucket),
			Code: "bucket_taken",
			Hint: "choose another name",
			Err:  errors.New("another account has a bucket of this name"),
		}
	default:
		return "", s.fault(ctx, fmt.Sprintf("make bucket %q", s.bucket), err)
	}
}

// rules end what would otherwise stay for ever: parts of uploads that other
// tools broke off, and claims long after their longest lifetime.
func rules() []types.LifecycleRule {
	const claimDays = 7 // far above objectstore.MaxClaim
	return []types.LifecycleRule{
		{
			ID:                             aws.String("speechmanip-abort-uploads"),
			Status:                         types.ExpirationStatusEnabled,
			Filter:                         &types.LifecycleRuleFilter{Prefix: aws.String("")},
			AbortIncompleteMultipartUpload: &types.AbortIncompleteMultipartUpload{DaysAfterInitiation: aws.Int32(1)},
		},
		{
			ID:         aws.String("speechmanip-expire-claims"),
			Status:     types.ExpirationStatusEnabled,
			Filter:     &types.LifecycleRuleFilter{Prefix: aws.String(objectstore.ClaimPrefix)},
			Expiration: &types.LifecycleExpiration{Days: aws.Int32(claimDays)},
		},
	}
}

func (s *Store) ensureRules(ctx context.Context) (string, error) {
	const op = "set the bucket's lifecycle rules"
	// Setting rules replaces all there are: read first, keep the others'.
	old, err := s.client.GetBucketLifecycleConfiguration(ctx,
		&awss3.GetBucketLifecycleConfigurationInput{Bucket: &s.bucket})
	switch {
	case codeOf(err) == "NoSuchLifecycleConfiguration":
		old = &awss3.GetBucketLifecycleConfigurationOutput{}
	case rulesRefused(err):
		return noRules, nil
	case err != nil:
		return "", s.fault(ctx, op, err)
	}
	all := old.Rules
	for _, rule := range rules() {
		if !slices.ContainsFunc(all, func(r types.LifecycleRule) bool { return aws.ToString(r.ID) == *rule.ID }) {
			all = append(all, rule)
		}
	}
	if len(all) == len(old.Rules) {
		return "its lifecycle rules are there", nil
	}
	_, err = s.client.PutBucketLifecycleConfiguration(ctx, &awss3.PutBucketLifecycleConfigurationInput{
		Bucket:                             &s.bucket,
		LifecycleConfiguration:             &types.BucketLifecycleConfiguration{Rules: all},
		TransitionDefaultMinimumObjectSize: old.TransitionDefaultMinimumObjectSize,
	})
	switch {
	case rulesRefused(err):
		return noRules, nil
	case err != nil:
		return "", s.fault(ctx, op, err)
	}
	return "set its lifecycle rules: broken-off uploads end after 1 day, claims after 7", nil
}

// rulesRefused reports that the server has no lifecycle rules or keeps them
// from these credentials.
func rulesRefused(err error) bool {
	switch statusOf(err) {
	case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}

const noRules = "this store has no lifecycle rules, or not for this key: `starter gc` removes broken-off uploads and old claims"
