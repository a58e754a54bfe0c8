package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// endpoint is an address a server will listen on, and the flag that sets it.
type endpoint struct {
	flag string
	addr netip.AddrPort
}

func (s settings) endpoints() []endpoint {
	return []endpoint{
		{"--temporal-addr", s.temporal},
		{"--ui-addr", s.ui},
		{"--s3-addr", s.s3},
	}
}

// portGrace is how long a busy port is tried again: after a kill -9 of an
// earlier devstack its S3 server takes a moment to go.
const portGrace = 2 * time.Second

// reservation holds a listening socket on a port until the server that is to
// have it starts, so that several free ports are distinct and a busy one is
// found before anything starts.
type reservation struct {
	listener net.Listener
	addr     netip.AddrPort
}

// release frees the port for the server that is about to listen on it.
func (r reservation) release() { _ = r.listener.Close() }

// reserve listens on e's address; port 0 picks a free port. The error for a
// busy port names the port and the flag that changes it.
func reserve(ctx context.Context, e endpoint) (reservation, error) {
	deadline := time.Now().Add(portGrace)
	for {
		l, err := net.Listen("tcp", e.addr.String())
		if err == nil {
			port := l.Addr().(*net.TCPAddr).Port
			return reservation{l, netip.AddrPortFrom(e.addr.Addr(), uint16(port))}, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return reservation{}, fmt.Errorf("can't listen on %s: %w; choose another with %s", e.addr, errors.Unwrap(err), e.flag)
		}
		if time.Now().After(deadline) {
			return reservation{}, fmt.Errorf("port %d on %s is in use by another program; stop it or choose another port with %s",
				e.addr.Port(), e.addr.Addr(), e.flag)
		}
		if !sleep(ctx, 50*time.Millisecond) {
			return reservation{}, ctx.Err()
		}
	}
}

// reachable turns an address to listen on into one to connect to.
func reachable(a netip.AddrPort) netip.AddrPort {
	switch a.Addr() {
	case netip.IPv4Unspecified():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port())
	case netip.IPv6Unspecified():
		return netip.AddrPortFrom(netip.IPv6Loopback(), a.Port())
	}
	return a
}

// sleep waits for d; it returns false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// reservations are the ports of all servers.
type reservations struct {
	frontend, history, matching, worker, ui, s3 reservation
}

// reserveAll reserves the ports in s, and free ones on the loopback interface
// for the Temporal services that only Temporal itself talks to.
func reserveAll(ctx context.Context, s settings) (r reservations, err error) {
	internal := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	for _, want := range []struct {
		target *reservation
		at     endpoint
	}{
		{&r.frontend, endpoint{"--temporal-addr", s.temporal}},
		{&r.ui, endpoint{"--ui-addr", s.ui}},
		{&r.s3, endpoint{"--s3-addr", s.s3}},
		{&r.history, endpoint{"", internal}},
		{&r.matching, endpoint{"", internal}},
		{&r.worker, endpoint{"", internal}},
	} {
		if *want.target, err = reserve(ctx, want.at); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (r reservations) temporalPorts() temporalPorts {
	return temporalPorts{r.frontend.addr, r.history.addr, r.matching.addr, r.worker.addr}
}

func (r reservations) releaseTemporal() {
	for _, x := range []reservation{r.frontend, r.history, r.matching, r.worker} {
		x.release()
	}
}
