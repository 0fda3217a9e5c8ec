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

// fit gives the answer to a request, but for calls, as the revision has it.
func fit(revision string, result sdk.Result) (sdk.Result, error) {
	switch r := result.(type) {
	case *sdk.InitializeResult:
		if revision < revisionStructured {
			who := *r.ServerInfo
			who.Title = ""
			r.ServerInfo = &who
		}
	case *rawResult:
		return result, nil
	}
	if revision >= newProtocol {
		return result, nil
	}
	body, err := json.Marshal(result)
	if err != nil || !bytes.Contains(body, []byte(`"ttlMs":`)) {
		return result, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	delete(members, "ttlMs")
	delete(members, "cacheScope")
	body, err = json.Marshal(members)
	return &rawResult{body: body}, err
}

// fitList gives the list of tools as the revision has it.
func fitList(revision string, list []listed) (sdk.Result, error) {
	for i := range list {
		if revision < revisionStructured {
			list[i].Title, list[i].OutputSchema = "", nil
		}
		if revision < revisionBatches {
			list[i].Annotations = nil
		}
	}
	result := map[string]any{"tools": list}
	if revision >= newProtocol {
		result["resultType"], result["ttlMs"], result["cacheScope"] = "complete", 0, "private" // another client may be in another folder
	}
	body, err := json.Marshal(result)
	return &rawResult{body: body}, err
}

// fitResult gives the result of a call as the revision has it.
func fitResult(revision string, r relay.Result) relay.Result {
	if revision >= newProtocol {
		return markComplete(r)
	}
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

// markComplete says of a result that it is one, unless it says itself what it is.
func markComplete(r relay.Result) relay.Result {
	const mark = `{"resultType":`
	if len(r) == 0 || len(r[0]) == 0 || bytes.HasPrefix(r[0], []byte(mark)) {
		return r
	}
	marked := slices.Clone(r)
	marked[0] = append([]byte(mark+`"complete",`), r[0][1:]...)
	return marked
}
