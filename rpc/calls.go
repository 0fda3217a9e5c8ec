package rpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/session"
)

// callParams is tools/call, and tools/approval with fewer fields.
type callParams struct {
	Name             string          `json:"name"`
	Arguments        json.RawMessage `json:"arguments"`
	CallID           string          `json:"callId"`
	SessionID        string          `json:"sessionId"`
	RequiresApproval bool            `json:"requiresApproval"`
	TimeoutSeconds   float64         `json:"timeoutSeconds"`
	WorkDoneToken    json.RawMessage `json:"workDoneToken"`
	Format           string          `json:"format"`
	// Of an agent whose calls another sidecar passes on; see tools.Call.
	PageBytes  int `json:"pageBytes"`
	RangeBytes int `json:"rangeBytes"`
}

func (s *server) toolsCall(ctx context.Context, p callParams) (any, error) {
	call, err := s.call(p)
	if err != nil {
		return nil, err
	}
	ctx, done := s.progress.cancellable(ctx, string(p.WorkDoneToken))
	defer done()
	result := s.running().Registry.Execute(ctx, call)
	if result.Cancelled() && ctx.Err() != nil {
		return nil, wire.Errorf(wire.CodeRequestCancelled, "the call was cancelled")
	}
	return wire.Raw(bytes.Join(result.Pieces(), nil)), nil
}

func (s *server) toolsApproval(ctx context.Context, p callParams) (any, error) {
	call, err := s.call(p)
	if err != nil {
		return nil, err
	}
	return s.running().Registry.ApprovalRequest(ctx, call), nil
}

// call is the call that params mean, in its session.
func (s *server) call(p callParams) (tools.Call, error) {
	switch {
	case p.Name == "":
		return tools.Call{}, wire.Errorf(wire.CodeInvalidParams, "name is missing: give the tool to call")
	case p.TimeoutSeconds < 0 || p.TimeoutSeconds > maxTimeout.Seconds():
		return tools.Call{}, wire.Errorf(wire.CodeInvalidParams, "timeoutSeconds must be between 0 and %g", maxTimeout.Seconds())
	case p.Format != "" && p.Format != "pillion" && p.Format != "gemini":
		return tools.Call{}, wire.Errorf(wire.CodeInvalidParams, "unknown format %q; use pillion or gemini", p.Format)
	}
	owner, err := s.session(p.SessionID)
	if err != nil {
		return tools.Call{}, err
	}
	call := tools.Call{
		Name: p.Name, Arguments: p.Arguments, CallID: p.CallID, Session: owner,
		RequiresApproval: p.RequiresApproval, Timeout: time.Duration(p.TimeoutSeconds * float64(time.Second)),
		Wrapped: p.Format == "gemini", PageBytes: max(0, p.PageBytes), RangeBytes: max(0, p.RangeBytes),
	}
	if len(p.WorkDoneToken) > 0 {
		call.Output = func(stream, text string) {
			s.conn.Progress(p.WorkDoneToken, wire.TextChunk{Stream: stream, Text: text}, "") //nolint:errcheck // the result carries the output too
		}
		call.Stream = func(ctx context.Context, c tools.Chunk) error {
			defer wire.Waiting(ctx)()
			for {
				if err := s.conn.Writable(ctx); err != nil {
					return err
				}
				if err := s.conn.Progress(p.WorkDoneToken, contentChunk{"report", c}, ""); !errors.Is(err, wire.ErrBacklog) {
					return err
				}
			}
		}
	}
	return call, nil
}

// contentChunk is a piece of a file as the value of $/progress.
type contentChunk struct {
	Kind string `json:"kind"`
	tools.Chunk
}

// maxTimeout is the longest that the contract lets any call run.
const maxTimeout = 600 * time.Second

// EditorSession is the id of the session of calls that name none.
const EditorSession = session.Editors

// session gives the session of a call; an unknown id opens one. Who names none may be
// anybody: rules that were remembered in an earlier life of the editor are not for them.
func (s *server) session(id string) (*session.Session, error) {
	owner, created, err := s.running().Sessions.Open(cmp.Or(id, EditorSession), session.Agent{Name: s.clientName(), Via: "editor"}, "")
	if err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "sessionId: %v", err)
	}
	if created && id == "" {
		owner.DropGrants()
	}
	return owner, nil
}

// lister is the session that a list is for. It opens none.
func (s *server) lister(id string) *session.Session {
	id = cmp.Or(id, EditorSession)
	if owner, open := s.running().Sessions.Get(id); open {
		return owner
	}
	return session.New(id, session.Agent{Name: s.clientName(), Via: "editor"}, "")
}

type toolsListParams struct {
	Dialect   string   `json:"dialect"`
	SessionID string   `json:"sessionId"`
	Allowed   []string `json:"allowed"`
	Format    string   `json:"format"`
	Refresh   bool     `json:"refresh"`
}

// toolsList gives the catalogue, all of it or what is allowed, in the format
// that the caller wants.
func (s *server) toolsList(_ context.Context, p toolsListParams) (any, error) {
	if err := tools.CheckDialect(p.Dialect); err != nil {
		return nil, invalid(err)
	}
	if p.Refresh {
		s.running().Registry.Found.Refresh()
	}
	definitions, notes := s.running().Registry.NotedIn(p.Dialect, s.lister(p.SessionID), p.Allowed)
	if p.Format == "page" {
		return map[string]any{"text": tools.Listing(definitions, notes)}, nil
	}
	definitions = tools.WithResults(definitions)
	format, ok := formats[p.Format]
	if !ok {
		return nil, wire.Errorf(wire.CodeInvalidParams, "unknown format %q; use pillion, mcp, openai, gemini or page", p.Format)
	}
	list := make([]any, 0, len(definitions))
	for _, d := range definitions {
		list = append(list, format(d))
	}
	out := map[string]any{"tools": list}
	if len(notes) > 0 {
		out["notes"] = notes
	}
	return out, nil
}

// formats are the shapes in which model programs take tool definitions. All but
// our own allow no dots in names.
var formats = map[string]func(tools.Definition) any{
	"":        func(d tools.Definition) any { return d },
	"pillion": func(d tools.Definition) any { return d },
	"mcp": func(d tools.Definition) any {
		return map[string]any{
			"name": plainName(d.Name), "title": d.Title, "description": d.Description,
			"inputSchema": d.InputSchema, "outputSchema": d.OutputSchema, "annotations": d.Annotations,
		}
	},
	"openai": func(d tools.Definition) any {
		return map[string]any{"type": "function", "function": map[string]any{
			"name": plainName(d.Name), "description": d.Description, "parameters": d.InputSchema,
		}}
	},
	"gemini": func(d tools.Definition) any {
		return map[string]any{"name": plainName(d.Name), "description": d.Description, "parametersJsonSchema": d.InputSchema}
	},
}

func plainName(name string) string { return strings.ReplaceAll(name, ".", "_") }

func (s *server) relayInfo(context.Context, json.RawMessage) (any, error) {
	socket, token := s.running().Relay()
	if socket == "" {
		return nil, wire.Errorf(wire.CodeRequestFailed, "agents cannot connect: the socket could not be made, see the log")
	}
	return map[string]string{"socket": socket, "token": token}, nil
}
