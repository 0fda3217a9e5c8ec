package conversation

import (
	"slices"
	"strings"

	"pillion/internal/fault"
)

// Action is what is done to a conversation's context.
type Action string

// The actions.
const (
	AddFile    Action = "add_file"
	RemoveFile Action = "remove_file"
	Clear      Action = "clear"
)

// ContextUpdate is context/update: files that the user, or the agent, wants it to work with.
type ContextUpdate struct {
	Action Action       `json:"action"`
	Data   *ContextData `json:"data,omitempty"` // none with clear
}

// ContextData is one of them.
type ContextData struct {
	Path    string `json:"path"`
	Content string `json:"content,omitempty"` // a part of it; empty: the whole file
}

// ContextFile is one as views show it.
type ContextFile struct {
	Path    string `json:"path"`
	Content bool   `json:"content,omitempty"` // only a part
	Lines   int    `json:"lines,omitempty"`   // of the part
	By      Kind   `json:"by"`                // FromUser or FromAgent
}

// Check says what is wrong with an update.
func (u ContextUpdate) Check() error {
	switch {
	case u.Action != AddFile && u.Action != RemoveFile && u.Action != Clear:
		return fault.New(fault.InvalidArguments, "unknown action %s; use add_file, remove_file or clear", fault.Quote(string(u.Action)))
	case u.Action != Clear && (u.Data == nil || u.Data.Path == ""):
		return fault.New(fault.InvalidArguments, "data.path is missing: give the file")
	case u.Data != nil && len(u.Data.Content) > maxText:
		return fault.New(fault.FileTooLarge, "the content has %d bytes, over the limit of %d; add the file without it", len(u.Data.Content), maxText)
	}
	return nil
}

// Update changes the context. What the user does is passed on to the agent first.
func (c *Conversation) Update(u ContextUpdate, by Kind) error {
	if err := u.Check(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if u.Action == AddFile && len(c.view.Context) >= MaxContext {
		return fault.New(fault.InvalidArguments, "%d files are in the context already; remove some first", MaxContext)
	}
	if by == FromUser {
		if err := c.peer.Context(u); err != nil {
			return err
		}
	}
	now := []ContextFile{}
	for _, f := range c.view.Context {
		if u.Action != Clear && f.Path != u.Data.Path {
			now = append(now, f)
		}
	}
	if u.Action == AddFile {
		f := ContextFile{Path: u.Data.Path, By: by}
		if text := strings.TrimSuffix(u.Data.Content, "\n"); text != "" {
			f.Content, f.Lines = true, strings.Count(text, "\n")+1
		}
		now = append(now, f)
	}
	if !slices.Equal(now, c.view.Context) {
		c.view.Context = now
		c.tell(Changed{Context: slices.Clone(now)})
		if c.keep != nil {
			c.keep(slices.Clone(now))
		}
	}
	return nil
}

// Keep gives the conversation the context that it had before, which its agent knows, and
// has keep hear of each later one. It must not block, nor call back.
func (c *Conversation) Keep(before []ContextFile, keep func([]ContextFile)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep = keep
	if len(before) > 0 {
		c.view.Context = before
		c.tell(Changed{Context: slices.Clone(before)})
	}
}

// Context is the files that it has.
func (c *Conversation) Context() []ContextFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.view.Context)
}
