package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"strings"

	"go.temporal.io/sdk/converter"

	"github.com/speechmanip/speechmanip/internal/secret"
)

// maxCodecBody is several times what Temporal sends the Web UI in one answer (4 MiB).
const maxCodecBody = 16 << 20

// codecHandler is Temporal's remote codec behind the origin that may ask, and behind a
// token where there is one.
func codecHandler(payloads converter.PayloadCodec, origin string, token secret.Text) http.Handler {
	inner := converter.NewPayloadCodecHTTPHandler(payloads)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if !allowOrigin(w, r, origin) {
			http.Error(w, "this origin may not ask: see --origin", http.StatusForbidden)
			return
		}
		if r.URL.Path != "/encode" && r.URL.Path != "/decode" {
			http.NotFound(w, r)
			return
		}
		switch r.Method {
		case http.MethodOptions: // a browser asks before it sends, and sends no token with that
			w.WriteHeader(http.StatusNoContent)
			return
		case http.MethodPost:
		default:
			w.Header().Set("Allow", "POST, OPTIONS")
			http.Error(w, "use POST", http.StatusMethodNotAllowed)
			return
		}
		if token != "" && !authorized(r, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the bearer token is missing or wrong", http.StatusUnauthorized)
			return
		}
		if !readBody(w, r) {
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// allowOrigin tells a browser that pages of one origin may ask. It is false for those
// of any other: a browser would send them here all the same, and only hide the answer.
// Requests that no page made have no origin.
func allowOrigin(w http.ResponseWriter, r *http.Request, origin string) bool {
	header := w.Header()
	header.Add("Vary", "Origin")
	asked := r.Header.Get("Origin")
	if asked == "" {
		return true
	}
	if asked != origin {
		return false
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Namespace")
	header.Set("Access-Control-Allow-Credentials", "true") // where the Web UI is set to send them; none is read
	header.Set("Access-Control-Max-Age", "600")
	return true
}

// authorized compares hashes, so that how long it takes tells nothing of the token.
func authorized(r *http.Request, token secret.Text) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// readBody takes the whole body into memory, or answers why not.
func readBody(w http.ResponseWriter, r *http.Request) bool {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCodecBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "more than 16 MiB", http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "the body broke off", http.StatusBadRequest)
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	return err == nil
}
