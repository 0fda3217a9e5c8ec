package lspbridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"pillion/workspace/document"
	"pillion/workspace/language"
)

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
