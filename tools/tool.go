// Package tools is what every call of an agent goes through: Registry.Execute (call.go) is
// the one door, from whichever side a call comes. It plans, decides, asks, and does.
//
// A tool is a value in a file of its own, in one of the folders of tools by their kind, and
// made by a constructor that names its access class. It plans and does not act: its plan is
// an Answer, an Edits (a change set) or an Action, made from a snapshot alone, and making
// it twice gives the same. Define puts it into the catalogue; whoever needs the tools
// imports tools/all.
//
// What tools of several kinds say in the same words stands here too, since these do not import
// each other: edited.go, folders.go, texts.go, diagnostics.go.
//
// Not here: the tools (tools/file, tools/git, …); wires (packages rpc and agents), writing files
// (workspace/change), starting processes (tools/process). Neither this package nor a tool's file
// touches any of these.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"pillion/internal/bug"
	"pillion/tools/policy"
	"pillion/tools/schema"
)

// Spec is what a tool says of itself.
type Spec struct {
	Name        string // as in the contract, dots included
	Title       string // for people: two or three words
	Description string // for the model: what it does, when to use it
	Idempotent  bool   // a second call with the same arguments changes nothing more
	OpenWorld   bool   // it reaches beyond the workspace
	Destructive bool   // what it changes may be lost
	Success     bool   // its results also say "success", as CodeLab's agents read it
	Results     []any  // structs of the fields that its results have, without a value
	// PartOf is the tool as a part of which it is called, for the agent that this one
	// started: it is in no list, and exists for no other agent.
	PartOf string
	// Restate gives the arguments, nil for those to leave out, with which a call would plan
	// exactly these edits. Nil: a change that the user made cannot be said in arguments.
	Restate func(e *Edits) map[string]any
}

// Tool is one thing that an agent may do.
type Tool struct {
	Spec
	Access policy.Access // the most that a call can do; its plan may say less

	// Made when they are first wanted: most of a sidecar's tools are not called.
	schema func() *jsonschema.Schema
	output func() json.RawMessage
	origin *Origin // of one that was found
	plan   func(ctx context.Context, in Input, raw json.RawMessage) (Plan, error)
}

// NewRead makes a tool that only looks.
func NewRead[A any](s Spec, plan func(context.Context, Input, A) (*Answer, error)) Tool {
	s.Idempotent = true
	return newTool(s, policy.Read, plan)
}

// NewEdit makes a tool that changes files.
func NewEdit[A any](s Spec, plan func(context.Context, Input, A) (*Edits, error)) Tool {
	return newTool(s, policy.Edit, plan)
}

// NewExec makes a tool that runs programs.
func NewExec[A any](s Spec, plan func(context.Context, Input, A) (*Action, error)) Tool {
	return newTool(s, policy.Exec, plan)
}

// NewNetwork makes a tool that reaches the network.
func NewNetwork[A any](s Spec, plan func(context.Context, Input, A) (*Action, error)) Tool {
	return newTool(s, policy.Network, plan)
}

// NewVCS makes a tool that changes a repository. A plan of it that only looks is an
// *Answer.
func NewVCS[A any](s Spec, plan func(context.Context, Input, A) (Plan, error)) Tool {
	return newTool(s, policy.VCS, plan)
}

// NewHuman makes a tool that is a dialog with the user.
func NewHuman[A any](s Spec, plan func(context.Context, Input, A) (*Action, error)) Tool {
	return newTool(s, policy.Human, plan)
}

// NewWatch makes a tool that looks at what goes on and may wait for it. It changes
// nothing, but cannot be planned from a snapshot.
func NewWatch[A any](s Spec, plan func(context.Context, Input, A) (*Action, error)) Tool {
	s.Idempotent = true
	return newTool(s, policy.Read, plan)
}

// NewSkill makes a tool that looks, and whose Action is judged as a policy.Skill.
func NewSkill[A any](s Spec, plan func(context.Context, Input, A) (Plan, error)) Tool {
	s.Idempotent = true
	return newTool(s, policy.Read, plan)
}

// NewSession makes a tool that touches nothing but what the session itself has.
func NewSession[A any](s Spec, plan func(context.Context, Input, A) (*Action, error)) Tool {
	return newTool(s, policy.Session, plan)
}

func newTool[A any, P Plan](s Spec, access policy.Access, plan func(context.Context, Input, A) (P, error)) Tool {
	reflected := sync.OnceValue(schema.For[A])
	output := sync.OnceValue(func() json.RawMessage { return mustMarshal(resultSchema(s, access)) })
	return Tool{Spec: s, Access: access, schema: reflected, output: output, plan: func(ctx context.Context, in Input, raw json.RawMessage) (Plan, error) {
		var args A
		if err := schema.Decode(reflected(), raw, &args); err != nil {
			return nil, err
		}
		p, err := plan(ctx, in, args)
		if err != nil {
			return nil, err
		}
		return p, nil
	}}
}

// catalogue is filled by the tools' own files as their packages start.
var catalogue = map[string]Tool{}

// Define puts a tool into the catalogue; each tool's file calls it once, at package level.
func Define(t Tool) Tool {
	if _, taken := catalogue[t.Name]; taken {
		panic(bug.Errorf("two tools are called %s", t.Name))
	}
	catalogue[t.Name] = t
	return t
}

// Catalogue is every tool that agents are offered, by name.
func Catalogue() []Tool {
	out := make([]Tool, 0, len(catalogue))
	for _, t := range catalogue {
		if t.PartOf == "" {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Definition is a tool as tools/list shows it.
type Definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	// OutputSchema is of structuredContent; see WithResults.
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Access       policy.Access   `json:"access"`
	Annotations  Annotations     `json:"annotations"`
	Source       *Origin         `json:"source,omitempty"` // nil: it is Pillion's own

	canonical string                 // Name, of a dialect's tool the name of what it is
	results   func() json.RawMessage // makes OutputSchema
}

// Annotations are MCP's hints. They follow from the access class.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Definition describes the tool for a model.
func (t Tool) Definition() Definition {
	readOnly := t.Access == policy.Read || t.Access == policy.Human
	return Definition{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: mustMarshal(t.schema()), Access: t.Access,
		Source: t.origin, canonical: t.Name, results: t.output,
		Annotations: Annotations{
			ReadOnly:    readOnly,
			Destructive: t.Destructive || t.Access == policy.Exec,
			Idempotent:  t.Idempotent,
			OpenWorld:   t.OpenWorld || t.Access == policy.Exec || t.Access == policy.Network,
		},
	}
}

// WithResults adds the schemas of results, for whoever gets more than their text.
func WithResults(definitions []Definition) []Definition {
	out := slices.Clone(definitions)
	for i := range out {
		if make := out[i].results; make != nil { // else it came over a wire
			out[i].OutputSchema = make()
		}
	}
	return out
}

func (t Tool) String() string { return fmt.Sprintf("%s (%s)", t.Name, t.Access) }
