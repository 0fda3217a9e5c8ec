package lspbridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// reports are what one life of a server was told of documents, and what it said is
// wrong in them. They only keep what happened; what of it is fresh says diagnostics_freshness.go.
type reports struct {
	debounce time.Duration // the server's, 0 if it is not known

	mu       sync.Mutex // guards all below
	of       map[workspace.Path]*report
	versions bool                 // it has named the version of a document
	notified time.Time            // when it was last told something that it may report on
	busy     map[string]time.Time // by the tokens of progress that has begun, when it was last heard of
}

// report is one document's.
type report struct {
	sum  uint64 // of the text that it has
	open bool
	sentText
	unreported []time.Time // when the server was told what it may still report on
	last       *published  // whatever it was about
	pulled     *pulled
	known      *knownList
	outdated   bool          // since the server was sent it, something else changed that it may depend on
	turned     chan struct{} // closed when anything of this changes
}

// published is one textDocument/publishDiagnostics.
type published struct {
	version *int32 // nil: the server did not say
	at      time.Time
	items   string // LSP's, as they came
}

// pulled is one answer to textDocument/diagnostic.
type pulled struct {
	since int32 // the text that it is about, by the first version that had it
	id    string
	published
}

// knownList is what was proven to be wrong in a text.
type knownList struct {
	sum     uint64 // of that text
	version int32
	at      time.Time
	list    []language.Diagnostic
}

// mostLint is how long a server may be at work on a text. What it has not reported by
// then it never will.
const mostLint = 30 * time.Second

func newReports(debounce time.Duration) *reports {
	return &reports{debounce: debounce, of: map[workspace.Path]*report{}, busy: map[string]time.Time{}}
}

// getLocked makes one if there is none.
func (r *reports) getLocked(p workspace.Path) *report {
	one := r.of[p]
	if one == nil {
		one = &report{turned: make(chan struct{})}
		r.of[p] = one
	}
	return one
}

// expect notes that the server may report on what it is told now.
func (one *report) expect(now time.Time) {
	one.forget(now)
	one.told = now
	one.unreported = append(one.unreported, now)
}

// forget drops what the server will not report on any more.
func (one *report) forget(now time.Time) {
	one.unreported = slices.DeleteFunc(one.unreported, func(t time.Time) bool { return now.Sub(t) > mostLint })
}

func (one *report) turn() {
	close(one.turned)
	one.turned = make(chan struct{})
}

// next is the version for a document that is opened. It counts on where it was open
// before, so that no late report is taken for one of the new text.
func (r *reports) next(p workspace.Path) int32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.getLocked(p).sent + 1
}

// sent notes a text before the server is told it. crowded says that the server may
// still be at work on what it was told earlier, and since when.
func (r *reports) sent(p workspace.Path, version int32, sum uint64) (at time.Time, crowded bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, now := r.getLocked(p), r.tickLocked()
	one.forget(now)
	if one.sum != sum || !one.open {
		one.sum, one.open = sum, true
		one.sentText = sentText{since: version, changed: now, old: len(one.unreported)}
		r.outdateLocked(one)
	} else {
		one.resent++
	}
	one.outdated = false
	crowded = r.isCrowdedLocked(one)
	one.sent = version
	one.expect(now)
	one.turn()
	return now, crowded
}

// tickLocked is now, for something that the server is told. It is later than the tick before
// also where the clock is coarse: passed goes by what came before what.
func (r *reports) tickLocked() time.Time {
	now := time.Now()
	if !now.After(r.notified) {
		now = r.notified.Add(1)
	}
	r.notified = now
	return now
}

// outdateLocked notes that something changed on which other documents may depend.
func (r *reports) outdateLocked(what *report) {
	for _, one := range r.of {
		one.outdated = one.outdated || one != what
	}
}

// takeOutdated says if what is known of a document may be over because something else
// changed. The next that the server is sent of it then counts as a new text.
func (r *reports) takeOutdated(p workspace.Path) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(p)
	if !one.outdated {
		return false
	}
	one.open, one.outdated = false, false
	return true
}

