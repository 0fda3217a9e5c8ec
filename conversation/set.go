package conversation

import (
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"unicode"

	"pillion/internal/fault"
)

// Changed is conversation/changed: what is different now. An entry whose id is known
// replaces that one.
type Changed struct {
	ConversationID string        `json:"conversationId"`
	Title          string        `json:"title,omitempty"`
	Agent          *Agent        `json:"agent,omitempty"`
	SessionID      string        `json:"sessionId,omitempty"`
	Status         Status        `json:"status,omitempty"`
	Message        *string       `json:"message,omitempty"`
	Connection     Connection    `json:"connection,omitempty"`
	Entries        []Entry       `json:"entries,omitempty"`
	Context        []ContextFile `json:"context,omitzero"`
	Removed        []string      `json:"removed,omitempty"`
	Closed         bool          `json:"closed,omitempty"`
}

// Appended is conversation/appended: text that is added to an entry.
type Appended struct {
	ConversationID string `json:"conversationId"`
	EntryID        string `json:"entryId"`
	Text           string `json:"text"`
}

// Follower hears of what changes, in order. It must not block, nor call back.
type Follower interface {
	Changed(c Changed)
	Appended(a Appended)
}

// Set is the open conversations.
type Set struct {
	mu   sync.Mutex // guards all below
	open []*Conversation
	by   Follower
}

// maxOpen is how many are kept; the oldest goes.
const maxOpen = 16

// Follow has every change heard by f; there is one follower.
func (s *Set) Follow(f Follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by = f
}

func (s *Set) follower() Follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		return nobody{}
	}
	return s.by
}

type nobody struct{}

func (nobody) Changed(Changed)   {}
func (nobody) Appended(Appended) {}

// Open begins a conversation.
func (s *Set) Open(title string, agent Agent, sessionID string, peer Peer) *Conversation {
	c := &Conversation{peer: peer, set: s, view: View{
		ID: rand.Text(), Title: title, Agent: agent, SessionID: sessionID, Status: Idle, Connection: Disconnected,
		Entries: []Entry{}, Context: []ContextFile{},
	}}
	s.mu.Lock()
	s.open = append(s.open, c)
	var gone []*Conversation
	if over := len(s.open) - maxOpen; over > 0 {
		gone = slices.Clone(s.open[:over])
		s.open = s.open[over:]
	}
	s.mu.Unlock()
	for _, old := range gone {
		s.follower().Changed(Changed{ConversationID: old.ID(), Closed: true})
	}
	message := ""
	s.follower().Changed(Changed{
		ConversationID: c.ID(), Title: title, Agent: &agent, SessionID: sessionID, Status: Idle, Message: &message, Connection: Disconnected, Context: []ContextFile{},
	})
	return c
}

// List is the open conversations, the newest last.
func (s *Set) List() []View {
	s.mu.Lock()
	open := slices.Clone(s.open)
	s.mu.Unlock()
	out := make([]View, 0, len(open))
	for _, c := range open {
		out = append(out, c.View())
	}
	return out
}

// Get gives a conversation by its id; "" is the newest.
func (s *Set) Get(id string) (*Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" && len(s.open) > 0 {
		return s.open[len(s.open)-1], nil
	}
	for _, c := range s.open {
		if c.ID() == id {
			return c, nil
		}
	}
	if id == "" {
		return nil, fault.Invalid("there is no conversation; connect to an agent first")
	}
	return nil, fault.Invalid("conversation %s is not open", fault.Quote(id))
}

// Clean takes out of a text what moves a cursor, hides text or turns it round. Lines and
// tabs stay, and what emoji are made of.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r >= 0xE0000 && r <= 0xE007F: // the last are letters that nobody sees
			return -1
		}
		return r
	}, text)
}
