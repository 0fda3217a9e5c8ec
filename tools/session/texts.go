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
	key  textKey
	text string
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
	t.byKey[key] = t.recent.PushFront(&remembered{key, text})
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
	s.texts.keep(textKey{version, encoding}, text)
}

// Recall gives a text that was remembered.
func (s *Session) Recall(version, encoding string) (text string, ok bool) {
	return s.texts.find(textKey{version, encoding})
}
