package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	clusterName = "devstack"
	storeName   = "sqlite"
	// clusterID must stay the same over restarts: the database remembers it.
	clusterID = "5f0d3f0c-6a2e-4c7e-9d0a-7d1f6f2b8e11"
	// persistenceQPS replaces limits meant to protect a shared database.
	persistenceQPS = 1_000_000
)

// temporalPorts is where the services of the Temporal server listen: the
// frontend where clients connect, the others on the loopback interface.
type temporalPorts struct {
	frontend, history, matching, worker netip.AddrPort
}

// prepareDatabase makes the database at path ready for a server: tables and
// namespace exist afterwards.
func prepareDatabase(path string, s settings) (*config.SQL, error) {
	store := sqliteStore(path)
	err := setUpDatabase(path, store)
	if err == nil {
		err = createNamespace(store, s.namespace, s.retention)
	}
	if err != nil {
		return nil, fmt.Errorf("the Temporal database %s: %w; move the file away to start with an empty one", path, err)
	}
	return store, nil
}

// newTemporal returns a server that already holds its ports but is not started yet.
func newTemporal(store *config.SQL, ports temporalPorts, logs *temporalLogs) (temporal.Server, error) {
	server, err := temporal.NewServer(
		temporal.WithConfig(serverConfig(store, ports)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(map[primitives.ServiceName]static.Hosts{
			primitives.FrontendService: static.SingleLocalHost(reachable(ports.frontend).String()),
			primitives.HistoryService:  static.SingleLocalHost(ports.history.String()),
			primitives.MatchingService: static.SingleLocalHost(ports.matching.String()),
			primitives.WorkerService:   static.SingleLocalHost(ports.worker.String()),
		}),
		temporal.WithDynamicConfigClient(dynamicSettings()),
		temporal.WithLogger(logs.logger),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("set up the Temporal server: %w", err)
	}
	return server, nil
}

func sqliteStore(path string) *config.SQL {
	return &config.SQL{
		PluginName: sqlite.PluginName,
		// The plugin builds a file: URI from the name, so ?, # and % need escaping.
		DatabaseName: (&url.URL{Path: path}).EscapedPath(),
		ConnectAttributes: map[string]string{
			"mode":         "rwc",
			"journal_mode": "wal",
			"synchronous":  "1", // with WAL: safe over kill -9, fast
			"busy_timeout": "10000",
		},
	}
}

// setUpDatabase creates the tables once. A marker file stands while it does,
// so that a database left half-made by a kill is made anew.
func setUpDatabase(path string, store *config.SQL) error {
	marker := path + ".setup"
	if exists(path) && !exists(marker) {
		return nil
	}
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := sqliteschema.SetupSchema(store); err != nil {
		return err
	}
	return os.Remove(marker)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// createNamespace puts the namespace into the database where it is missing.
// Done before the server starts, so that no cache has to catch up.
func createNamespace(store *config.SQL, name string, retention time.Duration) error {
	ns, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, nil)
	if err != nil {
		return err
	}
	ns.Detail.Config.Retention = durationpb.New(retention)
	return sqliteschema.CreateNamespaces(store, ns)
}

func serverConfig(store *config.SQL, ports temporalPorts) *config.Config {
	frontend := reachable(ports.frontend).String()
	disabled := config.ArchivalNamespaceDefaults{
		History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
		Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
	}
	return &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     storeName,
			VisibilityStore:  storeName,
			NumHistoryShards: 1, // one writer: more shards only add work
			DataStores:       map[string]config.DataStore{storeName: {SQL: store}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {
					Enabled:                true,
					InitialFailoverVersion: 1,
					RPCAddress:             frontend,
					ClusterID:              clusterID,
				},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			string(primitives.FrontendService): service(ports.frontend),
			string(primitives.HistoryService):  service(ports.history),
			string(primitives.MatchingService): service(ports.matching),
			string(primitives.WorkerService):   service(ports.worker),
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		PublicClient:      config.PublicClient{HostPort: frontend},
		NamespaceDefaults: config.NamespaceDefaults{Archival: disabled},
	}
}

func service(a netip.AddrPort) config.Service {
	return config.Service{RPC: config.RPC{BindOnIP: a.Addr().String(), GRPCPort: int(a.Port())}}
}

// dynamicSettings are the server's settings that differ from its defaults,
// which are made for many clients on a shared cluster.
func dynamicSettings() dynamicconfig.Client {
	return dynamicconfig.StaticClient{
		// One partition a queue: tasks leave in order, and none waits in a
		// partition that no poller looks at.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
		dynamicconfig.MatchingEnableFairness.Key():              true,
		// A worker that stops takes no task along: it would be found missing only when
		// its activity times out.
		dynamicconfig.EnableCancelWorkerPollsOnShutdown.Key(): true,
		// A workflow stays in memory for an hour, some 60 KB of it: the default, 128,000 of
		// them, is more than a machine for development has.
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 2000,
		// A search attribute can be used at once after it was registered.
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
		// No calls out of this machine.
		dynamicconfig.EnableServerVersionCheck.Key(): false,

		dynamicconfig.FrontendPersistenceMaxQPS.Key(): persistenceQPS,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():  persistenceQPS,
		dynamicconfig.MatchingPersistenceMaxQPS.Key(): persistenceQPS,
		dynamicconfig.WorkerPersistenceMaxQPS.Key():   persistenceQPS,
		// The defaults are 10 list calls and 1 registration a second.
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key():                       1000,
		dynamicconfig.FrontendMaxNamespaceNamespaceReplicationInducingAPIsRPSPerInstance.Key(): 100,
	}
}
