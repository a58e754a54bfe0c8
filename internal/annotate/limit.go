package annotate

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// How often somebody may try to sign in within a minute, from one address and from all
// together. Tokens can't be guessed; the limit keeps the store from being asked.
const (
	maxSignIns    = 20
	maxAllSignIns = 600
)

// limiter counts by minutes.
type limiter struct {
	now func() time.Time

	mu     sync.Mutex
	minute time.Time
	all    int
	over   bool // somebody was refused in this minute
	counts map[string]int
}

// allow counts a try, and reports whether it may be made; where not, whether it is the
// minute's first of these.
func (l *limiter) allow(address string) (allowed, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := l.now().Truncate(time.Minute); !minute.Equal(l.minute) || l.counts == nil {
		l.minute, l.all, l.over, l.counts = minute, 0, false, map[string]int{}
	}
	if l.all >= maxAllSignIns || l.counts[address] >= maxSignIns {
		first, l.over = !l.over, true
		return false, first
	}
	l.all++
	l.counts[address]++
	return true, false
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
