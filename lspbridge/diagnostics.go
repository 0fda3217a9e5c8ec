package lspbridge

import (
	"encoding/json"
	"sync"
	"time"

	"pillion/workspace"
)

// reports are what a server was told of documents, and what it said is wrong in them.
// They outlive its program.
type reports struct {
	mu sync.Mutex // guards all below
	of map[workspace.Path]*report
}

// report is one document's. What of it is fresh is decided in one place (freshness).
type report struct {
	sent    int32     // the version that the server was told last
	changed time.Time // when it was
	last    published
	came    chan struct{} // closed with the next publish
}

// published is one textDocument/publishDiagnostics.
type published struct {
	version *int32 // nil: the server did not say
	at      time.Time
	items   json.RawMessage // LSP's, as they came
}

func newReports() *reports { return &reports{of: map[workspace.Path]*report{}} }

// get makes one if there is none.
func (r *reports) getLocked(p workspace.Path) *report {
	one := r.of[p]
	if one == nil {
		one = &report{came: make(chan struct{})}
		r.of[p] = one
	}
	return one
}

// sent notes what the server is told, before it is.
func (r *reports) sent(p workspace.Path, version int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(p)
	one.sent, one.changed = version, time.Now()
}

// forget: the document is closed.
func (r *reports) forget(p workspace.Path) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, p)
}

// look is what is known of p now; came is closed when there is more.
func (r *reports) look(p workspace.Path) (now report, came <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(p)
	return *one, one.came
}

// published takes textDocument/publishDiagnostics.
func (c *client) published(params json.RawMessage) {
	var p struct {
		URI         string          `json:"uri"`
		Version     *int32          `json:"version"`
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	path, ok := c.server.bridge.o.Documents.Workspace().FromURI(p.URI)
	if !ok {
		return
	}
	r := c.server.reports
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.getLocked(target(path))
	one.last = published{version: p.Version, at: time.Now(), items: p.Diagnostics}
	close(one.came)
	one.came = make(chan struct{})
}

// refresh: the server wants to be asked for its diagnostics again.
func (c *client) refresh(json.RawMessage) (any, error) { return nil, nil }
