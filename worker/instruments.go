package main

import (
	"regexp"
	"sync"

	"go.opentelemetry.io/otel/metric"
)

// instruments makes instruments and collects what goes wrong. Prometheus's names end
// as its conventions want: _total, _seconds.
type instruments struct {
	meter metric.Meter
	errs  []error
}

func (i *instruments) counter(name, what string) metric.Int64Counter {
	c, err := i.meter.Int64Counter(name, metric.WithDescription(what))
	i.errs = append(i.errs, err)
	return c
}

func (i *instruments) sum(name, unit, what string) metric.Float64Counter {
	c, err := i.meter.Float64Counter(name, metric.WithDescription(what), metric.WithUnit(unit))
	i.errs = append(i.errs, err)
	return c
}

func (i *instruments) durations(name, what string) metric.Float64Histogram {
	h, err := i.meter.Float64Histogram(name, metric.WithDescription(what), metric.WithUnit("s"))
	i.errs = append(i.errs, err)
	return h
}

func (i *instruments) gauge(name, what string) metric.Int64Gauge {
	g, err := i.meter.Int64Gauge(name, metric.WithDescription(what))
	i.errs = append(i.errs, err)
	return g
}

// shown is a gauge whose values a callback shows.
func (i *instruments) shown(name, unit, what string) metric.Float64ObservableGauge {
	g, err := i.meter.Float64ObservableGauge(name, metric.WithDescription(what), metric.WithUnit(unit))
	i.errs = append(i.errs, err)
	return g
}

// maxLabels is more values than engines, codes and currencies have together.
const maxLabels = 64

// labels bounds the values of a label: what comes from outside, such as a provider's
// error code, must not make a series each.
type labels struct {
	mu   sync.Mutex
	seen map[string]bool
}

func newLabels() *labels { return &labels{seen: map[string]bool{}} }

var labelForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,40}$`)

// bound returns the value, or "other" where it is no short word, or one too many.
func (l *labels) bound(value string) string {
	if !labelForm.MatchString(value) {
		return "other"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen[value] {
		if len(l.seen) >= maxLabels {
			return "other"
		}
		l.seen[value] = true
	}
	return value
}
