package machine

import "os"

// Cases is how many random cases a test tries: few by default, many where
// PILLION_RIDES is set, as by `make rides ONLY=go/long`.
func Cases(few, many int) int {
	if os.Getenv("PILLION_RIDES") != "" {
		return many
	}
	return few
}
