package lspbridge

import (
	"bytes"
	"encoding/json"
	"errors"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// location is a Location or a LocationLink.
type location struct {
	URI       string         `json:"uri"`
	Range     document.Range `json:"range"`
	TargetURI string         `json:"targetUri"`
	Selection document.Range `json:"targetSelectionRange"`
}

// decodeLocations takes null, a Location, or a list of Locations or LocationLinks.
func decodeLocations(raw json.RawMessage) ([]location, error) {
	var found []location
	switch raw = bytes.TrimSpace(raw); {
	case isNull(raw):
		return nil, nil
	case raw[0] == '{':
		raw = append(append([]byte{'['}, raw...), ']')
	}
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, err
	}
	for i, p := range found {
		if p.TargetURI != "" {
			found[i] = location{URI: p.TargetURI, Range: p.Selection}
		}
		if found[i].URI == "" {
			return nil, errors.New("a location without a uri")
		}
	}
	return found, nil
}

func fitsLocations(raw json.RawMessage) error {
	_, err := decodeLocations(raw)
	return err
}

// reader turns locations in files, as somebody counts them, into ours. It reads a file
// only where that needs its text, and once.
type reader struct {
	bridge   *Bridge
	snapshot *document.Snapshot
	asked    workspace.Path // the file that the question was about
	encoding encoding
	from     *client           // nil: the editor answered
	outside  map[string]string // texts of files outside the workspace, by URI
}

func (r reply) reader(b *Bridge, s *document.Snapshot, asked workspace.Path) *reader {
	return &reader{bridge: b, snapshot: s, asked: asked, encoding: r.encoding, from: r.from, outside: map[string]string{}}
}

func (r *reader) locations(found []location) []language.Location {
	out := make([]language.Location, 0, len(found))
	for _, at := range found {
		out = append(out, r.location(at.URI, at.Range))
	}
	return out
}

// location is a place in our words. Where it lies outside the workspace it shows what
// stands there.
func (r *reader) location(uri string, in document.Range) language.Location {
	l := language.Location{URI: uri, Range: in}
	if p, ok := r.path(uri); ok {
		l.Path = p
		if r.encoding != utf16 {
			if text, err := r.snapshot.ReadText(p); err == nil {
				l.Range = r.encoding.oursRange(text, in)
			}
		}
		return l
	}
	text, read := r.outside[uri]
	if !read {
		text = r.textOutside(uri)
		r.outside[uri] = text
	}
	if text != "" {
		l.Range = r.encoding.oursRange(text, in)
		l.Excerpt = excerpt(text, l.Range)
	}
	return l
}

// path is the place in the workspace that a server means.
func (r *reader) path(uri string) (workspace.Path, bool) {
	return r.bridge.o.Documents.Workspace().FromURI(uri)
}

// garbled is an answer that is not what LSP has.
func garbled(by language.Server, err error) error {
	return fault.New(fault.ExecutionFailed, "%s answered what cannot be read: %w", by.Name, err).WithHint("%s", instead)
}
