package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
)

// times are the flags that say when a schedule fires: at all the times together.
type times struct {
	cron, calendar []string
	every, offset  time.Duration
	zone           string
	jitter         time.Duration
}

func (t *times) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&t.cron, "cron", nil, `five fields, e.g. "30 2 * * MON-FRI"; may be given several times`)
	f.DurationVar(&t.every, "every", 0, "an interval, e.g. 24h, counted from 1970")
	f.DurationVar(&t.offset, "offset", 0, "with --every: so much after each, e.g. 2h30m")
	f.StringArrayVar(&t.calendar, "calendar", nil, `fields of a calendar, e.g. "weekday=1-5 hour=2 minute=30": second, minute, hour, day, month, year, weekday (0 is Sunday), each N, N-M, N-M/STEP, * or several with commas; second, minute and hour are 0 where they are not given, the others any; may be given several times`)
	f.StringVar(&t.zone, "time-zone", "UTC", "of --cron and --calendar, e.g. Europe/Berlin")
	f.DurationVar(&t.jitter, "jitter", 0, "fire later by a random part of it, so that schedules don't fire together")
}

// spec reads the flags. Cron expressions and the time zone are Temporal's to check.
func (t times) spec() (client.ScheduleSpec, error) {
	spec := client.ScheduleSpec{CronExpressions: t.cron, TimeZoneName: t.zone, Jitter: t.jitter}
	var errs []error
	if t.every > 0 {
		spec.Intervals = []client.ScheduleIntervalSpec{{Every: t.every, Offset: t.offset}}
	}
	switch {
	case t.every < 0, t.every > 0 && t.every < time.Second:
		errs = append(errs, fmt.Errorf("--every is %s, must be at least 1s", t.every))
	case t.offset != 0 && t.every == 0:
		errs = append(errs, errors.New("--offset needs --every"))
	case t.offset < 0 || t.offset != 0 && t.offset >= t.every:
		errs = append(errs, fmt.Errorf("--offset is %s, must be from 0 to below --every", t.offset))
	}
	if t.jitter < 0 {
		errs = append(errs, fmt.Errorf("--jitter is %s, must not be negative", t.jitter))
	}
	for _, text := range t.calendar {
		calendar, err := parseCalendar(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--calendar %q: %w", text, err))
		}
		spec.Calendars = append(spec.Calendars, calendar)
	}
	if len(t.cron)+len(t.calendar) == 0 && t.every == 0 {
		errs = append(errs, errors.New("say when it fires: --cron, --every or --calendar"))
	}
	return spec, errors.Join(errs...)
}

// parseCalendar reads FIELD=RANGES, separated by spaces.
func parseCalendar(text string) (client.ScheduleCalendarSpec, error) {
	var c client.ScheduleCalendarSpec
	fields := map[string]struct {
		at       *[]client.ScheduleRange
		low, top int
	}{
		"second": {&c.Second, 0, 59}, "minute": {&c.Minute, 0, 59}, "hour": {&c.Hour, 0, 23},
		"day": {&c.DayOfMonth, 1, 31}, "month": {&c.Month, 1, 12}, "year": {&c.Year, 2000, 2100}, "weekday": {&c.DayOfWeek, 0, 6},
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return c, errors.New("it names no field")
	}
	for _, word := range words {
		name, ranges, ok := strings.Cut(word, "=")
		field, known := fields[name]
		if !ok || !known {
			return c, fmt.Errorf("%q: use second, minute, hour, day, month, year or weekday, then = and what they may be", word)
		}
		if *field.at != nil {
			return c, fmt.Errorf("%s is given twice", name)
		}
		for part := range strings.SplitSeq(ranges, ",") {
			r, err := parseRange(part, field.low, field.top)
			if err != nil {
				return c, fmt.Errorf("%s: %w", name, err)
			}
			*field.at = append(*field.at, r)
		}
	}
	return c, nil
}

// parseRange reads N, N-M, N-M/STEP, *, or */STEP.
func parseRange(text string, low, top int) (client.ScheduleRange, error) {
	whole, step, stepped := strings.Cut(text, "/")
	r := client.ScheduleRange{Start: low, End: top, Step: 1}
	var errs [3]error
	if stepped {
		r.Step, errs[0] = strconv.Atoi(step)
	}
	if whole != "*" {
		first, last, ranged := strings.Cut(whole, "-")
		r.Start, errs[1] = strconv.Atoi(first)
		r.End = r.Start
		if ranged {
			r.End, errs[2] = strconv.Atoi(last)
		}
	}
	if errors.Join(errs[:]...) != nil || r.Start < low || r.End > top || r.End < r.Start || r.Step < 1 {
		return r, fmt.Errorf("%q: use N, N-M, N-M/STEP or *, from %d to %d", text, low, top)
	}
	return r, nil
}
