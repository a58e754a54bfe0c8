//go:build integration && linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// chaosFault is one thing that goes wrong in an evaluation.
type chaosFault struct {
	name string
	play func(*arena)
}

// The kills, each followed by a start in its place.

func killWorkerOf(role int) chaosFault {
	return chaosFault{fmt.Sprintf("kill -9 of worker %d", role), func(a *arena) { a.killWorker(role) }}
}

var killStack = chaosFault{"kill -9 of the dev stack", func(a *arena) {
	a.rig.stack.Kill(a.t)
	a.pause(time.Second)
	a.rig.stack.Restart(a.t)
}}

var killBoth = chaosFault{"kill -9 of the dev stack and all workers", func(a *arena) {
	for i := range a.workers {
		a.endWorker(i)
	}
	a.rig.stack.Kill(a.t)
	a.pause(time.Second)
	a.rig.stack.Restart(a.t)
	for i := range a.workers {
		a.startWorker(i)
	}
}}

var replaceWorker = chaosFault{"SIGTERM of a worker whose successor is there", func(a *arena) {
	a.replaceWorker(a.random.IntN(len(a.workers)))
}}

// The connections' faults, of everybody but the starter.

func cutFault(to string) chaosFault {
	return chaosFault{"cut from " + to, func(a *arena) {
		a.proxies[to].Cut()
		a.pause(2 * time.Second)
		a.proxies[to].Mend()
	}}
}

func resetFault(to string) chaosFault {
	return chaosFault{"connections to " + to + " reset", func(a *arena) {
		for range 3 { // a single one may find nothing under way
			a.proxies[to].Reset()
			a.pause(300 * time.Millisecond)
		}
	}}
}

func slowFault(to string) chaosFault {
	return chaosFault{"slow to " + to, func(a *arena) {
		a.proxies[to].Slow(300 * time.Millisecond)
		a.proxies[to].Limit(64 << 10)
		a.pause(3 * time.Second)
		a.proxies[to].Mend()
	}}
}

// proxied are the ones that workers reach through a proxy.
var proxied = []string{"Temporal", "S3", "ElevenLabs", "the chat server"}

// longSchedule is every fault at least once, in the seed's order.
func longSchedule(random *rand.Rand) []chaosFault {
	faults := []chaosFault{
		killWorkerOf(0), killWorkerOf(1), killWorkerOf(1), killWorkerOf(2), killWorkerOf(2),
		killStack, killStack, killStack, killBoth, killBoth,
		replaceWorker, replaceWorker,
	}
	for _, to := range proxied {
		faults = append(faults, cutFault(to), resetFault(to), slowFault(to))
	}
	random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	return faults
}

// shortSchedule has nothing that is waited for long: a killed worker's paid calls
// are taken up after more than a minute, so only the one with workflows is killed.
func shortSchedule(random *rand.Rand) []chaosFault {
	faults := []chaosFault{
		killWorkerOf(0), killStack, replaceWorker,
		resetFault("S3"), cutFault("the chat server"), resetFault("ElevenLabs"),
	}
	random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	return faults
}
