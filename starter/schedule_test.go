package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/client"
)

func TestParseCalendar(t *testing.T) {
	for text, want := range map[string]client.ScheduleCalendarSpec{
		"hour=2 minute=30": {Hour: []client.ScheduleRange{{Start: 2, End: 2, Step: 1}}, Minute: []client.ScheduleRange{{Start: 30, End: 30, Step: 1}}},
		"weekday=1-5,0":    {DayOfWeek: []client.ScheduleRange{{Start: 1, End: 5, Step: 1}, {End: 0, Step: 1}}},
		"second=*/20":      {Second: []client.ScheduleRange{{End: 59, Step: 20}}},
		"day=1 month=1-12/3 year=2027": {
			DayOfMonth: []client.ScheduleRange{{Start: 1, End: 1, Step: 1}}, Month: []client.ScheduleRange{{Start: 1, End: 12, Step: 3}},
			Year: []client.ScheduleRange{{Start: 2027, End: 2027, Step: 1}},
		},
	} {
		got, err := parseCalendar(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for _, bad := range []string{"", " ", "hour", "hour=", "hour=a", "hour=1-", "hour=5-1", "hour=1/0", "hour=24", "day=0", "hour=1 hour=2", "hour=1,,2", "year=99"} {
		if _, err := parseCalendar(bad); err == nil {
			t.Errorf("%q is a calendar", bad)
		}
	}
}

// Whatever is read is within the calendar.
func FuzzParseCalendar(f *testing.F) {
	for _, text := range []string{"hour=2 minute=30", "weekday=1-5,0", "second=*/20", "day=1 month=1-12/3", "hour=9999999999999999999", "hour=-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCalendar(text)
		if err != nil {
			return
		}
		for top, ranges := range map[int][]client.ScheduleRange{59: append(c.Second, c.Minute...), 23: c.Hour, 31: c.DayOfMonth, 12: c.Month, 6: c.DayOfWeek, 2100: c.Year} {
			for _, r := range ranges {
				if r.Start < 0 || r.End > top || r.End < r.Start || r.Step < 1 {
					t.Errorf("%q: %+v", text, r)
				}
			}
		}
	})
}

func TestScheduleTimes(t *testing.T) {
	spec, err := times{every: 24 * time.Hour, offset: 90 * time.Minute, cron: []string{"0 2 * * *"}, zone: "Europe/Berlin", jitter: time.Minute}.spec()
	want := client.ScheduleSpec{
		CronExpressions: []string{"0 2 * * *"}, TimeZoneName: "Europe/Berlin", Jitter: time.Minute,
		Intervals: []client.ScheduleIntervalSpec{{Every: 24 * time.Hour, Offset: 90 * time.Minute}},
	}
	if diff := cmp.Diff(want, spec); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for name := range overlaps() {
		policy, err := parseOverlap(name)
		if err != nil || overlapName(policy) != name {
			t.Errorf("%s is %v, %v", name, policy, err)
		}
	}
}
