// Package chaos is a TCP proxy that cuts, resets, slows and narrows what passes
// through it. It is for tests only.
package chaos

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// piece is how much is passed on at once, in bytes: small, so that slowness is felt
// within a message and not only before it.
const piece = 4 << 10

// Proxy passes connections on to a target. Its address stays the same whatever goes
// wrong. It is safe for concurrent use.
type Proxy struct {
	target   string
	listener net.Listener
	done     sync.WaitGroup

	mu    sync.Mutex
	cut   bool
	delay time.Duration
	rate  int // bytes a second; 0 is no limit
	live  map[*net.TCPConn]bool
}

// New returns a healthy proxy on a free port of this machine for target, host:port.
func New(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a proxy for %s: %w", target, err)
	}
	p := &Proxy{target: target, listener: listener, live: map[*net.TCPConn]bool{}}
	p.done.Go(p.serve)
	return p, nil
}

// Address is where it listens, host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cut ends all connections, and every new one at once, until Mend.
func (p *Proxy) Cut() {
	p.set(func() { p.cut = true })
	p.Reset()
}

// Reset ends all connections as a peer that died does, whatever is under way in
// them. New ones are passed on.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.live {
		reset(conn)
	}
}

// Slow delays each piece of what passes, in both directions, until Mend.
func (p *Proxy) Slow(delay time.Duration) { p.set(func() { p.delay = delay }) }

// Limit lets a connection pass so many bytes a second in each direction, until Mend.
func (p *Proxy) Limit(bytes int) { p.set(func() { p.rate = bytes }) }

// Mend makes it healthy again. What was cut stays so: clients connect anew.
func (p *Proxy) Mend() { p.set(func() { p.cut, p.delay, p.rate = false, 0, 0 }) }

// Close ends it and all its connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Cut()
	p.done.Wait()
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *Proxy) serve() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.done.Go(func() { p.pass(conn.(*net.TCPConn)) })
	}
}

// pass joins a connection to one with the target until either ends.
func (p *Proxy) pass(from *net.TCPConn) {
	if !p.keep(from) {
		return
	}
	defer p.drop(from)
	conn, err := net.Dial("tcp", p.target)
	if err != nil {
		reset(from) // as if nobody listened
		return
	}
	to := conn.(*net.TCPConn)
	if !p.keep(to) {
		return
	}
	defer p.drop(to)
	var both sync.WaitGroup
	both.Go(func() { p.copy(to, from) })
	both.Go(func() { p.copy(from, to) })
	both.Wait()
}

// keep lists a connection among the live ones, or ends it where they are cut.
func (p *Proxy) keep(conn *net.TCPConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		reset(conn)
		return false
	}
	p.live[conn] = true
	return true
}

func (p *Proxy) drop(conn *net.TCPConn) {
	p.set(func() { delete(p.live, conn) })
	_ = conn.Close()
}

// copy passes on what one end says until it has said all, or either is gone.
func (p *Proxy) copy(to, from *net.TCPConn) {
	buffer := make([]byte, piece)
	for {
		n, err := from.Read(buffer)
		time.Sleep(p.wait(n))
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				reset(from)
				return
			}
		}
		if err != nil {
			// The other direction may still have something to say.
			_ = to.CloseWrite()
			return
		}
	}
}

func (p *Proxy) wait(bytes int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rate == 0 {
		return p.delay
	}
	return p.delay + time.Duration(bytes)*time.Second/time.Duration(p.rate)
}

// reset closes without a farewell: the peer sees its connection reset.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}
