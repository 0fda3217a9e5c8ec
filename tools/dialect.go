package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"pillion/internal/fault"
	"pillion/tools/dialects"
	"pillion/tools/found"
	"pillion/tools/schema"
	"pillion/tools/session"
)

// Execute is the one door. Whatever side a call comes from, and whatever its session
// calls the tools, it is found, decoded, planned, judged, approved if need be, checked
// once more, and done behind it. It never fails as such: what went wrong is in the result.
func (r *Registry) Execute(ctx context.Context, c Call) Result {
	d, _ := dialects.Find(c.Session.Dialect())
	if d == nil {
		result, _ := r.execute(ctx, c)
		return result
	}
	call := r.translate(ctx, d, &c)
	result, summary := r.execute(ctx, c)
	return translated(d, call, result, dialects.Outcome{Summary: summary, Wrapped: c.Wrapped})
}

// translate makes a dialect's call the canonical one. A tool that was found has its own
// name and arguments in every dialect.
func (r *Registry) translate(ctx context.Context, d *dialects.Dialect, c *Call) dialects.Call {
	t := d.Tool(c.Name)
	if t == nil && catalogue[canonical(c.Name)].Name == "" {
		if r.resolve(ctx, c); c.tool.Name != "" || c.refused != nil {
			return d.Found(c.Name)
		}
	}
	if t == nil {
		c.refused = fault.New(fault.ToolNotFound, "unknown tool: %s", quoteName(c.Name)).WithHint("tools/list lists the tools")
		return dialects.Call{}
	}
	call, err := t.Call(func(into any) error { return schema.Decode(schemaOf(t.Arguments), c.Arguments, into) })
	c.Name, c.refused = call.Name, err
	if err == nil {
		c.Arguments = call.Arguments
	}
	return call
}

// translated is a result in a dialect.
func translated(d *dialects.Dialect, call dialects.Call, result Result, o dialects.Outcome) Result {
	o.Fields, o.Err = result.Structured, result.Err
	for _, p := range result.Content {
		o.Content = append(o.Content, dialects.Part{Type: p.Type, Text: p.Text, MIMEType: p.MIMEType, Data: p.Data})
	}
	if shown := result.Display; shown != nil {
		o.Markdown = shown.Text
		if len(shown.Files) == 1 {
			f := shown.Files[0]
			o.Diff = &dialects.Diff{Name: f.Path, Diff: f.Diff, Before: f.FilePreview.Before, After: f.FilePreview.After}
		}
	}
	object, content := d.Answer(call, o)
	out := Result{Structured: mustMarshal(object), IsError: result.IsError, Display: result.Display, Err: result.Err}
	for _, p := range content {
		out.Content = append(out.Content, Part{Type: p.Type, Text: p.Text, MIMEType: p.MIMEType, Data: p.Data})
	}
	return out
}

// CheckDialect says whether there is such a dialect.
func CheckDialect(name string) error {
	if _, known := dialects.Find(name); !known {
		return fmt.Errorf("unknown dialect %s: use pillion, %s", fault.Quote(name), strings.Join(dialects.Names(), " or "))
	}
	return nil
}

// DefinitionsIn are the tools that are on for a session, in a dialect; empty is the
// session's own. Allowed may have the dialect's names, or the canonical ones.
func (r *Registry) DefinitionsIn(dialect string, owner *session.Session, allowed []string) []Definition {
	out, _ := r.NotedIn(dialect, owner, allowed)
	return out
}

// NotedIn is DefinitionsIn, with notes on what other programs offer and was refused.
func (r *Registry) NotedIn(dialect string, owner *session.Session, allowed []string) ([]Definition, []found.Note) {
	more, notes := r.foundDefinitions(allowed)
	settings := r.Settings()
	all := append(DialectDefinitions(cmp.Or(dialect, owner.Dialect()), allowed), more...)
	all = slices.DeleteFunc(all, func(d Definition) bool {
		return settings.off(owner, d.canonical) != nil
	})
	if settings.Limits.CodeLab {
		for i := range all {
			all[i].InputSchema = codeLabSchema(all[i].InputSchema)
		}
	}
	return all, notes
}

// DialectDefinitions are the tools of a dialect, all of them or those that are named in
// allowed.
func DialectDefinitions(dialect string, allowed []string) []Definition {
	d, _ := dialects.Find(dialect)
	if d == nil {
		return (&Registry{}).DefinitionsFiltered(allowed)
	}
	out := []Definition{}
	for _, t := range d.Tools {
		if allowed == nil || slices.Contains(allowed, t.Name) || slices.Contains(allowed, t.Canonical) {
			out = append(out, definitionOf(t))
		}
	}
	return out
}

func definitionOf(t dialects.Tool) Definition {
	own := catalogue[t.Canonical].Definition()
	own.Name, own.Title, own.Description = t.Name, t.Title, t.Description
	own.InputSchema = mustMarshal(schemaOf(t.Arguments))
	own.results = func() json.RawMessage { return mustMarshal(schemaOf(t.Result)) }
	return own
}

var dialectSchemas sync.Map // by reflect.Type

// schemaOf is schema.Of, once for each type.
func schemaOf(of reflect.Type) *jsonschema.Schema {
	if s, ok := dialectSchemas.Load(of); ok {
		return s.(*jsonschema.Schema)
	}
	s, _ := dialectSchemas.LoadOrStore(of, schema.Of(of))
	return s.(*jsonschema.Schema)
}
