package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/speechmanip/speechmanip/activities"
	"github.com/speechmanip/speechmanip/internal/config"
)

// checkDrain refuses a drain in which a call that somebody may have paid for could
// not end: it would be cut off at a stop, and made and paid again elsewhere. What
// costs nothing but time may be cut off.
func checkDrain(s settings, cfg config.Config) error {
	var longest time.Duration
	var roles []string
	if slices.Contains(s.roles, "speech") && isPaid(s.synthesizer) {
		longest, roles = activities.SynthesisLifetime, append(roles, "speech --synthesizer "+s.synthesizer)
	}
	if slices.Contains(s.roles, "detect") && len(cfg.Chat.URLs) > 0 {
		longest, roles = max(longest, activities.DetectionLifetime), append(roles, "detect with "+config.EnvChatURL)
	}
	if longest == 0 || cfg.Drain > longest {
		return nil
	}
	return fmt.Errorf("%s=%s is too short for role %s: a paid call takes up to %s and would be lost at a stop; use more than that, or nothing for %s",
		config.EnvDrain, cfg.Drain, strings.Join(roles, " and role "), longest, config.DefaultDrain)
}
