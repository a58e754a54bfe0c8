package activities

import (
	"context"
	"time"
)

// heartbeatInterval is well below the HeartbeatTimeout of the activities that
// beat.
const heartbeatInterval = 8 * time.Second

// beating tells the server until stop is called that the activity is alive. A
// beat that the server no longer knows cancels the activity's context.
func beating(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(heartbeatInterval)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
				heartbeat(ctx)
			}
		}
	}()
	return func() { close(done) }
}
