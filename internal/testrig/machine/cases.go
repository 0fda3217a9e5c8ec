package machine

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Cases is how many random cases a test tries: few by default, many where
// PILLION_RIDES is set, as by `make rides ONLY=go/long`.
func Cases(few, many int) int {
	if os.Getenv("PILLION_RIDES") != "" {
		return many
	}
	return few
}

// Rapid bounds a test with pgregory.net/rapid alike. Few cases are the same each time.
func Rapid(t testing.TB, few, many int) {
	t.Helper()
	set := map[string]string{"rapid.checks": strconv.Itoa(Cases(few, many))}
	if os.Getenv("PILLION_RIDES") == "" {
		set["rapid.seed"] = "1"
	}
	for name, value := range set {
		f := flag.Lookup(name)
		if f.Value.String() != f.DefValue {
			continue // asked for on the command line
		}
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, f.DefValue) })
	}
}
