package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

// rounds are, in the long run, enough for every order of the few system calls involved to turn up.
func rounds() int { return machine.Cases(15, 240) }

// humanWrites are the ways in which programs write a file.
var humanWrites = map[string]func(name, text string) error{
	"in place": func(name, text string) error { return os.WriteFile(name, []byte(text), 0o644) },
	"by rename": func(name, text string) error {
		temp := name + ".human"
		return errors.Join(os.WriteFile(temp, []byte(text), 0o644), os.Rename(temp, name))
	},
	"by append":     func(name, text string) error { return writeTo(name, os.O_APPEND, text) },
	"in two writes": func(name, text string) error { return writeTo(name, os.O_TRUNC, text[:3], text[3:]) },
	"by moving it away first": func(name, text string) error {
		return errors.Join(os.Rename(name, name+"~"), os.WriteFile(name, []byte(text), 0o644))
	},
}

func writeTo(name string, how int, parts ...string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|how, 0)
	if err != nil {
		return err
	}
	for _, part := range parts {
		_, wrong := f.WriteString(part)
		err = errors.Join(err, wrong)
	}
	return errors.Join(err, f.Close())
}

// TestHumanWritesAtTheSameMoment: what a user writes between the plan and the
// end of the commit is on disk afterwards, whatever becomes of the agent's change.
func TestHumanWritesAtTheSameMoment(t *testing.T) {
	for way, write := range humanWrites {
		t.Run(way, func(t *testing.T) {
			b := newBench(t)
			made, refused := 0, 0
			for i := range rounds() {
				human := fmt.Sprintf("human %d\n", i)
				err := b.commitWhile(func() error { return write(b.Abs("a.txt"), human) })
				switch {
				case err == nil:
					made++
				case fault.CodeOf(err) == fault.ConcurrentModification:
					refused++
				default:
					t.Fatal(err)
				}
				if got := b.onDisk("a.txt"); !strings.HasSuffix(got, human) {
					t.Fatalf("round %d, committed with %v: the user wrote %q and the disk has %q", i, err, human, got)
				}
			}
			t.Logf("%d made, %d refused", made, refused)
		})
	}
}

// commitWhile changes a.txt while a user does something to it, in the very
// moment in which the names are exchanged.
func (b *bench) commitWhile(human func() error) error {
	b.Helper()
	b.Write("a.txt", "before\n")
	step := &diskStep{file: b.plan("a.txt", "agent\n"), committer: b.Committer, named: workspace.NewTemp()}
	defer step.discard(&remains{})
	b.Must(step.stage())
	start, done := make(chan struct{}), make(chan error, 1)
	go func() {
		<-start
		done <- human()
	}()
	close(start)
	err := step.apply(context.Background())
	b.Must(<-done)
	return err
}

// TestHumanDeletesAtTheSameMoment: the file is gone, or is the agent's.
func TestHumanDeletesAtTheSameMoment(t *testing.T) {
	b := newBench(t)
	for _, at := range []string{"sync", "rename"} { // before it looks, and after
		b.Write("a.txt", "before\n")
		f := b.plan("a.txt", "agent\n")
		b.calls.Fails = func(call string) error {
			if call == at {
				os.Remove(b.Abs("a.txt")) //nolint:errcheck // it may be gone
			}
			return nil
		}
		b.wantMoved(f)
		b.calls.Fails = nil
		b.want("a.txt", "<absent>")
	}
	for range rounds() {
		err := b.commitWhile(func() error { return os.Remove(b.Abs("a.txt")) })
		if err != nil && !errors.Is(err, ErrMoved) {
			t.Fatal(err)
		}
		if got := b.onDisk("a.txt"); got != "<absent>" {
			t.Fatalf("the user deleted it, and it is %q (%v)", got, err)
		}
	}
}

