package lspbridge

import (
	"bytes"
	"encoding/json"

	"pillion/internal/fault"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// place is a Location or a LocationLink.
type place struct {
	URI       string         `json:"uri"`
	Range     document.Range `json:"range"`
	TargetURI string         `json:"targetUri"`
	Selection document.Range `json:"targetSelectionRange"`
}

// decodePlaces takes null, a Location, or a list of Locations or LocationLinks.
func decodePlaces(raw json.RawMessage) ([]place, error) {
	var places []place
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0, raw[0] == 'n':
		return nil, nil
	case raw[0] == '{':
		raw = append(append([]byte{'['}, raw...), ']')
	}
	if err := json.Unmarshal(raw, &places); err != nil {
		return nil, err
	}
	for i, p := range places {
		if p.TargetURI != "" {
			places[i] = place{URI: p.TargetURI, Range: p.Selection}
		}
	}
	return places, nil
}

// locations are places in our words. Ranges count in UTF-16 then.
func (b *Bridge) locations(s *document.Snapshot, places []place, e encoding) []language.Location {
	out := make([]language.Location, 0, len(places))
	for _, at := range places {
		l := language.Location{URI: at.URI, Range: at.Range}
		if p, ok := b.o.Documents.Workspace().FromURI(at.URI); ok {
			l.Path = p
			if e != utf16 {
				if text, err := s.ReadText(p); err == nil {
					l.Range = e.oursRange(text, l.Range)
				}
			}
		}
		out = append(out, l)
	}
	return out
}

// garbled is an answer that is not what LSP has.
func garbled(name string, err error) error {
	return fault.New(fault.ExecutionFailed, "%s answered what cannot be read: %w", name, err).WithHint("%s", instead)
}
