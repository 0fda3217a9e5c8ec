package page

import (
	"context"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pillion/internal/fault"
)

//go:embed static
var static embed.FS

// assets are the files of the page, by what stands behind the token.
var assets = map[string]struct{ file, kind string }{
	"":         {"static/page.html", "text/html; charset=utf-8"},
	"page.css": {"static/page.css", "text/css; charset=utf-8"},
	"page.js":  {"static/page.js", "text/javascript; charset=utf-8"},
}

// Bounds of what the browser may send, and of how long it may take.
const (
	maxHeader = 16 << 10 // bytes
	maxBody   = 64 << 10
	sendTime  = 10 * time.Second // for a request to arrive
	idleTime  = time.Minute      // between two
	pollTime  = 20 * time.Second // for which a question about what is new stays open
	endTime   = 3 * time.Second  // for browsers to hear that this is the end
)

// Open prints the page's address.
func (p *Page) Open(folder string) {
	p.update(func() { p.state.Folder = fault.Escape(folder) })
	fmt.Fprintf(p.o.Out, "Pillion watches %s\nOpen this address in a browser on this machine. Whoever has it can answer for you, so keep it to yourself.\n\n  %s\n\nCtrl+C ends this.\n",
		fault.Escape(folder), p.Address())
}

// Serve answers until ctx ends.
func (p *Page) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: p, ReadTimeout: sendTime, ReadHeaderTimeout: sendTime, WriteTimeout: pollTime + sendTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(p.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving the page: %w", err)
	case <-ctx.Done():
	}
	p.update(func() { p.state.Ended = true })
	last, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	p.waitForBrowsers(last)
	if server.Shutdown(last) != nil {
		_ = server.Close()
	}
	<-ended
	return nil
}

// ServeHTTP answers what comes by the page's own address, from the page itself. All
// else gets the same empty 404, whatever is wrong with it.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	name, ok := p.admit(r)
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch r.Method + " " + name {
	case "GET state":
		p.serveState(w, r)
	case "GET request":
		p.serveRequest(w, r.URL.Query().Get("id"))
	case "POST answer":
		p.takeAnswer(w, r)
	case "POST resume":
		p.resume()
		w.WriteHeader(http.StatusNoContent)
	default:
		asset, ok := assets[name]
		if !ok || r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		h.Set("Content-Type", asset.kind)
		text, _ := static.ReadFile(asset.file) //nolint:errcheck // it is embedded
		_, _ = w.Write(text)
	}
}

// admit checks the three things that another page, another user or a name that was
// made to lead here cannot have: the token, this very host, and of what changes
// something the page as its origin. It gives what stands behind the token.
func (p *Page) admit(r *http.Request) (name string, ok bool) {
	token, name, cut := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) != 1 || !cut:
		return "", false
	case r.Host != p.host:
		return "", false
	case r.Method == http.MethodGet:
		return name, true
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return name, err == nil && kind == "application/json" && r.Header.Get("Origin") == "http://"+p.host
}

// serveState answers when there is something newer than what the browser has.
func (p *Page) serveState(w http.ResponseWriter, r *http.Request) {
	known, err := strconv.Atoi(r.URL.Query().Get("after"))
	if err != nil {
		known = -1
	}
	over := time.NewTimer(pollTime)
	defer over.Stop()
	p.mu.Lock()
	p.due = max(0, p.due-1)
	p.wake()
	p.mu.Unlock()
	for waiting := true; ; {
		p.mu.Lock()
		now, changed := p.state, p.changed
		told := !waiting || now.Version != known || now.Ended
		if told && !now.Ended {
			p.due++
		}
		p.mu.Unlock()
		if told {
			writeJSON(w, http.StatusOK, now)
			return
		}
		select {
		case <-changed:
		case <-over.C:
			waiting = false
		case <-r.Context().Done():
			return
		}
	}
}

// waitForBrowsers waits for those that are between two questions about what is new.
func (p *Page) waitForBrowsers(ctx context.Context) {
	for {
		p.mu.Lock()
		due, changed := p.due, p.changed
		p.mu.Unlock()
		if due == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (p *Page) serveRequest(w http.ResponseWriter, id string) {
	p.mu.Lock()
	at := slices.IndexFunc(p.open, func(r *request) bool { return r.view.ID == id })
	var v view
	if at >= 0 {
		v = p.open[at].view
	}
	p.mu.Unlock()
	if at < 0 {
		writeJSON(w, http.StatusConflict, problem{errGone.Error()})
		return
	}
	writeJSON(w, http.StatusOK, v)
}

// problem is why nothing came of a request.
type problem struct {
	Error string `json:"error"`
}

func (p *Page) takeAnswer(w http.ResponseWriter, r *http.Request) {
	var given answer
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(&given)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		writeJSON(w, http.StatusRequestEntityTooLarge, problem{"the reason is too long"})
	case err != nil:
		writeJSON(w, http.StatusBadRequest, problem{"the answer cannot be read"})
	default:
		if err = p.give(given); err != nil {
			writeJSON(w, http.StatusConflict, problem{err.Error()})
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a browser that is gone asks again
}
