package lspbridge

import (
	"encoding/json"

	"go.lsp.dev/protocol"
)

// capabilities is what we tell of ourselves, and nothing that is not so.
const capabilities = `{
"general":{"positionEncodings":["utf-16","utf-8","utf-32"]},
"workspace":{"configuration":true,"workspaceFolders":true,"didChangeConfiguration":{"dynamicRegistration":false},
 "didChangeWatchedFiles":{"dynamicRegistration":true,"relativePatternSupport":true},
 "symbol":{"symbolKind":{"valueSet":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]}},
 "workspaceEdit":{"documentChanges":true},"applyEdit":false},
"window":{"workDoneProgress":true,"showDocument":{"support":false}},
"textDocument":{
 "synchronization":{"dynamicRegistration":false,"didSave":true},
 "definition":{"dynamicRegistration":false,"linkSupport":true},
 "references":{"dynamicRegistration":false},
 "hover":{"dynamicRegistration":false,"contentFormat":["markdown","plaintext"]},
 "documentSymbol":{"dynamicRegistration":false,"hierarchicalDocumentSymbolSupport":true,
  "symbolKind":{"valueSet":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]}},
 "rename":{"dynamicRegistration":false,"prepareSupport":true},
 "codeAction":{"dynamicRegistration":false,"isPreferredSupport":true,"disabledSupport":true,"dataSupport":true,
  "resolveSupport":{"properties":["edit"]},
  "codeActionLiteralSupport":{"codeActionKind":{"valueSet":["","quickfix","refactor","refactor.extract","refactor.inline","refactor.rewrite","source","source.organizeImports","source.fixAll"]}}},
 "publishDiagnostics":{"relatedInformation":false,"versionSupport":true},
 "diagnostic":{"dynamicRegistration":true,"relatedDocumentSupport":false}}}`

// abilities are a server's capabilities, as far as we use them. protocol's type would
// refuse all of them for one that is not as LSP has it.
type abilities struct {
	PositionEncoding        encoding `json:"positionEncoding"`
	TextDocumentSync        syncing  `json:"textDocumentSync"`
	DefinitionProvider      ability  `json:"definitionProvider"`
	HoverProvider           ability  `json:"hoverProvider"`
	ReferencesProvider      ability  `json:"referencesProvider"`
	DocumentSymbolProvider  ability  `json:"documentSymbolProvider"`
	WorkspaceSymbolProvider ability  `json:"workspaceSymbolProvider"`
	RenameProvider          ability  `json:"renameProvider"`
	CodeActionProvider      ability  `json:"codeActionProvider"`
	DiagnosticProvider      ability  `json:"diagnosticProvider"`
}

// ability is a boolean, or an object of options.
type ability struct {
	offered bool
	options json.RawMessage
}

func (a *ability) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case 't':
		a.offered = true
	case '{':
		a.offered, a.options = true, append(json.RawMessage(nil), raw...)
	}
	return nil
}

// has looks for a boolean in the options.
func (a ability) has(name string) bool {
	var options map[string]json.RawMessage
	return json.Unmarshal(a.options, &options) == nil && string(options[name]) == "true"
}

// syncing is textDocumentSync: a number, or an object.
type syncing struct {
	Change protocol.TextDocumentSyncKind
	Save   bool
}

func (s *syncing) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		s.Save = true
		return json.Unmarshal(raw, &s.Change)
	}
	var options struct {
		Change protocol.TextDocumentSyncKind `json:"change"`
		Save   ability                       `json:"save"`
	}
	err := json.Unmarshal(raw, &options)
	s.Change, s.Save = options.Change, options.Save.offered
	return err
}

// text looks for a string in the options.
func (a ability) text(name string) (out string) {
	var options map[string]json.RawMessage
	if json.Unmarshal(a.options, &options) == nil {
		_ = json.Unmarshal(options[name], &out) //nolint:errcheck // then there is none
	}
	return out
}
