package acp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"pillion/internal/fault"
)

// said is what a sub-agent says, and what it says that it does. Whoever hears of it while
// it works may be slow: what does not fit is left out.
type said struct {
	tell    func(stream, text string)
	pending chan piece // not told yet

	mu      sync.Mutex // guards all below
	message strings.Builder
	over    bool     // the next text begins another message
	size    int      // of what is pending
	unknown []string // kinds of updates that the log has
}

type piece struct{ stream, text string }

const (
	mostMessage = 1 << 20  // bytes of the last message
	mostPending = 64 << 10 // bytes that wait to be told
	mostPieces  = 4096     // and pieces
)

func newSaid(tell func(stream, text string)) *said {
	return &said{tell: tell, pending: make(chan piece, mostPieces)}
}

// update takes session/update.
func (s *said) update(u sdk.SessionUpdate) {
	switch {
	case u.AgentMessageChunk != nil:
		if text := u.AgentMessageChunk.Content.Text; text != nil {
			s.say(text.Text)
		}
	case u.ToolCall != nil:
		s.act("· " + fault.Line(fault.Clip(u.ToolCall.Title, 200)) + "\n")
	case u.Plan != nil:
		var out strings.Builder
		for _, e := range u.Plan.Entries[:min(len(u.Plan.Entries), 50)] {
			fmt.Fprintf(&out, "[%s] %s\n", fault.Line(fault.Clip(string(e.Status), 20)), fault.Line(fault.Clip(e.Content, 200)))
		}
		s.act(out.String())
	}
}

// isNew says if a kind of update that is not known was not noted before.
func (s *said) isNew(kind string) bool {
	const most = 20
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unknown) == most || slices.Contains(s.unknown, kind) {
		return false
	}
	s.unknown = append(s.unknown, kind)
	return true
}

func (s *said) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		s.over = false
		s.message.Reset()
	}
	if room := mostMessage - s.message.Len(); room > 0 {
		s.message.WriteString(text[:min(len(text), room)])
	}
	s.addLocked("stdout", text)
}

// act is something that is no message: what comes after it is a new one.
func (s *said) act(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.addLocked("stderr", text)
}

// note is something of ours about what it does.
func (s *said) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked("stderr", text)
}

func (s *said) addLocked(stream, text string) {
	if text == "" || s.size+len(text) > mostPending {
		return
	}
	select {
	case s.pending <- piece{stream, text}:
		s.size += len(text)
	default:
	}
}

// follow tells what is said until ctx is done.
func (s *said) follow(ctx context.Context) {
	tell := func(p piece) {
		s.mu.Lock()
		s.size -= len(p.text)
		s.mu.Unlock()
		s.tell(p.stream, p.text)
	}
	for {
		select {
		case p := <-s.pending:
			tell(p)
		case <-ctx.Done():
			for len(s.pending) > 0 {
				tell(<-s.pending)
			}
			return
		}
	}
}

// last is the last message.
func (s *said) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.message.String()
}

// tail is the end of a text in whole characters.
func tail(text string, most int) string {
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return strings.ToValidUTF8(text, "")
}
