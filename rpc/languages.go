package rpc

import (
	"context"
	"encoding/json"
	"fmt"
)

// Languages asks the language servers that the editor runs. The method is "definition",
// "hover", "references", "symbols" or "diagnostics"; params are LSP's, and so is the
// result, bare or as {result, version, server}. How long is waited is the context's.
type Languages func(ctx context.Context, method string, params any, result *json.RawMessage) error

// languages is nil for an editor that did not say that it answers.
func (s *server) languages(c client) Languages {
	if !c.Capabilities.LanguageFeatures {
		return nil
	}
	return s.askLanguages
}

// askLanguages names each method in full: the tables of the wire are made from that.
func (s *server) askLanguages(ctx context.Context, method string, params any, result *json.RawMessage) error {
	switch method {
	case "definition":
		return s.conn.Call(ctx, "editor/definition", params, result)
	case "diagnostics":
		return s.conn.Call(ctx, "editor/diagnostics", params, result)
	case "hover":
		return s.conn.Call(ctx, "editor/hover", params, result)
	case "references":
		return s.conn.Call(ctx, "editor/references", params, result)
	case "symbols":
		return s.conn.Call(ctx, "editor/symbols", params, result)
	}
	return fmt.Errorf("editors are not asked for %q", method)
}