// TestSeveralAgentsAtOnce: each adds its lines, planning again when another was
// first; none is lost.
func TestSeveralAgentsAtOnce(t *testing.T) {
	b := newBench(t)
	b.Write("a.txt", "")
	const agents, each = 4, 8
	var all sync.WaitGroup
	for agent := range agents {
		all.Go(func() {
			for i := range each {
				line := fmt.Sprintf("agent %d line %d\n", agent, i)
				for {
					before, err := b.Documents.Snapshot(limit).Read(b.path("a.txt"), "")
					if err != nil {
						t.Error(err)
						return
					}
					after := before.Content
					after.Text += line
					f, err := New(before, after)
					if err == nil {
						_, err = b.commit(f)
					}
					if err == nil {
						break
					}
					if !errors.Is(err, ErrMoved) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	text := b.onDisk("a.txt")
	if n := strings.Count(text, "\n"); n != agents*each {
		t.Errorf("%d lines, want %d", n, agents*each)
	}
	for agent := range agents {
		for i := range each {
			if strings.Count(text, fmt.Sprintf("agent %d line %d\n", agent, i)) != 1 {
				t.Errorf("line %d of agent %d is there more or less than once", i, agent)
			}
		}
	}
}

func TestSeveralAgentsCreateOneFile(t *testing.T) {
	for range machine.Cases(3, 24) {
		b := newBench(t)
		made := make(chan string, 8)
		var all sync.WaitGroup
		var plans []File
		for agent := range 8 {
			plans = append(plans, b.plan("new/a.txt", fmt.Sprintf("agent %d", agent)))
		}
		for _, f := range plans {
			all.Go(func() {
				if _, err := b.commit(f); err == nil {
					made <- f.After.Text
				} else if !errors.Is(err, ErrMoved) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(made) != 1 {
			t.Fatalf("%d of them made it", len(made))
		}
		b.want("new/a.txt", <-made)
	}
}

// TestUndoAtTheSameMoment: the first file of a set is put back while a user
// writes to it.
func TestUndoAtTheSameMoment(t *testing.T) {
	for _, way := range []string{"in place", "by rename", "by append", "in two writes"} {
		t.Run(way, func(t *testing.T) {
			b := newBench(t)
			for i := range rounds() {
				b.Write("a.txt", "before\n")
				step := &diskStep{file: b.plan("a.txt", "agent\n"), committer: b.Committer, named: workspace.NewTemp()}
				b.Must(step.stage())
				b.Must(step.apply(context.Background()))
				human := fmt.Sprintf("human %d\n", i)
				written := make(chan error, 1)
				go func() { written <- humanWrites[way](b.Abs("a.txt"), human) }()
				step.undo(context.Background()) //nolint:errcheck // either way the user's text must be there
				b.Must(<-written)
				step.discard(&remains{})
				if got := b.onDisk("a.txt"); !strings.HasSuffix(got, human) {
					t.Fatalf("round %d: the user wrote %q and the disk has %q", i, human, got)
				}
			}
		})
	}
}

// TestUndoOfACreatedFile: what a user made of it stays.
func TestUndoOfACreatedFile(t *testing.T) {
	b := newBench(t)
	step := &diskStep{file: b.plan("new/a.txt", "agent"), committer: b.Committer, named: workspace.NewTemp()}
	b.Must(step.stage())
	b.Must(step.apply(context.Background()))
	b.Write("new/a.txt", "human")
	if err := step.undo(context.Background()); err == nil || !strings.Contains(err.Error(), "a.txt") {
		t.Errorf("%v", err)
	}
	step.discard(&remains{})
	b.want("new/a.txt", "human")
}

func TestProgramThatKeepsTheFileOpen(t *testing.T) {
	b := newBench(t)
	b.Write("app.log", "started\n")
	log, err := os.OpenFile(b.Abs("app.log"), os.O_WRONLY|os.O_APPEND, 0)
	b.Must(err)
	defer log.Close()
	if !canSeeWriters(t, log) {
		t.Log("this system does not tell who has a file open")
		return
	}
	err = b.wantFault(fault.ConcurrentModification, b.plan("app.log", "emptied\n"))
	if errors.Is(err, ErrMoved) {
		t.Error("it would be tried again at once")
	}
	_, err = log.WriteString("went on\n")
	b.Must(err)
	b.want("app.log", "started\nwent on\n")
}
