package command

import (
	"math"
	"testing"
	"time"
)

// TestSeconds: no number of seconds that an agent can write takes a limit away.
func TestSeconds(t *testing.T) {
	const otherwise, most = 2 * time.Minute, 10 * time.Minute
	for _, c := range []struct {
		given float64
		want  time.Duration // 0: refused
	}{
		{0, otherwise},
		{1.5, 1500 * time.Millisecond},
		{600, most},
		{1e-10, time.Nanosecond},
		{600.001, 0},
		{1e19, 0},
		{1e300, 0},
		{-1, 0},
		{math.Inf(1), 0},
		{math.NaN(), 0},
	} {
		got, err := seconds("timeout_seconds", c.given, otherwise, most)
		if got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%g seconds: %v, %v", c.given, got, err)
		}
	}
}
