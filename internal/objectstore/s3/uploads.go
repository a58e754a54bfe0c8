package s3

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/speechmanip/speechmanip/internal/objectstore"
)

var _ objectstore.Uploads = (*Store)(nil)

// Uploads yields the multipart uploads that were begun and not completed; none where
// the server can't list them.
func (s *Store) Uploads(ctx context.Context) iter.Seq2[objectstore.Upload, error] {
	return func(yield func(objectstore.Upload, error) bool) {
		pages := awss3.NewListMultipartUploadsPaginator(s.client, &awss3.ListMultipartUploadsInput{Bucket: &s.bucket})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if statusOf(err) == http.StatusNotImplemented {
				return
			}
			if err != nil {
				yield(objectstore.Upload{}, s.fault(ctx, "list broken-off uploads", err))
				return
			}
			for _, u := range page.Uploads {
				upload := objectstore.Upload{Key: aws.ToString(u.Key), ID: aws.ToString(u.UploadId), Began: aws.ToTime(u.Initiated)}
				if !yield(upload, nil) {
					return
				}
			}
		}
	}
}

// AbortUpload removes a broken-off upload with its parts.
func (s *Store) AbortUpload(ctx context.Context, upload objectstore.Upload) error {
	_, err := s.client.AbortMultipartUpload(ctx, &awss3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: &upload.Key, UploadId: &upload.ID})
	if err == nil || statusOf(err) == http.StatusNotFound && codeOf(err) != "NoSuchBucket" {
		return nil
	}
	return s.fault(ctx, fmt.Sprintf("remove the broken-off upload of %q", upload.Key), err)
}