// expect notes that the server is told something else that has it look at p again; at
// and crowded are those of sent.
func (r *reports) expect(p workspace.Path) (at time.Time, crowded bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(p)
	crowded = r.isCrowdedLocked(one)
	at = r.tickLocked()
	one.expect(at)
	return at, crowded
}

// isCrowdedLocked says if the server may still be at work on what it was told earlier,
// and can show that it has put it off.
func (r *reports) isCrowdedLocked(one *report) bool {
	return len(one.unreported) > 0 && !r.versions && r.debounce > 0
}

// expectAll is expect for every document.
func (r *reports) expectAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.tickLocked()
	r.outdateLocked(nil)
	for _, one := range r.of {
		if one.open {
			one.expect(now)
		}
	}
}

// closed notes that the server is told so. There are some that then report an empty
// list, at once.
func (r *reports) closed(p workspace.Path) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(p)
	one.unreported = append(one.unreported, r.tickLocked().Add(-r.debounce))
	one.open, one.came, one.last, one.pulled, one.known = false, nil, nil, nil, nil
	r.outdateLocked(one)
	one.turn()
}

// passed: the server has at this moment read what it was sent up to a time. If it waits
// before it looks at a text, and that time is not over, what it was told before the last
// has been put off and is not looked at any more.
func (r *reports) passed(p workspace.Path, sent, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(p)
	one.unreported = slices.DeleteFunc(one.unreported, func(t time.Time) bool {
		off := t.Before(sent) && now.Before(t.Add(r.debounce))
		if off && t.Before(one.changed) && one.old > 0 {
			one.old--
		}
		return off
	})
	one.turn()
}

// publish notes a report. Without a version it is one of those that were expected, and
// of the oldest that it can be: what is expected still is rather one too many.
func (r *reports) publish(p workspace.Path, version *int32, items string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.versions = r.versions || version != nil
	one, now := r.of[p], time.Now()
	if one == nil {
		return // it was never open; of those there may be any number
	}
	earlier := false // it is of an earlier text, if it can be
	if i := slices.IndexFunc(one.unreported, func(t time.Time) bool { return !now.Before(t.Add(r.debounce)) }); i >= 0 {
		earlier = one.unreported[i].Before(one.changed)
		one.unreported = slices.Delete(one.unreported, i, i+1)
	}
	if !one.open {
		return
	}
	it := published{version, now, items}
	one.last = &it
	if version == nil && now.Before(one.changed.Add(r.debounce)) {
		if earlier && one.old > 0 { // it cannot have begun on this text
			one.old--
		}
	} else {
		one.came = bounded(append(one.came, it))
	}
	one.turn()
}

// What is kept of the reports about one text.
const (
	mostCame  = 64
	mostItems = 4 << 20 // bytes of one; one that is larger proves nothing
)

// bounded drops the oldest of a flood.
func bounded(came []published) []published {
	size := 0
	for i, one := range slices.Backward(came) {
		if size += len(one.items); len(came)-i > mostCame || size > 2*mostItems {
			return slices.Clone(came[i+1:])
		}
	}
	return came
}

