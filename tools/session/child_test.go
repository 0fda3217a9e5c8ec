package session

import (
	"testing"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

func openChild(t *testing.T, set *Set, parent *Session, mode policy.Mode) *Session {
	t.Helper()
	child, err := set.OpenChild(parent, Agent{Name: "sub", Via: "task"}, mode)
	if err != nil {
		t.Fatal(err)
	}
	return child
}

func TestChildrenAreNoFreerThanTheirParents(t *testing.T) {
	set := NewSet(policy.FullAccess)
	parent := opened(t, set, "p")
	free, held := openChild(t, set, parent, ""), openChild(t, set, parent, policy.Default)
	below := openChild(t, set, free, policy.FullAccess)
	for _, step := range []struct{ parent, free, held, below policy.Mode }{
		{policy.FullAccess, policy.FullAccess, policy.Default, policy.FullAccess},
		{policy.AutoEdit, policy.AutoEdit, policy.Default, policy.AutoEdit},
		{policy.Plan, policy.Plan, policy.Plan, policy.Plan},
		{policy.FullAccess, policy.FullAccess, policy.Default, policy.FullAccess},
	} {
		if err := parent.SetMode(step.parent); err != nil {
			t.Fatal(err)
		}
		if free.Mode() != step.free || held.Mode() != step.held || below.Mode() != step.below || below.Info().Mode != step.below {
			t.Errorf("in %s: %s, %s, %s", step.parent, free.Mode(), held.Mode(), below.Mode())
		}
	}
	parent.SetLimits(Limits{Changes: 2})
	_, first := free.Allow(Changes)
	_, second := below.Allow(Changes)
	if _, third := parent.Allow(Changes); !first || !second || third {
		t.Error("they do not share a limit")
	}
	if free.Info().Parent != "p" || parent.Info().Parent != "" || below.Info().Parent != free.ID() {
		t.Error("who is whose child is not said")
	}
}

func TestChildrenArePausedAndEndWithTheirParents(t *testing.T) {
	set := NewSet(policy.Default)
	parent := opened(t, set, "p")
	child := openChild(t, set, parent, "")
	below := openChild(t, set, child, "")
	child.Pause("enough")
	<-child.Pausing()
	if _, paused := parent.Paused(); paused {
		t.Error("the parent is paused with its child")
	}
	if why, paused := below.Paused(); !paused || why != "enough" || !below.Info().Paused {
		t.Errorf("below it: %q, %t", why, paused)
	}
	child.NewTurn()
	select {
	case <-child.Pausing():
		t.Error("it is still paused")
	default:
	}
	if !set.Close("p") || len(set.List()) != 0 {
		t.Errorf("after its parent was closed: %v", set.List())
	}
	<-below.Closed()
	if _, err := set.OpenChild(child, claude, ""); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("a child of a session that ended: %v", err)
	}
}

func TestChildrenAreNotNestedForEver(t *testing.T) {
	set := NewSet(policy.Default)
	at, _, err := set.Open("p", claude, "")
	for range maxDepth {
		if err != nil {
			t.Fatal(err)
		}
		at, err = set.OpenChild(at, claude, "")
	}
	if _, err := set.OpenChild(at, claude, ""); fault.CodeOf(err) != fault.PolicyDenied {
		t.Errorf("one more: %v", err)
	}
}
