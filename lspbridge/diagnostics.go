package lspbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// reportTime is how long Diagnostics waits for a server, its start included.
const reportTime = 10 * time.Second

// Diagnostics are what is wrong in a file, and how certain that is. The error is for
// the case that there is nobody who could say anything.
func (b *Bridge) Diagnostics(ctx context.Context, s *document.Snapshot, p workspace.Path) (language.Report, error) {
	first := b.o.Settings(p.Top()).EditorDiagnostics
	if first {
		if theirs, ok := b.editorDiagnostics(ctx, s, p); ok {
			return theirs, nil
		}
	}
	own, err := b.ownDiagnostics(ctx, s, p)
	if !first && fault.CodeOf(err) == fault.LSPUnavailable {
		if theirs, ok := b.editorDiagnostics(ctx, s, p); ok {
			return theirs, nil // better than nothing, and it says how certain it is
		}
	}
	return own, err
}

func (b *Bridge) ownDiagnostics(ctx context.Context, s *document.Snapshot, p workspace.Path) (language.Report, error) {
	sv, err := b.serverOf(p)
	if err != nil {
		return language.Report{Server: nobody, Freshness: language.NoServer}, err
	}
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	return sv.diagnostics(ctx, s, p)
}

func (s *server) diagnostics(ctx context.Context, snap *document.Snapshot, p workspace.Path) (language.Report, error) {
	if hint := s.linterMissing(); hint != "" {
		if _, err := s.program(); err != nil {
			return s.reported(language.NoServer, ""), err
		}
		return s.reported(language.LinterMissing, hint), nil
	}
	c, err := s.use(ctx)
	if err != nil {
		return s.notUsable(ctx, err)
	}
	c.notifyWatched(ctx)
	t, err := c.syncText(snap, p)
	if errors.Is(err, errGone) {
		return s.diagnostics(ctx, snap, p)
	}
	if err != nil {
		return s.reported(language.NoServer, ""), err
	}
	ctx, cancel := c.wait(ctx, s.bridge.patience.question)
	defer cancel()
	k, state := c.await(ctx, t)
	out := s.reported(state, "")
	if state == language.LinterMissing {
		return s.reported(state, fmt.Sprintf("%s has no linter, so it finds nothing wrong: %s", s.spec.Name, s.spec.LinterInstall)), nil
	}
	if k != nil {
		out.Diagnostics, out.Version, out.Age = k.list, k.version, time.Since(k.at)
	}
	if state == language.Interrupted && out.Server.Status == language.Running {
		out.Server.Status = language.Restarting
	}
	return out, nil
}

func (s *server) reported(f language.Freshness, hint string) language.Report {
	return language.Report{Server: s.status(), Freshness: f, Hint: hint}
}

// notUsable: there is no server that runs now.
func (s *server) notUsable(ctx context.Context, err error) (language.Report, error) {
	out := s.reported(language.NoServer, "")
	switch out.Server.Status {
	case language.Restarting:
		out.Freshness = language.Interrupted
		return out, nil
	case language.Starting:
		if ctx.Err() == context.DeadlineExceeded { //nolint:errorlint // a context's error is one of two
			out.Freshness, out.Hint = language.TimedOut, fault.From(err).Hint
			return out, nil
		}
	case language.Running: // it hangs
		out.Freshness, out.Hint = language.TimedOut, err.Error()
		return out, nil
	case language.Editor, language.NotInstalled, language.Failed:
	}
	return out, err
}

// syncedText is a text of a document that a server has.
type syncedText struct {
	path  workspace.Path
	text  string
	sum   uint64
	since int32     // the first of the versions with this text
	asked time.Time // the server was, if it can be: what it answered before may be over, for other files change too
}

// syncText has the server know p as the snapshot has it.
func (c *client) syncText(s *document.Snapshot, p workspace.Path) (syncedText, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, text, err := c.syncLocked(s, p)
	if err != nil {
		return syncedText{}, err
	}
	if !c.pulls() {
		if err := c.settleLocked(d, text); err != nil {
			return syncedText{}, err
		}
	}
	c.reports.mu.Lock()
	defer c.reports.mu.Unlock()
	return syncedText{path: d.path, text: text, sum: d.sum, since: c.reports.getLocked(d.path).since}, nil
}

