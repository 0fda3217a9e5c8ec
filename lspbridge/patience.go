package lspbridge

import (
	"sync"
	"time"
)

// patience is how long is waited for servers, and how often they come back.
type patience struct {
	question time.Duration // for an answer
	start    time.Duration // for the answer to initialize
	editor   time.Duration // for an answer of the editor
	silence  time.Duration // for any sign of life from a server that owes an answer
	ending   time.Duration // for its end, when it was asked to or has closed its output
	look     time.Duration // between two looks at whether a server is silent, or idle

	crashes time.Duration // the time within which mostCrashes are too many
	first   time.Duration // before the first restart; doubled each time
	longest time.Duration // before any
}

var usual = patience{
	question: questionTime, editor: editorTime, start: startTime, silence: time.Minute, ending: time.Second, look: 15 * time.Second,
	crashes: 3 * time.Minute, first: 200 * time.Millisecond, longest: 10 * time.Second,
}

// pulse tells a server that is at work from one that hangs: which of them owes
// something, and has said nothing at all since. Zero is one that owes nothing.
type pulse struct {
	mu    sync.Mutex // guards all below
	since time.Time  // when it was asked first of what it owes; zero: it owes nothing
	asked bool       // it owes an answer to a question, not to a probe alone
}

// owe notes that the server was sent something that it has to answer.
func (p *pulse) owe(question bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		p.since = time.Now()
	}
	p.asked = p.asked || question
}

// beat notes that it said something.
func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since, p.asked = time.Time{}, false
}

// silent is for how long it has owed something and not said a word. asked: it owes the
// answer to a question.
func (p *pulse) silent() (length time.Duration, asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		return 0, false
	}
	return time.Since(p.since), p.asked
}

// quota keeps what a server has us write to the log from filling it. Zero is ready.
type quota struct {
	mu      sync.Mutex // guards all below
	began   time.Time
	written int
	left    int
}

const (
	mostLines = 50 // within linesTime
	linesTime = 10 * time.Second
)

// take says if a line may be written now, and how many were left out before it.
func (b *quota) take(now time.Time) (left int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.began) > linesTime {
		b.began, b.written = now, 0
	}
	if b.written == mostLines {
		b.left++
		return 0, false
	}
	b.written++
	left, b.left = b.left, 0
	return left, true
}

// logf writes to our log, under the server's name.
func (s *server) logf(format string, args ...any) {
	left, ok := s.log.take(time.Now())
	if !ok {
		return
	}
	if left > 0 {
		s.bridge.o.Logf("%s: %d more lines were left out", s.spec.Name, left)
	}
	s.bridge.o.Logf(s.spec.Name+": "+format, args...)
}

// note keeps what a server says to people, in our log alone.
func (s *server) note(message string) { s.logf("%s", clip(message, 1000)) }
