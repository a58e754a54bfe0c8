package main

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// queue is a task queue, and the worker flags that serve it.
type queue struct {
	name  string
	kind  enumspb.TaskQueueType
	flags string
}

// unserved returns those of the queues that no worker polls. A queue that can't
// be described counts as served: this is advice, not a check.
func unserved(ctx context.Context, c client.Client, queues []queue) []queue {
	var missing []queue
	for _, q := range queues {
		described, err := c.DescribeTaskQueue(ctx, q.name, q.kind)
		if err == nil && len(described.GetPollers()) == 0 {
			missing = append(missing, q)
		}
	}
	return missing
}

func (q queue) String() string {
	return fmt.Sprintf("no worker polls queue %q: start one with `worker %s`", q.name, q.flags)
}
