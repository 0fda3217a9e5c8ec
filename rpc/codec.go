package rpc

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"pillion/internal/wire"
)

// decodeLSP and encodeLSP are the only places where LSP's own types meet JSON:
// their unions need this library's codec, encoding/json gets them wrong.

func decodeLSP[P any](raw json.RawMessage) (P, error) {
	var p P
	if err := protocol.Unmarshal(raw, &p); err != nil {
		return p, wire.Errorf(wire.CodeInvalidParams, "the params do not fit: %v", err)
	}
	return p, nil
}

func encodeLSP(v any) (wire.Raw, error) {
	out, err := protocol.Marshal(v)
	return wire.Raw(out), err
}

// messageType is the severity of window/logMessage and showMessageRequest.
type messageType int

const (
	messageError   messageType = 1
	messageWarning messageType = 2
	messageInfo    messageType = 3
)

type logMessage struct {
	Type    messageType `json:"type"`
	Message string      `json:"message"`
}
