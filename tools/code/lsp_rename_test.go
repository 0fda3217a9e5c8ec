package code

import "testing"

// TestOnlyRenamed: of a server that writes whole texts only those are taken in which
// nothing but the name is another.
func TestOnlyRenamed(t *testing.T) {
	for _, c := range []struct {
		before, after, was, is string
		want                   bool
	}{
		{"a = total()\ntotal2 = total\n", "a = sum_up()\ntotal2 = sum_up\n", "total", "sum_up", true},
		{"total # of the total\n", "sum_up # of the total\n", "total", "sum_up", true},
		{"total2 + total2", "total + total2", "total2", "total", true},
		{"größe = 1", "maß = 1", "größe", "maß", true},
		{"total", "total", "total", "sum_up", true},
		{"# typed just now\ntotal()\n", "sum_up()\n", "total", "sum_up", false},
		{"total(1)\n", "sum_up()\n", "total", "sum_up", false},
		{"total()\n# end\n", "sum_up()\n", "total", "sum_up", false},
		{"total()\n", "sum_up()\n# end\n", "total", "sum_up", false},
		{"x total", "total sum_up", "total", "sum_up", false},
		{"", "sum_up", "total", "sum_up", false},
	} {
		if got := onlyRenamed(c.before, c.after, c.was, c.is); got != c.want {
			t.Errorf("%q to %q: %v, want %v", c.before, c.after, got, c.want)
		}
	}
}