// published takes textDocument/publishDiagnostics. What cannot be read proves nothing.
func (c *client) published(params json.RawMessage) {
	var p struct {
		URI         string          `json:"uri"`
		Version     *int32          `json:"version"`
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if len(p.Diagnostics) > mostItems {
		c.server.note("its diagnostics are too many")
		return
	}
	if c.aboutFault(p.URI, p.Diagnostics) {
		return
	}
	path, ok := c.server.bridge.o.Documents.Workspace().FromURI(p.URI)
	if !ok {
		return
	}
	if _, err := decodeDiagnostics(p.Diagnostics); err != nil {
		c.server.note("its diagnostics cannot be read: " + err.Error())
		return
	}
	c.served.Store(true)
	c.reports.publish(target(path), p.Version, string(bytes.TrimSpace(p.Diagnostics)))
}

// progress takes $/progress: a server that says that it is at work is not done.
func (c *client) progress(params json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind string `json:"kind"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	r, token := c.reports, string(p.Token)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch p.Value.Kind {
	case "begin", "report":
		if len(r.busy) < mostBusy {
			r.busy[token] = time.Now()
		}
	case "end":
		delete(r.busy, token)
		for _, one := range r.of {
			one.turn()
		}
	}
}

// mostBusy bounds what is kept of a server that begins and never ends.
const mostBusy = 100

// isBusyLocked forgets what was not heard of for long.
func (r *reports) isBusyLocked() bool {
	for token, at := range r.busy {
		if time.Since(at) > mostLint {
			delete(r.busy, token)
		}
	}
	return len(r.busy) > 0
}

// refresh: the server has something new for those who ask.
func (c *client) refresh(json.RawMessage) (any, error) {
	r := c.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notified = time.Now()
	for _, one := range r.of {
		one.pulled = nil
		one.turn()
	}
	return nil, nil
}

// items is what the server said last of p, as it said it; "" if it did not.
func (r *reports) items(p workspace.Path) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(p)
	switch {
	case one.pulled != nil && (one.last == nil || one.pulled.at.After(one.last.at)):
		return []byte(one.pulled.items)
	case one.last != nil:
		return []byte(one.last.items)
	}
	return nil
}

// sentText is one text of a document, as the server was sent it.
type sentText struct {
	since, sent int32       // the versions of the document that have this text
	changed     time.Time   // when the server was sent it first
	told        time.Time   // and when last
	came        []published // reports since then, in their order
	old         int         // how many of the reports to come may be of an earlier text
	resent      int         // how often it was sent only to have it reported again
}

// evidence is what is known of one text of a document. freshness says what it proves.
type evidence struct {
	sentText
	// pull is the answer to a question about this text, nil if none was asked or answered.
	pull *published
	// versions: the server has named the version of a document, ever.
	versions bool
	// single: the server reports once for each text, and then all it has found.
	single bool
	// debounce is how long the server is known to wait before it looks at a text.
	debounce time.Duration
	// busy: it says that it is at work on something; notified, when it was last told
	// anything.
	busy     bool
	notified time.Time
}

// verdict is what evidence comes to.
type verdict struct {
	proof *published // what is wrong in the text, for certain; nil: not known
	// again is when to look again if nothing happens until then. resend: the server is to
	// be sent the same text once more, for what it has said cannot be told apart.
	again  time.Time
	resend bool
}

const (
	quietTime  = 250 * time.Millisecond // without another report from a server that may send several
	silentTime = 2 * time.Second        // without any
	mostResent = 4
)

// freshness is the one place that says whether a server's list is about a text. It is,
//
//   - if the server was asked for it and answered (pull): messages are read in order;
//   - if the report names a version that had the text;
//   - from a server that never names versions, if the report cannot be of an earlier
//     text. Each thing that the server is told causes at most one report. So of the
//     reports that come after a text at most as many are of an earlier one as were still
//     to come then (old), and one more that says the same proves it. After a pause that is
//     the first report; after quick edits too, if the server is known to debounce
//     (reports.passed). Otherwise it is told the text again.
//
// From a server that may send several reports for one text (syntax first), the last
// counts, once it is quiet and does not say that it is at work. That is as much as the
// protocol shows.
func freshness(e evidence, now time.Time) verdict {
	if e.pull != nil {
		return verdict{proof: e.pull}
	}
	proof, doubtful := e.proven()
	switch {
	case proof == nil:
		return e.unproven(doubtful, now)
	case e.single:
		return verdict{proof: proof}
	case e.busy:
		return verdict{}
	}
	quiet := proof.at
	if e.notified.After(quiet) {
		quiet = e.notified
	}
	if quiet = quiet.Add(quietTime); now.Before(quiet) {
		return verdict{again: quiet}
	}
	return verdict{proof: proof}
}

// unproven has the server told the text again when what it said leaves doubt, and once
// when it says nothing: there are servers that lose a text.
func (e evidence) unproven(doubtful bool, now time.Time) verdict {
	most, silent := 1, e.told.Add(e.debounce+silentTime)
	if doubtful {
		most = mostResent
	}
	switch {
	case e.resent >= most:
		return verdict{}
	case doubtful && e.came[len(e.came)-1].at.After(e.told), !now.Before(silent):
		return verdict{resend: true}
	}
	return verdict{again: silent}
}

// proven is the last report that is about the text for certain. If there is none, but
// one that may be, it is doubtful.
func (e evidence) proven() (proof *published, doubtful bool) {
	if e.versions {
		for i := len(e.came) - 1; i >= 0; i-- {
			if v := e.came[i].version; v != nil && *v >= e.since && *v <= e.sent {
				return &e.came[i], false
			}
		}
		return nil, false
	}
	if len(e.came) == 0 {
		return nil, false
	}
	last, same := &e.came[len(e.came)-1], 0
	for _, one := range e.came {
		if one.items == last.items {
			same++
		}
	}
	old := e.old
	if e.debounce == 0 {
		old = min(old, 1) // nobody looks at more than two texts at once
	}
	if same > old {
		return last, false
	}
	return nil, true
}

// diagnostic is LSP's Diagnostic, as far as we tell of it.
type diagnostic struct {
	Range    document.Range  `json:"range"`
	Severity int             `json:"severity"`
	Code     json.RawMessage `json:"code"`
	Source   string          `json:"source"`
	Message  string          `json:"message"`
}

// decodeDiagnostics takes a list, and nothing else: null is not the same as none.
func decodeDiagnostics(raw []byte) (list []diagnostic, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '[' {
		return nil, errors.New("it is no list")
	}
	err = json.Unmarshal(raw, &list)
	return list, err
}

// decoded is a list in our words. The text is what it is about.
func decoded(items, text string, as counts) []language.Diagnostic {
	list, err := decodeDiagnostics([]byte(items))
	if err != nil {
		return nil // it was looked at when it came
	}
	out := make([]language.Diagnostic, 0, len(list))
	ours := as.oursIn(text)
	for _, d := range list {
		out = append(out, language.Diagnostic{
			Range: ours(d), Severity: severity(d.Severity), Code: code(d.Code), Source: d.Source, Message: d.Message,
		})
	}
	return out
}

// severity is an error where the server does not say.
func severity(n int) language.Severity {
	if s := language.Severity(n); s >= language.Error && s <= language.Hint {
		return s
	}
	return language.Error
}

// code is a string or a json.Number, nil for anything else.
func code(raw json.RawMessage) any {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return text
	}
	var number json.Number
	if len(raw) > 0 && raw[0] != '"' && json.Unmarshal(raw, &number) == nil && number != "" {
		return number
	}
	return nil
}

// counts is how a server counts in its diagnostics.
type counts struct {
	encoding     encoding
	startInBytes []string // sources whose ranges start as if they counted in bytes
}

func (c *client) counts() counts { return counts{c.encoding, c.server.spec.StartInBytes} }

// oursIn converts ranges in a text to how we count. Its lines are found once.
func (n counts) oursIn(text string) func(diagnostic) document.Range {
	var lines []string
	ours := func(at document.Position, counted encoding) document.Position {
		if counted == utf16 {
			return at
		}
		if lines == nil {
			lines = document.Lines(text)
		}
		if int(at.Line) >= len(lines) {
			return at
		}
		on := convert(lines[at.Line], document.Position{Character: at.Character}, counted, utf16)
		return document.Position{Line: at.Line, Character: on.Character}
	}
	return func(d diagnostic) document.Range {
		starts := n.encoding
		if slices.Contains(n.startInBytes, d.Source) {
			starts = utf8Units
		}
		r := document.Range{Start: ours(d.Range.Start, starts), End: ours(d.Range.End, n.encoding)}
		if before(r.End, r.Start) {
			r.End = r.Start
		}
		return r
	}
}
