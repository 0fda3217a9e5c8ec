package mcp

import (
	"bytes"
	"encoding/json"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/relay"
)

// A revision of the protocol is named by its day. Nothing of a newer one goes into the
// answers to a client of an older one; this file is where that is seen to.
const (
	revisionBatches    = "2025-03-26" // and tool annotations, audio, messages of progress
	revisionStructured = "2025-06-18" // structuredContent, titles; no batches any more
	newProtocol        = "2026-07-28" // no handshake, and no requests to the client
)

// fitParams makes the client ask for a revision that it can get: the SDK takes the one that
// was asked for as the one that is spoken.
func fitParams(p *sdk.InitializeParams) {
	known := slices.DeleteFunc(sdk.SupportedProtocolVersions(), func(v string) bool { return v >= newProtocol })
	if !slices.Contains(known, p.ProtocolVersion) {
		p.ProtocolVersion = slices.Max(known)
	}
}

func fitHello(r *sdk.InitializeResult) {
	if r.ProtocolVersion < revisionStructured && r.ServerInfo != nil {
		who := *r.ServerInfo
		who.Title = ""
		r.ServerInfo = &who
	}
}

// fitList gives the list of tools as the revision has it.
func fitList(revision string, tools []listed) (sdk.Result, error) {
	if revision >= newProtocol {
		r := &sdk.ListToolsResult{}
		r.CacheScope = "private" // another client may be in another folder
		for _, t := range tools {
			r.Tools = append(r.Tools, t.sdk())
		}
		return r, nil
	}
	for i := range tools {
		if revision < revisionStructured {
			tools[i].Title = ""
		}
		if revision < revisionBatches {
			tools[i].Annotations = nil
		}
	}
	body, err := json.Marshal(map[string]any{"tools": tools})
	return &rawResult{body: body}, err
}

// fitResult gives the result of a call as the revision has it.
func fitResult(revision string, r relay.Result) relay.Result {
	if revision >= revisionStructured {
		return r
	}
	var result struct {
		Content []json.RawMessage `json:"content"`
		IsError bool              `json:"isError,omitempty"`
	}
	if json.Unmarshal(r.Bytes(), &result) != nil {
		return r
	}
	if revision < revisionBatches {
		for i, part := range result.Content {
			if bytes.Contains(part, []byte(`"type":"audio"`)) { // in a text its quotes would be escaped
				result.Content[i] = []byte(`{"type":"text","text":"(audio, which this revision of MCP cannot carry)"}`)
			}
		}
	}
	fitted, err := json.Marshal(result)
	if err != nil {
		return r
	}
	return relay.Result{fitted}
}
