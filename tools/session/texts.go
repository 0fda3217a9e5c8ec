package session

import (
	"container/list"
	"sync"
)

// Texts are texts of files that sessions saw. A change that rests on an older text
// than the file has now is merged with the newer one, which takes the text that
// both came from. Memory is bounded: what was used longest ago is forgotten, and a
// change that rests on it is a conflict then.
type Texts struct {
	limit int // bytes

	mu     sync.Mutex // guards what follows
	size   int
	recent *list.List // of *remembered, the last used first
	byKey  map[textKey]*list.Element
}

type textKey struct{ version, encoding string }

type remembered struct {
	key   textKey
	text  string
	bytes bool // its bytes are those of the version
}

// MaxTexts is how many bytes of text all sessions of a Set remember together.
const MaxTexts = 32 << 20

// textCost is what remembering takes beside the text.
const textCost = 256

// NewTexts makes a memory of at most limit bytes.
func NewTexts(limit int) *Texts {
	return &Texts{limit: limit, recent: list.New(), byKey: map[textKey]*list.Element{}}
}

// keep remembers a text. It shares the string.
func (t *Texts) keep(key textKey, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at, known := t.byKey[key]; known {
		t.recent.MoveToFront(at)
		return
	}
	cost := textCost + len(text)
	if cost > t.limit {
		return
	}
	t.size += cost
	t.byKey[key] = t.recent.PushFront(&remembered{key: key, text: text})
	for t.size > t.limit {
		oldest := t.recent.Remove(t.recent.Back()).(*remembered)
		delete(t.byKey, oldest.key)
		t.size -= textCost + len(oldest.text)
	}
}

func (t *Texts) find(key textKey) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, ok := t.byKey[key]
	if !ok {
		return "", false
	}
	t.recent.MoveToFront(at)
	return at.Value.(*remembered).text, true
}

// Remember keeps the text that a version of a file has, decoded from an encoding,
// for as long as there is room. A version is the same text wherever it is.
func (s *Session) Remember(version, encoding, text string) {
	key := textKey{version, encoding}
	s.texts.keep(key, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texted) >= maxTexted {
		s.texted = s.texts.among(s.texted)
	}
	s.texted[key] = true
}

// Recall gives a text that this session remembered. Who only knows the version of what
// another one read is not given it.
func (s *Session) Recall(version, encoding string) (text string, ok bool) {
	key := textKey{version, encoding}
	s.mu.Lock()
	own := s.texted[key]
	s.mu.Unlock()
	if !own {
		return "", false
	}
	return s.texts.find(key)
}

// RememberBytes is Remember of a text whose own bytes are those of the version: no
// encoding or line ends of an editor's are between them.
func (s *Session) RememberBytes(version, encoding, text string) {
	s.Remember(version, encoding, text)
	s.texts.mu.Lock()
	defer s.texts.mu.Unlock()
	if at := s.texts.byKey[textKey{version, encoding}]; at != nil && at.Value.(*remembered).text == text {
		at.Value.(*remembered).bytes = true
	}
}

// Bytes gives the bytes of the version that the agent knows of a path, if they are
// remembered: who finds the same ones knows their version.
func (s *Session) Bytes(path, encoding string) (bytes, version string) {
	version, ok := s.Seen(path)
	if !ok {
		return "", ""
	}
	s.texts.mu.Lock()
	defer s.texts.mu.Unlock()
	at := s.texts.byKey[textKey{version, encoding}]
	if at == nil || !at.Value.(*remembered).bytes {
		return "", ""
	}
	return at.Value.(*remembered).text, version
}

// maxTexted is how many versions a session may know of before it looks which of them are
// remembered still.
const maxTexted = 10_000

// among gives those of the keys that are remembered still.
func (t *Texts) among(keys map[textKey]bool) map[textKey]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[textKey]bool{}
	for key := range keys {
		if t.byKey[key] != nil {
			out[key] = true
		}
	}
	return out
}
