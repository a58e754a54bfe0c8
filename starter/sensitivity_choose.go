package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/speechmanip/speechmanip/internal/archive"
	"github.com/speechmanip/speechmanip/internal/dialogue"
	"github.com/speechmanip/speechmanip/internal/evaluation"
	"github.com/speechmanip/speechmanip/internal/objectstore"
)

// measurement is what to ask, and what it is compared with.
type measurement struct {
	evaluation.Sensitivity
	spec    evaluation.Spec
	records []evaluation.Record // of the items, in their order
}

func (m measurement) queues() []queue {
	d := m.spec.Detection
	return []queue{
		{evaluation.QueueMain, enumspb.TASK_QUEUE_TYPE_WORKFLOW, "--roles workflows"},
		{d.Queue(), enumspb.TASK_QUEUE_TYPE_ACTIVITY, fmt.Sprintf("--roles detect --accelerator %s --pool %s", d.Accelerator, d.Pool)},
	}
}

// choose reads the evaluation and draws the items and the variations.
func (r sensitivityRequest) choose(ctx context.Context, store archive.Archive) (measurement, error) {
	manifest, ref, err := store.Manifest(ctx, r.id)
	if err != nil {
		return measurement{}, unknown(r.id, err)
	}
	spec := manifest.Spec
	if spec.Detection.Detector != chatDetector {
		return measurement{}, fmt.Errorf("evaluation %q was judged by %s, which reads no prompt: there is nothing to vary", r.id, spec.Detection.Detector)
	}
	records, err := store.Records(ctx, manifest)
	if err != nil {
		return measurement{}, err
	}
	if len(records) < manifest.Items {
		return measurement{}, fmt.Errorf("evaluation %q has judged %d of %d dialogues: wait for its end (`starter watch %[1]s`)", r.id, len(records), manifest.Items)
	}
	engines, _, err := store.Engines(ctx, r.id)
	if err != nil {
		return measurement{}, err
	}
	m := measurement{spec: spec, records: drawRecords(firstCastings(records), r.items, r.seed)}
	if len(m.records) == 0 {
		return m, fmt.Errorf("evaluation %q has judged no dialogue without a failure", r.id)
	}
	m.Sensitivity = evaluation.Sensitivity{Evaluation: r.id, Manifest: ref, Modality: spec.Detection.Modalities()[0]}
	if m.Engines, err = store.Store.Stat(ctx, evaluation.EnginesKey(r.id)); err != nil {
		return m, err
	}
	if m.Variations, err = r.variations(ctx, store.Store, spec, engines.Exemplars); err != nil {
		return m, err
	}
	if n := len(m.records) * len(m.Variations); n > evaluation.MaxSensitivity {
		return m, usagef("%d dialogues in %d variations are %d questions, at most %d fit: use a smaller --items or --exemplar-orders", len(m.records), len(m.Variations), n, evaluation.MaxSensitivity)
	}
	m.Items, err = itemsOf(ctx, store, manifest, m.records)
	return m, err
}

