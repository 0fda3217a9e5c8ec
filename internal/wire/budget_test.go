package wire

import "testing"

func TestABudgetIsShared(t *testing.T) {
	b := &Budget{limit: 1 << 20}
	one, two, three := new(int), new(int), new(int) // what each of three connections holds
	for _, step := range []struct {
		of   *int
		n    int // taken; given back where it is less than 0
		want bool
		why  string
	}{
		{one, 3 << 19, true, "nobody else holds anything"},
		{two, 1 << 10, true, "a small one"},
		{two, 100 << 10, false, "there is no room"},
		{one, -3 << 19, true, "given back"},
		{one, 400 << 10, true, "its first"},
		{one, 200 << 10, false, "more than half"},
		{three, 400 << 10, true, "another's"},
		{two, 300 << 10, false, "all are more than there is"},
		{one, -400 << 10, true, "given back"},
		{two, -1 << 10, true, "given back"},
		{three, -400 << 10, true, "given back"},
	} {
		if step.n < 0 {
			b.release(step.of, -step.n)
		} else if got := b.reserve(step.of, step.n); got != step.want {
			t.Errorf("%s: %d bytes: %v", step.why, step.n, got)
		}
	}
	if b.held != 0 || *one+*two+*three != 0 {
		t.Errorf("%d bytes are held by nobody", b.held)
	}
	if !(*Budget)(nil).reserve(one, 1<<40) {
		t.Error("without a budget there is a limit")
	}
}
