package tools

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace/change"
	"pillion/workspace/document"
)

// CodeLab is the preset "codelab": the strict reading of the contract. Its sizes and
// times are upper bounds, below which the settings still hold. Beyond them Limits.CodeLab
// asks for UTF-8 alone, relative paths alone, no folders that are made unasked, a clean
// work tree for patches, nothing that is larger than a whole file may be, and a question
// before each deed of codeLabAsks.
func CodeLab(l Limits) Limits {
	l.CodeLab, l.CleanPatches = true, true
	l.ReadBytes = min(l.ReadBytes, codeLabMB)
	l.WriteBytes = min(l.WriteBytes, codeLabMB)
	l.DiffBytes = min(l.DiffBytes, 5*codeLabMB)
	l.CallTime = min(l.CallTime, codeLabTime)
	l.CommandTime = min(l.CommandTime, codeLabTime)
	l.CommandMax = min(l.CommandMax, codeLabTime)
	return l
}

const (
	codeLabMB   = 1_000_000
	codeLabTime = 30 * time.Second
	codeLabPath = 255 // characters
	// CodeLabRate is how many calls of all kinds a session may make in a minute.
	CodeLabRate = 100
)

// alwaysAsks says whether this plan needs a yes that no mode and no rule can give.
func (p *pending) alwaysAsks() bool {
	itself := false
	switch plan := p.plan.(type) {
	case *Answer:
		return p.call.RequiresApproval
	case *Action:
		itself = plan.AlwaysAsk
	case *Edits:
		itself = plan.AlwaysAsk
	}
	return itself || p.call.RequiresApproval || p.settings.Limits.CodeLab && p.codeLabAsks()
}

// codeLabAsks says whether the preset asks before this plan, whatever the tool is
// called: one that changes files, runs something, or changes a repository.
func (p *pending) codeLabAsks() bool {
	switch plan := p.plan.(type) {
	case *Edits:
		return len(plan.Set.Files) > 0 || slices.ContainsFunc(plan.Set.Tree, func(c change.TreeChange) bool { return c.Operation != change.CreateDirectory })
	case *Action:
		return p.tool.Access == policy.Exec || p.tool.origin != nil || p.tool.Access == policy.VCS
	}
	return false
}

// checkArguments holds the arguments of any tool to the preset: its paths, which have
// the same names in all of them, and its encoding. What is no such thing is decoded, and
// refused, elsewhere.
func (l Limits) checkArguments(raw json.RawMessage) error {
	var args map[string]json.RawMessage
	if !l.CodeLab || json.Unmarshal(raw, &args) != nil {
		return nil
	}
	for _, key := range []string{"path", "from", "to", "cwd", "paths", "files"} {
		var one string
		many := []string{""}
		if json.Unmarshal(args[key], &one) == nil {
			many[0] = one
		} else if json.Unmarshal(args[key], &many) != nil {
			continue
		}
		for _, name := range many {
			if err := CheckCodeLabPath(name); err != nil {
				return err
			}
		}
	}
	var encoding string
	if json.Unmarshal(args["encoding"], &encoding) != nil || encoding == "" {
		return nil
	}
	if enc, err := document.LookupEncoding(encoding); err == nil && enc != document.UTF8 {
		return fault.New(fault.EncodingError, "encoding %s is refused: the settings (limits.preset) allow only UTF-8", fault.Quote(encoding)).
			WithHint("leave encoding out")
	}
	return nil
}

// CheckCodeLabPath refuses a path that the preset does not take: an absolute or a very long one.
func CheckCodeLabPath(name string) error {
	switch {
	case utf8.RuneCountInString(name) > codeLabPath:
		return fault.New(fault.InvalidPath, "the path is longer than %d characters", codeLabPath)
	case filepath.IsAbs(name) || strings.HasPrefix(name, "/"):
		return fault.New(fault.InvalidPath, "%s is an absolute path, and the settings (limits.preset) allow only relative ones", fault.Quote(name)).
			WithHint("name it relative to the workspace folder")
	}
	return nil
}

// advise replaces the hint of an error that names what the preset refuses.
func (l Limits) advise(err *fault.Error) *fault.Error {
	if !l.CodeLab || err == nil || err.Code != fault.EncodingError {
		return err
	}
	return err.WithHint("the settings (limits.preset) allow only UTF-8: ask the user to save the file as UTF-8")
}

// TooLarge refuses a part of a file that is too large as a whole.
func (l Limits) TooLarge(err error) error {
	if !l.CodeLab {
		return nil
	}
	return fault.From(err).WithHint("the settings (limits.preset) do not allow larger files; use search_in_project")
}

// codeLabSchema is the schema of arguments with the defaults that hold under the preset.
func codeLabSchema(raw json.RawMessage) json.RawMessage {
	var schema map[string]json.RawMessage
	var properties map[string]map[string]any
	if json.Unmarshal(raw, &schema) != nil || json.Unmarshal(schema["properties"], &properties) != nil {
		return raw
	}
	changed := false
	for name, value := range map[string]any{"encoding": string(document.UTF8), "create_dirs": false} {
		if property := properties[name]; property != nil {
			property["default"], changed = value, true
		}
	}
	if !changed {
		return raw
	}
	schema["properties"] = mustMarshal(properties)
	return mustMarshal(schema)
}
