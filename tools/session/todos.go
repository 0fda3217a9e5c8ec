package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
)

// Bounds of a to-do list: it is read whole, by a model and by a person.
const (
	MaxTodos    = 200
	MaxTodoText = 1000 // characters of what one says
)

// Todo is one item of a session's to-do list.
type Todo struct {
	ID       string `json:"id"`
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority"`
	// Extra are further fields that agents of other tool sets give an item.
	Extra map[string]any `json:"extra,omitempty"`
}

// What a Todo's status and priority can be.
const (
	TodoPending    = "pending"
	TodoInProgress = "in_progress"
	TodoCompleted  = "completed"
	TodoMedium     = "medium"
)

var (
	todoStates     = []string{TodoPending, TodoInProgress, TodoCompleted}
	todoPriorities = []string{"high", TodoMedium, "low"}
)

// CheckTodos says what is wrong with a list.
func CheckTodos(list []Todo) error {
	if len(list) > MaxTodos {
		return badTodos("todos has %d items; give at most %d, and leave out what was completed long ago", len(list), MaxTodos)
	}
	ids, active := map[string]bool{}, ""
	for i, t := range list {
		if err := t.check(i); err != nil {
			return err
		}
		if ids[t.ID] {
			return badTodos("two items of todos have the id %s; give each its own", fault.Quote(t.ID))
		}
		ids[t.ID] = true
		if t.Status != TodoInProgress {
			continue
		}
		if active != "" {
			return badTodos("%s and %s are both in_progress; at most one item can be", fault.Quote(active), fault.Quote(t.ID))
		}
		active = t.ID
	}
	return nil
}

func (t Todo) check(i int) error {
	switch {
	case strings.TrimSpace(t.ID) == "" || utf8.RuneCountInString(t.ID) > maxIDLength:
		return badTodos("todos[%d].id must have 1 to %d characters", i, maxIDLength)
	case strings.TrimSpace(t.Content) == "" || utf8.RuneCountInString(t.Content) > MaxTodoText:
		return badTodos("todos[%d].content must have 1 to %d characters", i, MaxTodoText)
	case !slices.Contains(todoStates, t.Status):
		return badTodos("todos[%d].status must be pending, in_progress or completed, got %s", i, fault.Quote(t.Status))
	case !slices.Contains(todoPriorities, t.Priority):
		return badTodos("todos[%d].priority must be high, medium or low, got %s", i, fault.Quote(t.Priority))
	}
	return nil
}

func badTodos(format string, args ...any) error {
	return fault.Invalid(format, args...).WithHint("the list was not changed")
}

// Todos is the to-do list.
func (s *Session) Todos() []Todo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.todos)
}

// SetTodos has the agent replace the to-do list; an item without a priority gets the middle
// one. As long as the agent does not know what the user changed, it would undo that.
func (s *Session) SetTodos(list []Todo) error {
	list = slices.Clone(list)
	for i := range list {
		list[i].Priority = cmp.Or(list[i].Priority, TodoMedium)
	}
	if err := CheckTodos(list); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unaware {
		return fault.New(fault.ConcurrentModification, "the user changed the to-do list since you read it; the list was not changed").
			WithHint("take over what the user changed, and write the list again")
	}
	s.todos = list
	s.revision++
	s.changed(s)
	return nil
}

// Mark shows the status of an item in a list of lines.
func (t Todo) Mark() string {
	switch t.Status {
	case TodoInProgress:
		return "[>]"
	case TodoCompleted:
		return "[x]"
	}
	return "[ ]"
}

// TodoProgress is how far a list is, in one line.
func TodoProgress(list []Todo) string {
	completed, now := 0, ""
	for _, t := range list {
		switch t.Status {
		case TodoCompleted:
			completed++
		case TodoInProgress:
			now = "; now: " + fault.Line(fault.Clip(t.Content, 80))
		}
	}
	return fmt.Sprintf("%d of %d completed%s", completed, len(list), now)
}