// settleLocked sends a text once more if what the server has sent about it may be over,
// because something else changed.
func (c *client) settleLocked(d *openDocument, text string) error {
	if c.server.spec.Alone || !c.reports.takeOutdated(d.path) {
		return nil
	}
	return c.resendLocked(d, text)
}

// resend sends a text once more, if the document still has it, and gives it as it is then.
func (c *client) resend(t syncedText, send func(d *openDocument, text string) error) syncedText {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.docs[t.path]
	if d == nil || d.sum != t.sum {
		return t
	}
	if err := send(d, t.text); err != nil {
		c.server.note(err.Error())
	}
	c.reports.mu.Lock()
	defer c.reports.mu.Unlock()
	t.since = c.reports.getLocked(t.path).since
	return t
}

// resendLocked sends the text that a document has as another version of it.
func (c *client) resendLocked(d *openDocument, text string) error {
	saved := d.saved == d.version
	d.version++
	if saved {
		d.saved = d.version
	}
	return c.didChange(d, text)
}

// await waits until it is known what is wrong in a text. If that does not come to be,
// the list is an older one, if there is any.
func (c *client) await(ctx context.Context, t syncedText) (*knownList, language.Freshness) {
	if c.pulls() {
		t.asked = time.Now()
		if !c.pull(ctx, t) { // what it has sent by itself may be from before something else changed
			t = c.resend(t, c.settleLocked)
		}
	}
	for {
		k, v, turned := c.look(t)
		if k != nil && len(k.list) > 0 {
			return k, language.Fresh
		}
		if k != nil {
			return k, c.clean(ctx)
		}
		if v == nil {
			return c.older(t), language.Stale // it has another text by now
		}
		if v.resend {
			t = c.resend(t, c.resendLocked)
			continue
		}
		if !c.pause(ctx, v.again, turned) {
			break
		}
	}
	return c.notKnown(ctx, t)
}

// notKnown is what is left when nobody waits any more, or the server has ended.
func (c *client) notKnown(ctx context.Context, t syncedText) (*knownList, language.Freshness) {
	if ctx.Err() == nil {
		return nil, language.Interrupted
	}
	c.probe()
	if k := c.older(t); k != nil {
		return k, language.Stale
	}
	return nil, language.TimedOut
}