// variations are the evaluation's own setting, and what changes one thing of it.
func (r sensitivityRequest) variations(ctx context.Context, store objectstore.Store, spec evaluation.Spec, exemplars objectstore.Ref) ([]evaluation.Variation, error) {
	own := evaluation.Variation{Name: "own setting", Order: evaluation.OrderStraight, Exemplars: exemplars}
	other := evaluation.OrderSwapped
	if spec.Detection.OptionOrder == evaluation.OrderSwapped {
		own.Order, other = other, own.Order
	}
	swapped := own
	swapped.Name, swapped.Order = "option order "+other, other
	all := []evaluation.Variation{own, swapped}
	if r.orders > 0 {
		if exemplars.IsZero() {
			return nil, usagef("--exemplar-orders: prompt strategy %s shows no exemplars", spec.Detection.Strategy)
		}
		shown, err := objectstore.GetJSON[[]evaluation.Exemplar](ctx, store, exemplars)
		if err != nil {
			return nil, err
		}
		if others := factorial(len(shown)) - 1; r.orders > others {
			return nil, usagef("--exemplar-orders is %d: %d exemplars have %d other orders", r.orders, len(shown), others)
		}
		for _, order := range drawOrders(len(shown), r.orders, r.seed) {
			v := own
			v.Name = "exemplars " + places(order)
			turned := make([]evaluation.Exemplar, len(shown))
			for i, place := range order {
				turned[i] = shown[place]
			}
			if v.Exemplars, err = putHashed(ctx, store, turned, evaluation.ShownKey); err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	if r.verbalizers {
		v := own
		v.Name, v.Words = "YES or NO in words", true
		all = append(all, v)
	}
	return all, nil
}

// itemsOf finds the records' items in the chunks.
func itemsOf(ctx context.Context, store archive.Archive, manifest evaluation.Manifest, records []evaluation.Record) ([]evaluation.SensitivityItem, error) {
	all, err := store.Items(ctx, manifest)
	if err != nil {
		return nil, err
	}
	found := make(map[evaluation.Rendition]evaluation.Item, len(all))
	for _, item := range all {
		found[item.Rendition()] = item
	}
	var items []evaluation.SensitivityItem
	for _, record := range records {
		item, ok := found[record.Rendition()]
		if !ok {
			return nil, fmt.Errorf("dialogue %q has a record and is no item of the evaluation", record.ID)
		}
		items = append(items, evaluation.SensitivityItem{Item: item, Clip: record.Clip, Transcript: record.Transcript})
	}
	return items, nil
}

// firstCastings keeps a dialogue's first record without a failure, or its first one:
// in other castings it is no other dialogue.
func firstCastings(records []evaluation.Record) []evaluation.Record {
	place := map[string]int{}
	var out []evaluation.Record
	for _, r := range records {
		at, again := place[r.ID]
		switch {
		case !again:
			place[r.ID] = len(out)
			out = append(out, r)
		case out[at].Failure != nil && r.Failure == nil:
			out[at] = r
		}
	}
	return out
}

// drawRecords draws n records that have no failure, each truth in its proportion,
// and keeps their order. The same seed draws the same.
func drawRecords(records []evaluation.Record, n int, seed uint64) []evaluation.Record {
	strata := map[dialogue.Truth][]int{}
	total := 0
	for i, record := range records {
		if record.Failure == nil {
			strata[record.Truth] = append(strata[record.Truth], i)
			total++
		}
	}
	n = min(n, total)
	// Whole shares first, then one more each to the largest remainders.
	truths := []dialogue.Truth{dialogue.Yes, dialogue.No, dialogue.Unknown}
	share, left := map[dialogue.Truth]int{}, n
	for _, truth := range truths {
		share[truth] = n * len(strata[truth]) / max(total, 1)
		left -= share[truth]
	}
	slices.SortStableFunc(truths, func(a, b dialogue.Truth) int {
		return cmp.Compare(n*len(strata[b])%max(total, 1), n*len(strata[a])%max(total, 1))
	})
	var places []int
	for i, truth := range truths {
		if i < left {
			share[truth]++
		}
		stratum := strata[truth]
		random := rand.New(rand.NewPCG(seed, uint64(len(truth)))) // YES, NO and unknown differ in length
		random.Shuffle(len(stratum), func(i, j int) { stratum[i], stratum[j] = stratum[j], stratum[i] })
		places = append(places, stratum[:share[truth]]...)
	}
	slices.Sort(places)
	var drawn []evaluation.Record
	for _, place := range places {
		drawn = append(drawn, records[place])
	}
	return drawn
}

// drawOrders draws k different orders of n places, none of them the usual one;
// there have to be as many.
func drawOrders(n, k int, seed uint64) [][]int {
	usual := make([]int, n)
	for i := range usual {
		usual[i] = i
	}
	seen := map[string]bool{places(usual): true}
	random := rand.New(rand.NewPCG(seed, 0))
	var orders [][]int
	for len(orders) < k {
		order := random.Perm(n)
		if name := places(order); !seen[name] {
			seen[name] = true
			orders = append(orders, order)
		}
	}
	return orders
}

// places names an order by the usual places, from 1.
func places(order []int) string {
	var names []string
	for _, place := range order {
		names = append(names, fmt.Sprint(place+1))
	}
	return strings.Join(names, " ")
}

// factorial is bounded: more orders than that nobody draws.
func factorial(n int) int {
	product := 1
	for i := 2; i <= n && product <= evaluation.MaxSensitivity; i++ {
		product *= i
	}
	return product
}
