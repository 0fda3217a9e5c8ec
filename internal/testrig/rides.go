package testrig

import "os"

// Count is how often a test does what it does at random or in numbers: few times in every check,
// many in the long rides (PILLION_RIDES).
func Count(few, many int) int {
	if os.Getenv("PILLION_RIDES") != "" {
		return many
	}
	return few
}
