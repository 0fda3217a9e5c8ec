package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"pillion/internal/fault"
)

// ErrTodosMoved: the list is not the one any more that the user looked at.
var ErrTodosMoved = errors.New("the to-do list has changed since; look at it again")

// ChangeTodos has the user replace the to-do list of that revision. An item without an id
// gets one, and further fields that an agent gave an item stay with it. The agent hears of
// it, see TodosNews.
func (s *Session) ChangeTodos(list []Todo, revision int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision != s.revision {
		return ErrTodosMoved
	}
	list = slices.Clone(list)
	for i := range list {
		t := &list[i]
		var old Todo
		if t.ID == "" {
			t.ID = freeID(list, s.todos)
		} else if at := todoIndex(s.todos, t.ID); at >= 0 {
			old = s.todos[at]
		}
		t.Priority, t.Extra = cmp.Or(t.Priority, old.Priority, TodoMedium), old.Extra
	}
	if err := CheckTodos(list); err != nil {
		return err
	}
	if !s.unaware {
		s.known, s.unaware = s.todos, true
	}
	s.todos = list
	s.revision++
	s.changed(s)
	return nil
}

func todoIndex(list []Todo, id string) int {
	return slices.IndexFunc(list, func(t Todo) bool { return t.ID == id })
}

// freeID is an id that no item of the lists has.
func freeID(lists ...[]Todo) string {
	for n := 1; ; n++ {
		id := fmt.Sprintf("user-%d", n)
		if !slices.ContainsFunc(lists, func(list []Todo) bool { return todoIndex(list, id) >= 0 }) {
			return id
		}
	}
}

// TodosNews is what the user changed since the agent last knew the list, in words. It is
// news once.
func (s *Session) TodosNews() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unaware {
		return nil
	}
	news := todoChanges(s.known, s.todos)
	s.known, s.unaware = nil, false
	s.changed(s)
	return news
}

const (
	maxNews     = 20 // changes in words; a model reads the list itself for the rest
	maxNewsText = 80 // bytes of what an item says
)

// todoChanges are the differences between two lists.
func todoChanges(old, now []Todo) (out []string) {
	for _, was := range old {
		if todoIndex(now, was.ID) < 0 {
			out = append(out, "removed "+named(was))
		}
	}
	var kept []string // ids of old ones, as they stand now
	for _, t := range now {
		at := todoIndex(old, t.ID)
		if at < 0 {
			out = append(out, "added "+named(t))
			continue
		}
		kept = append(kept, t.ID)
		out = append(out, todoChange(old[at], t)...)
	}
	order := slices.DeleteFunc(slices.Clone(old), func(t Todo) bool { return !slices.Contains(kept, t.ID) })
	if !slices.EqualFunc(order, kept, func(t Todo, id string) bool { return t.ID == id }) {
		out = append(out, "reordered the list")
	}
	if more := len(out) - maxNews; more > 0 {
		out = append(out[:maxNews:maxNews], fmt.Sprintf("and %d more changes", more))
	}
	return out
}

// todoChange is what became of one item.
func todoChange(old, now Todo) (out []string) {
	if old.Content != now.Content {
		out = append(out, "changed "+named(old)+" to "+named(now))
	}
	if old.Status != now.Status {
		verb := map[string]string{TodoCompleted: "ticked ", TodoInProgress: "started ", TodoPending: "set back to pending "}[now.Status]
		out = append(out, verb+named(now))
	}
	if old.Priority != now.Priority {
		out = append(out, "set the priority of "+named(now)+" to "+now.Priority)
	}
	return out
}

func named(t Todo) string { return fault.Escape(strconv.Quote(fault.Clip(t.Content, maxNewsText))) }
