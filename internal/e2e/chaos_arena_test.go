//go:build integration && linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/speechmanip/speechmanip/internal/chaos"
	"github.com/speechmanip/speechmanip/internal/simulator/chat"
	"github.com/speechmanip/speechmanip/internal/simulator/elevenlabs"
	"github.com/speechmanip/speechmanip/internal/voice"
)

// chaosRoles are what the workers of an arena do: one the workflows, two the rest.
var chaosRoles = []string{"workflows", "speech,audio,detect", "speech,audio,detect"}

// providers are the simulated paid ones. Their addresses are part of what is stored,
// so evaluations that are compared need the same.
type providers struct {
	eleven  *elevenlabs.Server
	chat    *chat.Server
	proxies map[string]*chaos.Proxy
}

// newProviders returns ones that take their time: a turn the given, a detector's
// call half of it.
func newProviders(t *testing.T, latency time.Duration) *providers {
	t.Helper()
	p := &providers{proxies: map[string]*chaos.Proxy{}}
	pool, err := voice.BuiltIn("paper")
	if err != nil {
		t.Fatal(err)
	}
	options := elevenlabs.Options{APIKey: elevenKey, Latency: latency}
	for _, v := range pool.Voices {
		options.Voices = append(options.Voices, v.Params["id"])
	}
	p.eleven = elevenlabs.New(options)
	p.chat = chat.New(chat.Options{Dialect: chat.VLLM, Model: "chaos", Slots: 16, Latency: latency / 2})
	speech, detector := httptest.NewServer(p.eleven), httptest.NewServer(p.chat)
	t.Cleanup(speech.Close)
	t.Cleanup(detector.Close)
	p.proxies["ElevenLabs"] = newProxy(t, speech.URL)
	p.proxies["the chat server"] = newProxy(t, detector.URL)
	return p
}

// newProxy returns a proxy for host:port or a URL.
func newProxy(t *testing.T, target string) *chaos.Proxy {
	t.Helper()
	if parsed, err := url.Parse(target); err == nil && parsed.Host != "" {
		target = parsed.Host
	}
	proxy, err := chaos.New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	return proxy
}

// arena is a rig whose workers reach everything through proxies, and who was killed
// in it.
type arena struct {
	t       *testing.T
	rig     *rig
	random  *rand.Rand
	proxies map[string]*chaos.Proxy
	env     []string // of workers
	workers []*workerProcess
	logs    []string // of all that ever were

	killed int // calls in flight when their worker was killed
}

func newArena(t *testing.T, random *rand.Rand, p *providers) *arena {
	t.Helper()
	a := &arena{t: t, rig: newRig(t), random: random, proxies: map[string]*chaos.Proxy{
		"Temporal": nil, "S3": nil,
		"ElevenLabs": p.proxies["ElevenLabs"], "the chat server": p.proxies["the chat server"],
	}}
	a.proxies["Temporal"], a.proxies["S3"] = newProxy(t, a.rig.stack.Temporal), newProxy(t, a.rig.stack.S3)
	a.env = append(slices.Clone(a.rig.env),
		"TEMPORAL_ADDRESS="+a.proxies["Temporal"].Address(),
		"SPEECHMANIP_S3_ENDPOINT=http://"+a.proxies["S3"].Address(),
		"SPEECHMANIP_ELEVENLABS_URL=http://"+a.proxies["ElevenLabs"].Address(),
		"SPEECHMANIP_ELEVENLABS_KEY="+elevenKey,
		"SPEECHMANIP_CHAT_URL=http://"+a.proxies["the chat server"].Address(),
	)
	a.workers = make([]*workerProcess, len(chaosRoles))
	for i := range a.workers {
		a.startWorker(i)
	}
	return a
}

func (a *arena) startWorker(i int) {
	a.t.Helper()
	own := *a.rig
	own.env = a.env
	a.workers[i] = own.worker(a.t, "--roles", chaosRoles[i], "--synthesizer", "elevenlabs", "--speech-ceiling", "16", "--accelerator", "gpu-test", "--pool", "chaos")
	a.logs = append(a.logs, a.workers[i].log)
}

// endWorker kills a worker and counts what it was doing.
func (a *arena) endWorker(i int) {
	a.t.Helper()
	a.workers[i].kill(a.t)
	a.killed += len(readLedger(a.t, a.workers[i].log).inFlight)
}

func (a *arena) killWorker(i int) {
	a.t.Helper()
	a.endWorker(i)
	a.startWorker(i)
}

// replaceWorker stops a worker in good order once its successor works. It must lose
// nothing that it was doing. It returns how many calls were in flight at the signal,
// and how long it took to end.
func (a *arena) replaceWorker(i int) (inFlight int, took time.Duration) {
	a.t.Helper()
	old := a.workers[i]
	lost := readLedger(a.t, old.log) // what faults had already cost it
	a.startWorker(i)
	began := time.Now()
	inFlight = len(readLedger(a.t, old.log).inFlight)
	old.stop(a.t)
	took = time.Since(began)
	for key := range readLedger(a.t, old.log).inFlight {
		if !lost.inFlight[key] {
			a.t.Errorf("a worker that was stopped in good order lost the call for %s", key)
		}
	}
	return inFlight, took
}

// pause waits as long as said, or up to half as long again.
func (a *arena) pause(d time.Duration) {
	time.Sleep(d + time.Duration(a.random.Int64N(int64(d)/2)))
}

// evaluate starts an evaluation of so many short dialogues, each turn another text.
func (a *arena) evaluate(id string, dialogues int) {
	a.t.Helper()
	var dataset strings.Builder
	for d := range dialogues {
		var turns []string
		for n := range 3 {
			turns = append(turns, fmt.Sprintf(`{"speaker": "Person%d", "text": "Part %d of %d."}`, 1+n%2, n+1, d+1))
		}
		fmt.Fprintf(&dataset, `{"id": "d%03d", "turns": [%s], "truth": "NO"}`+"\n", d, strings.Join(turns, ", "))
	}
	a.rig.starter(a.t, "evaluate", "--id", id, "--detach", "--dataset", a.rig.write(a.t, "chaos.jsonl", dataset.String()),
		"--synthesizer", "elevenlabs", "--detector", "chat", "--accelerator", "gpu-test", "--pool", "chaos", "--quality", "off", "--dialogues", "16")
}

// recorded counts the dialogues that are done.
func (a *arena) recorded(id string) int {
	a.t.Helper()
	n, err := a.rig.archive(a.t).CountRecords(a.t.Context(), id)
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// keys lists what is stored below the prefixes.
func (a *arena) keys(prefixes ...string) []string {
	a.t.Helper()
	var keys []string
	for _, prefix := range prefixes {
		for entry, err := range a.rig.archive(a.t).Store.List(a.t.Context(), prefix) {
			if err != nil {
				a.t.Fatal(err)
			}
			keys = append(keys, entry.Key)
		}
	}
	slices.Sort(keys)
	return keys
}
