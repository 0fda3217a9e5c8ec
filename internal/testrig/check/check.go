// Package check is what tests say of what they got, in a line each. It knows nothing of
// Pillion, so that a package of any floor can use it.
package check

import (
	"strings"
	"testing"
)

// Must ends the test at an error.
func Must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Same fails the test where it got something else than it wants.
func Same[V comparable](t testing.TB, what string, got, want V) {
	t.Helper()
	if got == want {
		return
	}
	if text, is := any(got).(string); is {
		t.Errorf("%s: got %q, want %q", what, text, any(want))
	} else {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// Has fails the test where one of the parts is not in the text.
func Has(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

// Lacks fails the test where one of the parts is in the text.
func Lacks(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%s has %q:\n%s", what, part, text)
		}
	}
}

// Nothing fails the test where something has come by now.
func Nothing[V any](t testing.TB, what string, from <-chan V) {
	t.Helper()
	select {
	case v := <-from:
		t.Errorf("%s: %+v", what, v)
	default:
	}
}
