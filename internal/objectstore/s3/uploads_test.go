package s3

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/speechmanip/speechmanip/internal/fault"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

func TestUploads(t *testing.T) {
	const page = `<ListMultipartUploadsResult><IsTruncated>%t</IsTruncated><NextKeyMarker>k1</NextKeyMarker><NextUploadIdMarker>u1</NextUploadIdMarker>` +
		`<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>2026-01-02T12:00:00.000Z</Initiated></Upload></ListMultipartUploadsResult>`
	var aborted []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch {
		case r.Method == http.MethodDelete && query.Get("uploadId") == "gone":
			refuse(http.StatusNotFound, "NoSuchUpload", "")(w, r)
		case r.Method == http.MethodDelete && query.Get("uploadId") == "kept":
			refuse(http.StatusForbidden, "AccessDenied", "")(w, r)
		case r.Method == http.MethodDelete:
			aborted = append(aborted, r.URL.Path+" "+query.Get("uploadId"))
			w.WriteHeader(http.StatusNoContent)
		case query.Get("upload-id-marker") == "u1":
			fmt.Fprintf(w, page, false, "k2", "u2")
		default:
			fmt.Fprintf(w, page, true, "k1", "u1")
		}
	}))
	defer server.Close()
	store := newStore(t, server.URL)
	began := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	var found []objectstore.Upload
	for upload, err := range store.Uploads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, upload)
	}
	want := []objectstore.Upload{{Key: "k1", ID: "u1", Began: began}, {Key: "k2", ID: "u2", Began: began}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("uploads (-want +got):\n%s", diff)
	}
	for id, kind := range map[string]fault.Kind{"u1": "", "gone": "", "kept": fault.Pause} {
		err := store.AbortUpload(t.Context(), objectstore.Upload{Key: "k1", ID: id})
		if (err == nil) != (kind == "") || err != nil && fault.KindOf(err) != kind {
			t.Errorf("%s: %v", id, err)
		}
	}
	if diff := cmp.Diff([]string{"/clips/k1 u1"}, aborted); diff != "" {
		t.Errorf("aborted (-want +got):\n%s", diff)
	}
}

func TestUploadsUnknown(t *testing.T) {
	server := httptest.NewServer(refuse(http.StatusNotImplemented, "NotImplemented", ""))
	defer server.Close()
	for upload, err := range newStore(t, server.URL).Uploads(t.Context()) {
		t.Errorf("got %+v, %v from a server that knows none", upload, err)
	}
}
