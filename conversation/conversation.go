// Package conversation is what a conversation with an agent is, whoever is at its other
// end: messages, calls, files given as context, and a status. Set has those that are open;
// a way in (package agents/gateway) opens one with a Peer, feeds it, and a view follows it
// through Set.Follow. Everything is in memory, bounded, and safe for concurrent use.
//
// Deliberately not here: how it reaches the agent, how it is shown, and what a call does.
package conversation

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"pillion/internal/fault"
)

// Peer is the agent's end of a conversation. Its methods queue what they pass on: they
// neither block nor call the conversation.
type Peer interface {
	// Say passes a message of the user's on.
	Say(text string) error
	// Context passes on that the user added or removed files.
	Context(u ContextUpdate) error
}

// Agent is who is at the other end.
type Agent struct {
	Name string `json:"name"`
	Via  string `json:"via"`
}

// Status is what the agent says it is doing.
type Status string

// The statuses.
const (
	Idle            Status = "idle"
	Thinking        Status = "thinking"
	ExecutingTool   Status = "executing_tool"
	WaitingApproval Status = "waiting_approval"
	Failed          Status = "error"
)

// Statuses are all of them.
var Statuses = []Status{Idle, Thinking, ExecutingTool, WaitingApproval, Failed}

// Connection is how an agent is connected.
type Connection string

// The states of a connection.
const (
	Disconnected Connection = "disconnected"
	Connecting   Connection = "connecting"
	Connected    Connection = "connected"
	Reconnecting Connection = "reconnecting"
)

// View is a conversation as the wire shows it.
type View struct {
	ID         string        `json:"conversationId"`
	Title      string        `json:"title"`
	Agent      Agent         `json:"agent"`
	SessionID  string        `json:"sessionId"`
	Status     Status        `json:"status"`
	Message    string        `json:"message"`
	Connection Connection    `json:"connection"`
	Entries    []Entry       `json:"entries"`
	Context    []ContextFile `json:"context"`
}

// Kind is what an entry is.
type Kind string

// The kinds of entries.
const (
	FromUser  Kind = "user"
	FromAgent Kind = "agent"
	OfCall    Kind = "call"
	OfError   Kind = "error"
	OfNotice  Kind = "notice"
)

// Entry is one thing that was said or done.
type Entry struct {
	ID   string    `json:"entryId"`
	Kind Kind      `json:"kind"`
	Text string    `json:"text"` // Markdown of the agent's, else plain; HTML in it is text
	Done bool      `json:"done"` // nothing will be added to it
	At   time.Time `json:"at"`
	Call *Call     `json:"call,omitempty"`
}

// Call is a call of a tool, as a row.
type Call struct {
	ID      string `json:"callId"`
	Tool    string `json:"tool"`
	Title   string `json:"title"`
	State   string `json:"state"` // queued, running, waiting, done or failed
	Summary string `json:"summary"`
}

// Bounds of a conversation.
const (
	MaxEntries  = 500
	MaxBytes    = 4 << 20   // of all texts
	maxText     = 256 << 10 // bytes of one entry
	MaxContext  = 100       // files
	MaxMessage  = 10_000    // characters of a message of the user's
	appendEvery = 30 * time.Millisecond
)

// Conversation is one.
type Conversation struct {
	peer Peer
	set  *Set
	keep func([]ContextFile) // nil: nobody wants to know of the context

	mu      sync.Mutex // guards all below, and the order in which followers hear
	view    View
	bytes   int
	dropped bool   // older entries are gone, and a notice has said so
	partial string // the entry that the agent is writing; "" none
	adding  string // text that followers have not heard of yet
	timer   *time.Timer
}

// ID names the conversation on the wire.
func (c *Conversation) ID() string { return c.view.ID }

// User adds what the user says, and passes it on.
func (c *Conversation) User(text string) (entryID string, err error) {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return "", fault.Invalid("the message is empty")
	case n > MaxMessage:
		return "", fault.Invalid("the message has %d characters, over the limit of %d", n, MaxMessage)
	}
	c.mu.Lock() // so that no answer comes before the message
	defer c.mu.Unlock()
	if err := c.peer.Say(text); err != nil {
		return "", err
	}
	c.finishLocked()
	return c.addLocked(Entry{Kind: FromUser, Text: Clean(text), Done: true}), nil
}

// Append adds to the agent's current message, and begins one if there is none. Final
// ends it.
func (c *Conversation) Append(text string, final bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text = Clean(text)
	if c.partial == "" {
		if text == "" {
			return
		}
		c.partial = c.addLocked(Entry{Kind: FromAgent})
	}
	at := c.index(c.partial)
	if at < 0 { // so much was added since that it is gone
		c.partial = ""
		return
	}
	e := &c.view.Entries[at]
	if room := maxText - len(e.Text); len(text) > room {
		text = fault.Clip(text, max(room, 0)) + "\n\n(cut here: longer than this view shows)"
		final = true
	}
	e.Text += text
	c.bytes += len(text)
	c.adding += text
	if c.timer == nil && c.adding != "" {
		c.timer = time.AfterFunc(appendEvery, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.flush()
		})
	}
	if final {
		c.finishLocked()
	}
	c.trim()
}

