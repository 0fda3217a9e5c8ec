package lspbridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// ask asks the editor's servers first, whose user chose them and set them up, and our
// own where the editor has nothing to say. Settings turn that round.
func (b *Bridge) ask(ctx context.Context, s *document.Snapshot, p workspace.Path, q question) (reply, error) {
	if b.o.Ask == nil {
		return b.own(ctx, s, p, q)
	}
	if b.o.Settings(p.Top()).PreferOwn {
		own, err := b.own(ctx, s, p, q)
		if fault.CodeOf(err) == fault.LSPUnavailable {
			if theirs, ok := b.editors(ctx, s, p, q); ok {
				return theirs, nil
			}
		}
		return own, err
	}
	theirs, ok := b.editors(ctx, s, p, q)
	if ok && !isEmpty(theirs.result) {
		return theirs, nil
	}
	own, err := b.own(ctx, s, p, q)
	if ok && fault.CodeOf(err) == fault.LSPUnavailable && own.by.Status == language.NotInstalled {
		return theirs, nil // nobody knows better
	}
	return own, err
}

// editors asks the editor's own servers, and says if they answered.
func (b *Bridge) editors(ctx context.Context, s *document.Snapshot, p workspace.Path, q question) (reply, bool) {
	if b.o.Ask == nil || q.editor == "" || b.editorRests() {
		return reply{}, false
	}
	f, err := s.Read(p, "")
	if err != nil {
		return reply{}, false
	}
	uri := p.URI()
	if f.Buffer != nil {
		uri = f.Buffer.URI
	}
	as := counting{encoding: utf16, text: f.Text}
	if f.Buffer != nil {
		as.version = &f.Buffer.Version
	}
	result, by, err := b.askEditor(ctx, q.editor, q.params(uri, as), f.Buffer, b.editorPatience(p))
	if err != nil || q.fits(result) != nil {
		return reply{}, false
	}
	return reply{result: result, encoding: utf16, by: by}, true
}

var errOtherVersion = errors.New("the editor answered about another version")

// askEditor asks the editor once. The answer is LSP's result, bare or in an envelope
// that names the version of the document that it is about.
func (b *Bridge) askEditor(ctx context.Context, method string, params any, about *document.Buffer, patience time.Duration) (json.RawMessage, language.Server, error) {
	raw, err := b.put(ctx, method, params, patience)
	if err == nil && isNull(raw) {
		err = errors.New("the editor has no answer")
	}
	if err != nil {
		return nil, language.Server{}, err
	}
	result, version, name := envelope(raw)
	if version != nil && about != nil && *version != about.Version {
		return nil, language.Server{}, errOtherVersion
	}
	return result, language.Server{Name: name, Status: language.Editor}, nil
}

// editorAnswer is LSP's result with the document's version and the server's name. What
// is no result stands where LSP's diagnostic reports and pushed diagnostics have it, or
// under a name that an editor may give it.
type editorAnswer struct {
	Result      json.RawMessage `json:"result"`
	Version     *int32          `json:"version"`
	Server      string          `json:"server"`
	Items       json.RawMessage `json:"items,omitempty"`
	Diagnostics json.RawMessage `json:"diagnostics,omitempty"`
	Locations   json.RawMessage `json:"locations,omitempty"`
	Location    json.RawMessage `json:"location,omitempty"`
	References  json.RawMessage `json:"references,omitempty"`
	Symbols     json.RawMessage `json:"symbols,omitempty"`
	Hover       json.RawMessage `json:"hover,omitempty"`
}

// envelope takes an editorAnswer, or a bare result, among whose own members the version
// may stand too.
func envelope(raw json.RawMessage) (result json.RawMessage, version *int32, server string) {
	const nameless = "the editor's"
	var e editorAnswer
	if json.Unmarshal(raw, &e) != nil {
		return raw, nil, nameless
	}
	server = cmp.Or(e.Server, nameless)
	for _, inner := range []json.RawMessage{e.Result, e.Items, e.Diagnostics, e.Locations, e.Location, e.References, e.Symbols, e.Hover} {
		if inner == nil {
			continue
		}
		inner, version, _ := envelope(inner)
		return inner, cmp.Or(e.Version, version), server
	}
	return raw, e.Version, server
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || raw[0] == 'n'
}

// isEmpty: nothing was found, or nobody looked. An editor does not say which.
func isEmpty(raw json.RawMessage) bool {
	return isNull(raw) || string(bytes.TrimSpace(raw)) == "[]"
}
