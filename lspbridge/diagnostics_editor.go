package lspbridge

import (
	"context"

	"pillion/workspace"
	"pillion/workspace/document"
	"pillion/workspace/language"
)

// editorDiagnostics are those that the editor shows for p, if it says. Most editors do
// not know which text their list is about: it is fresh only if its version is the one
// that the text has, and still is when the answer comes.
func (b *Bridge) editorDiagnostics(ctx context.Context, s *document.Snapshot, p workspace.Path) (language.Report, bool) {
	if b.o.Ask == nil || b.editorRests() {
		return language.Report{}, false
	}
	f, err := s.Read(p, "")
	if err != nil {
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