// finishLocked ends the agent's current message. Like all that end in Locked it needs the
// lock.
func (c *Conversation) finishLocked() {
	c.flush()
	at := c.index(c.partial)
	c.partial = ""
	if at >= 0 {
		c.view.Entries[at].Done = true
		c.tell(Changed{Entries: []Entry{c.view.Entries[at]}})
	}
}

// flush has followers hear of added text. It needs the lock.
func (c *Conversation) flush() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	if text := c.adding; text != "" {
		c.adding = ""
		c.set.follower().Appended(Appended{ConversationID: c.view.ID, EntryID: c.partial, Text: text})
	}
}

// Note adds an error or a notice.
func (c *Conversation) Note(kind Kind, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishLocked()
	c.addLocked(Entry{Kind: kind, Text: Clean(text), Done: true})
}

// Called shows a call as it is now: one row, from its first state to its last.
func (c *Conversation) Called(call Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call.Title, call.Summary, call.Tool = fault.Line(call.Title), fault.Line(call.Summary), fault.Line(call.Tool)
	done := call.State == "done" || call.State == "failed"
	for i := len(c.view.Entries) - 1; i >= 0; i-- {
		if e := &c.view.Entries[i]; e.Call != nil && e.Call.ID == call.ID {
			if e.Done && !done || *e.Call == call { // what is over stays so
				return
			}
			e.Call, e.Done = &call, done
			c.tell(Changed{Entries: []Entry{*e}})
			return
		}
	}
	c.finishLocked()
	c.addLocked(Entry{Kind: OfCall, Done: done, Call: &call})
}

// Says is what the agent says of itself; another: it did something else before.
func (c *Conversation) Says(status Status, message string) (another bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	message = fault.Clip(fault.Line(message), maxStatus)
	if c.view.Status == status && c.view.Message == message {
		return false
	}
	another = c.view.Status != status
	c.view.Status, c.view.Message = status, message
	c.tell(Changed{SessionID: c.view.SessionID, Status: status, Message: &message})
	return another
}

const maxStatus = 1000 // bytes

// Connected says how the agent is connected.
func (c *Conversation) Connected(state Connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view.Connection == state {
		return
	}
	c.view.Connection = state
	c.tell(Changed{Connection: state})
}

// View is the conversation at this moment.
func (c *Conversation) View() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush()
	return c.snapshot()
}

func (c *Conversation) snapshot() View {
	out := c.view
	out.Entries, out.Context = slices.Clone(out.Entries), slices.Clone(out.Context)
	return out
}

func (c *Conversation) addLocked(e Entry) (id string) {
	e.ID, e.At = rand.Text(), time.Now().UTC()
	e.Text = fault.Clip(e.Text, maxText)
	c.view.Entries = append(c.view.Entries, e)
	c.bytes += e.weight()
	c.tell(Changed{Entries: []Entry{e}})
	c.trim()
	return e.ID
}

// trim drops the oldest entries until the rest is within bounds.
func (c *Conversation) trim() {
	var removed []string
	for len(c.view.Entries) > MaxEntries || c.bytes > MaxBytes && len(c.view.Entries) > 1 {
		gone := c.view.Entries[0]
		c.bytes -= gone.weight()
		removed = append(removed, gone.ID)
		c.view.Entries = slices.Delete(c.view.Entries, 0, 1)
	}
	if removed == nil {
		return
	}
	c.tell(Changed{Removed: removed})
	if !c.dropped {
		c.dropped = true
		c.addLocked(Entry{Kind: OfNotice, Text: "The oldest messages are no longer shown.", Done: true})
	}
}

func (e Entry) weight() int {
	if e.Call == nil {
		return len(e.Text)
	}
	return len(e.Call.Title) + len(e.Call.Summary)
}

func (c *Conversation) index(entryID string) int {
	if entryID == "" {
		return -1
	}
	return slices.IndexFunc(c.view.Entries, func(e Entry) bool { return e.ID == entryID })
}

// tell has followers hear of a change, after the text before it. It needs the lock.
func (c *Conversation) tell(now Changed) {
	c.flush()
	now.ConversationID = c.view.ID
	c.set.follower().Changed(now)
}

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
		return fault.Invalid("unknown action %s; use add_file, remove_file or clear", fault.Quote(string(u.Action)))
	case u.Action != Clear && (u.Data == nil || u.Data.Path == ""):
		return fault.Invalid("data.path is missing: give the file")
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
		return fault.Invalid("%d files are in the context already; remove some first", MaxContext)
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
