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
	counts map[string]int
}

// allow counts a try, and reports whether it may be made.
func (l *limiter) allow(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if minute := l.now().Truncate(time.Minute); !minute.Equal(l.minute) || l.counts == nil {
		l.minute, l.all, l.counts = minute, 0, map[string]int{}
	}
	if l.all >= maxAllSignIns || l.counts[address] >= maxSignIns {
		return false
	}
	l.all++
	l.counts[address]++
	return true
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
