package lspbridge

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

const (
	editorTime  = 3 * time.Second // for the editor's servers to answer, where there are others
	editorQuiet = time.Minute     // for which nothing more is asked while they still do not
)

// editorPatience is how long the editor is waited for: its servers may have to read a
// whole project first, and longer where nobody else can be asked.
func (b *Bridge) editorPatience(p workspace.Path) time.Duration {
	spec, ok := b.serverFor(b.o.Settings(p.Top()), languageOf(target(p), b.bufferOf(p)))
	if ok && b.installed(spec) {
		return b.patience.editor
	}
	return b.patience.question
}

// put asks the editor, if it can be asked and owes no answer to what it was asked before. An answer
// that does not come in time is waited for by nobody, but the request stands: as soon as it is
// answered the editor is known to be able again.
func (b *Bridge) put(ctx context.Context, method string, params any, patience time.Duration) (json.RawMessage, error) {
	if b.o.Ask == nil || b.late.Load() > 0 || !b.work() {
		return nil, errNoAnswer
	}
	asking, cancel := context.WithTimeout(b.ctx, editorQuiet)
	stays := context.AfterFunc(ctx, cancel)
	defer stays()
	var answer struct {
		raw json.RawMessage
		err error
	}
	var over atomic.Bool // by the answer, or by the end of patience
	came := make(chan struct{})
	go func() {
		defer b.running.Done()
		defer cancel()
		answer.err = b.o.Ask(asking, method, params, &answer.raw)
		if over.Swap(true) {
			b.late.Add(-1)
		}
		close(came)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-came:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		if !over.Swap(true) {
			b.late.Add(1)
			return nil, context.DeadlineExceeded
		}
		<-came
	}
	return answer.raw, answer.err
}

// editorDiagnostics are those that the editor shows for p, if it says. Most editors do
// not know which text their list is about: it is fresh only if its version is the one
// that the text has, and still is when the answer comes.
func (b *Bridge) editorDiagnostics(ctx context.Context, s *document.Snapshot, p workspace.Path) (language.Report, bool) {
	f, err := s.Read(p, "")
	if b.o.Ask == nil || err != nil {
		return language.Report{}, false
	}
	about := documentID{URI: p.URI()}
	if f.Buffer != nil {
		about = documentID{f.Buffer.URI, &f.Buffer.Version}
	}
	answer, err := b.put(ctx, "diagnostics", map[string]any{"textDocument": about}, b.editorPatience(p))
	if err != nil {
		return language.Report{}, false
	}
	raw, version, name := envelope(answer)
	if _, err := decodeDiagnostics(raw); err != nil {
		return language.Report{}, false
	}
	out := language.Report{Server: language.Server{Name: name, Status: language.Editor}, Freshness: language.Stale, Diagnostics: decoded(string(raw), f.Text, counts{encoding: utf16})}
	if version == nil {
		out.Hint = "the editor does not say which text its diagnostics are about"
		return out, true
	}
	out.Version = *version
	if now := b.bufferOf(p); f.Source == document.FromBuffer && now != nil && now.Version == *version && now.Text == f.Text {
		out.Freshness = language.Fresh
	}
	return out, true
}
