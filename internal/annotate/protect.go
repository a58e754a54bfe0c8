package annotate

import "net/http"

// maxBody is far above the longest note.
const maxBody = 32 << 10

// headers are the same on every answer.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; media-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":  "nosniff",
	// With no-referrer browsers say of the page's own forms that they come from nowhere.
	"Referrer-Policy":              "same-origin",
	"Cache-Control":                "no-store",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"X-Robots-Tag":                 "noindex, nofollow",
	// Browsers heed it over HTTPS alone.
	"Strict-Transport-Security": "max-age=31536000",
}

// protect bounds what comes in, refuses what other sites' pages send, and has browsers
// run and load nothing but the page's own.
func protect(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		show(w, http.StatusForbidden, "message", message{Title: "Not sent from this page", Text: "Open your personal link again."})
	}))
	next = origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}
