package annotate

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// How often somebody may try to sign in within a minute: in vain from one address, which
// a whole class may share, and at all from all together. Tokens can't be guessed; the
// limit keeps the store from being asked.
const (
	maxFailures = 20
	maxSignIns  = 600
)

// limiter counts by minutes.
type limiter struct {
	now func() time.Time

	mu       sync.Mutex
	minute   time.Time
	tries    int
	over     bool           // somebody was refused in this minute
	failures map[string]int // by address
}

// allow counts a try, and reports whether it may be made; where not, whether it is the
// minute's first of these.
func (l *limiter) allow(address string) (allowed, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := l.now().Truncate(time.Minute); !minute.Equal(l.minute) || l.failures == nil {
		l.minute, l.tries, l.over, l.failures = minute, 0, false, map[string]int{}
	}
	if l.tries >= maxSignIns || l.failures[address] >= maxFailures {
		first, l.over = !l.over, true
		return false, first
	}
	l.tries++
	return true, false
}

// failed says that a try that was allowed was in vain.
func (l *limiter) failed(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures[address]++
}

// address is where a request comes from; of IPv6 the network, as one person has many
// addresses in it.
func address(r *http.Request, behindProxy bool) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if forwarded := r.Header.Values("X-Forwarded-For"); behindProxy && len(forwarded) > 0 {
		entries := strings.Split(forwarded[len(forwarded)-1], ",")
		host = strings.TrimSpace(entries[len(entries)-1])
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return "unknown"
	}
	if ip = ip.Unmap(); ip.Is6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}
