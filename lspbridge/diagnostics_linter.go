package lspbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"pillion/workspace/language"
)

// linterMissing says what to do about a server whose linter is not there: it runs, and
// says that all is well. The answer is "" if the linter is there or none is needed.
func (s *server) linterMissing() string {
	name := s.spec.Linter
	if name == "" {
		return ""
	}
	if s.spec.LinterSetting != "" {
		var set *string
		if json.Unmarshal(section(s.spec.Settings, s.spec.LinterSetting), &set) == nil && set != nil {
			name = *set
		}
	}
	if name != "" && s.finds(name) {
		return ""
	}
	return fmt.Sprintf("%s finds faults with %s, which is not installed: %s", s.spec.Name, s.spec.Linter, s.spec.LinterInstall)
}

// finds looks for a program where the server will.
func (s *server) finds(name string) bool {
	path, cut := s.spec.Env["PATH"]
	if filepath.Base(name) != name {
		return runs(name)
	}
	if !cut {
		_, err := s.bridge.o.LookPath(name)
		return err == nil
	}
	return slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool { return runs(filepath.Join(dir, name)) })
}

func runs(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows")
}

// linterCheck is what came of showing a server a text with a fault, see Server.Faulty.
type linterCheck struct {
	answered chan struct{}
	once     sync.Once
	found    bool // once it is answered
}

// faulty is the URI of that text, which is no file.
func (c *client) faulty() string { return c.server.root.URI() + "/.pillion-linter-check" }

// showFault opens the text with a fault.
func (c *client) showFault() error {
	spec := c.server.spec
	if spec.Faulty == "" {
		return nil
	}
	return c.notify("textDocument/didOpen", &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{
		URI: uri.URI(c.faulty()), LanguageID: protocol.LanguageKind(spec.Languages[0]), Version: 1, Text: spec.Faulty,
	}})
}

// aboutFault takes what the server reports of the text with a fault.
func (c *client) aboutFault(about string, diagnostics json.RawMessage) bool {
	if about != c.faulty() {
		return false
	}
	c.linter.once.Do(func() {
		c.linter.found = string(bytes.TrimSpace(diagnostics)) != "[]"
		close(c.linter.answered)
		_ = c.notify("textDocument/didClose", &protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: uri.URI(about)}})
	})
	return true
}

// clean is what a report without a fault is worth.
func (c *client) clean(ctx context.Context) language.Freshness {
	if c.server.spec.Faulty == "" {
		return language.Fresh
	}
	select {
	case <-c.linter.answered:
	case <-c.ended:
		return language.Interrupted
	case <-ctx.Done():
		return language.TimedOut
	}
	if !c.linter.found {
		return language.LinterMissing
	}
	return language.Fresh
}
