package elevenlabs

import (
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// How long to wait.
const (
	busyWait = 5 * time.Second // when the service doesn't say
	minWait  = time.Second
	maxWait  = 5 * time.Minute
)

// retryAfter reads Retry-After in seconds or as a date, from minWait to maxWait,
// and tells whether it was there. A date counts from the reply's own date: clocks
// differ.
func retryAfter(h http.Header) (wait time.Duration, ok bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
		wait = time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second))
	} else if date, err := http.ParseTime(value); err == nil {
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		wait = date.Sub(now)
	} else {
		return busyWait, false
	}
	return min(max(wait, minWait), maxWait), true
}

// jittered returns wait and up to a quarter more, the same for the same reply, so
// that calls that were refused together don't come back together.
func jittered(wait time.Duration, of string) time.Duration {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(of)) // doesn't fail
	const parts = 1000
	return wait + wait/4*time.Duration(hash.Sum32()%parts)/parts
}
