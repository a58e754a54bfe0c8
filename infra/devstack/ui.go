package main

import (
	"net/netip"
	"strings"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
)

// newUI returns the Temporal Web UI, not started yet, for the Temporal server
// at temporal.
func newUI(listen, temporal netip.AddrPort, namespace string) *uiserver.Server {
	host := listen.Addr().String()
	if strings.Contains(host, ":") {
		host = "[" + host + "]" // the UI joins host and port by a bare colon
	}
	return uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
		Host:                host,
		Port:                int(listen.Port()),
		TemporalGRPCAddress: temporal.String(),
		EnableUI:            true,
		DefaultNamespace:    namespace,
		DisableNewsFetch:    true, // no calls out of this machine
		HideLogs:            true,
		CORS:                uiconfig.CORS{CookieInsecure: true}, // served over plain http
	}))
}