// pause waits for a turn. It is false when there will be none, or nobody waits.
func (c *client) pause(ctx context.Context, again time.Time, turned <-chan struct{}) bool {
	var alarm <-chan time.Time
	if !again.IsZero() {
		timer := time.NewTimer(time.Until(again))
		defer timer.Stop()
		alarm = timer.C
	}
	select {
	case <-turned:
	case <-alarm:
	case <-c.ended:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// look is what is known of a text now. Without a verdict the document has another.
func (c *client) look(t syncedText) (*knownList, *verdict, <-chan struct{}) {
	r := c.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	one, now := r.getLocked(t.path), time.Now()
	if !one.open || one.sum != t.sum || one.since != t.since {
		return nil, nil, one.turned
	}
	if k := one.known; k != nil && k.sum == t.sum && one.pulled == nil && len(one.came) > 0 && k.at.Equal(one.came[len(one.came)-1].at) {
		return k, &verdict{}, one.turned
	}
	e := r.evidenceLocked(one, c.server.spec)
	if e.pull != nil && e.pull.at.Before(t.asked) {
		e.pull = nil
	}
	v := freshness(e, now)
	if v.proof == nil {
		return nil, &v, one.turned
	}
	one.known = &knownList{sum: t.sum, version: one.sent, at: v.proof.at, list: decoded(v.proof.items, t.text, c.counts())}
	return one.known, &v, one.turned
}

func (r *reports) evidenceLocked(one *report, spec Server) evidence {
	e := evidence{sentText: one.sentText, versions: r.versions, single: spec.Single, debounce: r.debounce, busy: r.isBusyLocked(), notified: r.notified}
	if one.pulled != nil && one.pulled.since == one.since {
		e.pull = &one.pulled.published
	}
	return e
}

// older is the last that was heard of a document, whatever text it was about.
func (c *client) older(t syncedText) *knownList {
	r := c.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(t.path)
	switch {
	case one.last != nil && (one.known == nil || one.last.at.After(one.known.at)):
		k := &knownList{at: one.last.at, list: decoded(one.last.items, t.text, c.counts())}
		if one.last.version != nil {
			k.version = *one.last.version
		}
		return k
	case one.known != nil:
		return one.known
	}
	return nil
}

// Prepare has the servers of paths started, and told of them, so that it is known soon
// what is wrong there. It does not wait: a server that runs is told now, so that the
// text is that of the snapshot; another one when it runs, and of the text then.
func (b *Bridge) Prepare(s *document.Snapshot, paths []workspace.Path) {
	for _, p := range paths {
		sv, err := b.serverSpeaking(languageIn(s, p), s.Real(p))
		if err != nil {
			continue
		}
		c := sv.warm()
		if c == nil && b.o.Ask != nil && b.o.Settings(p.Top()).EditorDiagnostics {
			continue // it is not needed as long as the editor answers
		}
		var t syncedText
		if c != nil {
			if t, err = c.syncText(s, p); err != nil {
				continue
			}
		}
		if !b.work() {
			return
		}
		go func() {
			defer b.running.Done()
			ctx, cancel := context.WithTimeout(b.ctx, startTime)
			defer cancel()
			if c == nil {
				c, t, err = sv.prepare(ctx, p)
			}
			if err == nil && sv.linterMissing() == "" {
				ctx, cancel := context.WithTimeout(ctx, reportTime)
				defer cancel()
				c.await(ctx, t)
			}
		}()
	}
}

// prepare starts the server, and tells it what p is then.
func (s *server) prepare(ctx context.Context, p workspace.Path) (*client, syncedText, error) {
	c, err := s.use(ctx)
	if err != nil {
		return nil, syncedText{}, err
	}
	t, err := c.syncText(s.bridge.o.Documents.Snapshot(warmLimit), p)
	return c, t, err
}

// notifyOf sends a text, and then sees to it that nothing that the server says about an
// earlier one is taken for this one's.
func (c *client) notifyOf(d *openDocument, text, method string, params any) error {
	at, crowded := c.reports.sent(d.path, d.version, sumOf(text))
	return c.notifyOfAt(d, at, crowded, method, params)
}

// notifyOfAt is telling, of what was noted at a time.
func (c *client) notifyOfAt(d *openDocument, at time.Time, crowded bool, method string, params any) error {
	if err := c.notify(method, params); err != nil || !crowded || c.server.spec.Barrier == "" || !c.server.bridge.work() {
		return err
	}
	ctx, cancel := context.WithTimeout(c.server.ctx, mostLint)
	wait, err := c.conn.Begin(ctx, c.server.spec.Barrier, map[string]any{"textDocument": documentID{URI: string(d.uri)}})
	go func() {
		defer c.server.bridge.running.Done()
		defer cancel()
		if err == nil {
			err = wait(nil)
		}
		var said *wire.Error
		if err == nil || errors.As(err, &said) { // an error of the server's is an answer too
			c.reports.passed(d.path, at, time.Now())
		}
	}()
	return nil
}

const pullMethod = "textDocument/diagnostic"

// pulls says if the server can be asked what is wrong.
func (c *client) pulls() bool {
	return c.offers.DiagnosticProvider.offered || c.watches.has(pullMethod) || c.server.spec.TypeScript
}

// pullAgain is how long to wait after a server gave up on a question because of a change.
const pullAgain = 50 * time.Millisecond

// pull asks what is wrong in a text, and notes the answer. Without one, what the server
// sends by itself has to do: there are servers that answer for some files alone.
func (c *client) pull(ctx context.Context, t syncedText) (answered bool) {
	for {
		had, wait, err := c.beginPull(ctx, t)
		if err != nil || wait == nil {
			return false
		}
		raw, err := wait()
		if err == nil {
			return c.pulledAnswer(t, had, raw)
		}
		if !changedMeanwhile(err) {
			var said *wire.Error
			if errors.As(err, &said) {
				c.server.note(pullMethod + ": " + said.Message)
			}
			return false
		}
		select {
		case <-time.After(pullAgain):
		case <-ctx.Done():
			return false
		}
	}
}

// beginPull asks, if the document still has that text. had is the answer that the
// server may refer to.
func (c *client) beginPull(ctx context.Context, t syncedText) (had *pulled, wait func() (json.RawMessage, error), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.docs[t.path]
	if d == nil || d.sum != t.sum {
		return nil, nil, nil
	}
	if c.server.spec.TypeScript {
		wait, err = c.beginTypeScript(ctx, string(d.uri))
		return nil, wait, err
	}
	params := map[string]any{"textDocument": documentID{URI: string(d.uri)}}
	if id := c.offers.DiagnosticProvider.text("identifier"); id != "" {
		params["identifier"] = id
	}
	c.reports.mu.Lock()
	had = c.reports.getLocked(t.path).pulled
	c.reports.mu.Unlock()
	if had != nil && had.id != "" {
		params["previousResultId"] = had.id
	}
	answer, err := c.request(ctx, pullMethod, params)
	return had, func() (raw json.RawMessage, err error) {
		err = answer(&raw)
		return raw, err
	}, err
}

// pulledAnswer notes an answer, unless it cannot be read, or the document was changed
// while it was made.
func (c *client) pulledAnswer(t syncedText, had *pulled, raw json.RawMessage) (noted bool) {
	var a struct {
		Kind     string          `json:"kind"`
		ResultID string          `json:"resultId"`
		Items    json.RawMessage `json:"items"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return false
	}
	items := string(bytes.TrimSpace(a.Items))
	if a.Kind == "unchanged" && had != nil && had.id != "" {
		items = had.items
	}
	if _, err := decodeDiagnostics([]byte(items)); err != nil {
		return false
	}
	r := c.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(t.path)
	if !one.open || one.since != t.since {
		return false
	}
	one.outdated = one.outdated && r.notified.After(t.asked)
	one.pulled = &pulled{since: t.since, id: a.ResultID, published: published{at: time.Now(), items: items}}
	one.turn()
	return true
}

// tsserverDiagnostics are the requests that make up what TypeScript finds in a file. They
// are answered when it is known, and in their turn.
var tsserverDiagnostics = []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"}

// tsDiagnostic is tsserver's. It counts lines and UTF-16 code units from 1.
type tsDiagnostic struct {
	Start    tsLocation      `json:"start"`
	End      tsLocation      `json:"end"`
	Text     string          `json:"text"`
	Code     json.RawMessage `json:"code"`
	Category string          `json:"category"`
	Source   string          `json:"source"`
}

type tsLocation struct {
	Line   uint32 `json:"line"`
	Offset uint32 `json:"offset"`
}

func (p tsLocation) ours() document.Position {
	return document.Position{Line: max(p.Line, 1) - 1, Character: max(p.Offset, 1) - 1}
}

// beginTypeScript asks the tsserver behind typescript-language-server. The answer is
// that of textDocument/diagnostic.
func (c *client) beginTypeScript(ctx context.Context, uri string) (func() (json.RawMessage, error), error) {
	var waits []func(any) error
	for _, command := range tsserverDiagnostics {
		wait, err := c.conn.Begin(ctx, "workspace/executeCommand", map[string]any{
			"command": "typescript.tsserverRequest", "arguments": []any{command, map[string]string{"file": uri}},
		})
		if err != nil {
			return nil, err
		}
		waits = append(waits, wait)
	}
	return func() (json.RawMessage, error) {
		items := []diagnostic{}
		for _, wait := range waits {
			var raw json.RawMessage
			if err := wait(&raw); err != nil {
				return nil, err
			}
			list, err := tsAnswer(raw)
			if err != nil {
				return nil, err
			}
			items = append(items, list...)
		}
		return json.Marshal(map[string]any{"kind": "full", "items": items})
	}, nil
}

// tsAnswer takes tsserver's response.
func tsAnswer(raw json.RawMessage) (out []diagnostic, err error) {
	var a struct {
		Success bool            `json:"success"`
		Body    *[]tsDiagnostic `json:"body"`
	}
	if err := json.Unmarshal(raw, &a); err != nil || !a.Success || a.Body == nil {
		return nil, fmt.Errorf("tsserver answered %s", clip(string(raw), 200))
	}
	for _, d := range *a.Body {
		one := diagnostic{Range: document.Range{Start: d.Start.ours(), End: d.End.ours()}, Severity: 1, Code: d.Code, Source: d.Source, Message: d.Text}
		switch d.Category {
		case "warning":
			one.Severity = 2
		case "message":
			one.Severity = 3
		case "suggestion":
			one.Severity = 4
		}
		if one.Source == "" {
			one.Source = "typescript"
		}
		out = append(out, one)
	}
	return out, nil
}
