package tools_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pillion/tools"
	_ "pillion/tools/all"
	"pillion/tools/policy"
)

// TestCatalogue holds what belongs to a tool together: its Go file, its value in
// the registry, its scenarios, its snapshot and its chapter in the documentation.
// Adding a tool is adding these; nothing else lists them.
func TestCatalogue(t *testing.T) {
	var registered []string
	for _, d := range (&tools.Registry{}).Definitions() {
		registered = append(registered, stem(d.Name))
	}
	if !slices.IsSorted(registered) || len(registered) == 0 {
		t.Errorf("the registry's order varies or it is empty: %v", registered)
	}
	for what, got := range map[string][]string{
		"Go files that define a tool":            definingFiles(t),
		"scenario files in testdata":             scenarioFiles(t),
		"snapshots in testdata/schema":           names(t, "testdata/schema/*.json", ".json"),
		"chapters in docs/tools.md with a table": documented(t),
	} {
		if !slices.Equal(got, registered) {
			t.Errorf("%s: %v\nbut the registry has: %v", what, got, registered)
		}
	}
}

func stem(tool string) string { return strings.ReplaceAll(tool, ".", "_") }

// definingFiles are the stems of the files that call Define, which must do it once each, for
// the tool of their name. A tool that is part of another is in no list.
func definingFiles(t *testing.T) []string {
	var out []string
	for _, file := range goFiles(t) {
		for _, found := range defined.FindAllStringSubmatch(read(t, file), -1) {
			name := strings.TrimSuffix(filepath.Base(file), ".go")
			if stem(found[1]) != name {
				t.Errorf("%s defines %s; a tool's file has its name", file, found[1])
			}
			if !strings.Contains(found[0], "PartOf:") {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// goFiles are those of this folder and of the folders in it, where the tools are by kind.
func goFiles(t *testing.T) []string {
	var out []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(pattern)
		must(t, err)
		out = append(out, found...)
	}
	return out
}

var defined = regexp.MustCompile(`(?s)= tools\.Define\(tools\.New\w+\(tools\.Spec\{\s+Name:\s+"([^"]+)".*?\n\}`)

// scenarioFiles are the tools' own; further ones, named TOOL_….txtar, are
// counted with their tool.
func scenarioFiles(t *testing.T) []string {
	var out []string
	tools := definingFiles(t)
	for _, name := range names(t, "testdata/*.txtar", ".txtar") {
		more := !slices.Contains(tools, name) && slices.ContainsFunc(out, func(tool string) bool { return strings.HasPrefix(name, tool+"_") })
		if !more { // apply_patch_review is a tool, and not more of apply_patch
			out = append(out, name)
		}
	}
	for _, name := range out {
		text := read(t, "testdata/"+name+".txtar")
		if failed := strings.Count(text, "\nerror "); failed == 0 || failed == strings.Count(text, "\n-- want --\n") {
			t.Errorf("testdata/%s.txtar has no success or no failure", name)
		}
	}
	return out
}

var chapter = regexp.MustCompile("(?m)^## `([^`]+)`\n(?:[^#]|#[^#])*?<!-- generated: arguments of ([^ ]+) -->")

func documented(t *testing.T) []string {
	var out []string
	for _, found := range chapter.FindAllStringSubmatch(read(t, "../docs/tools.md"), -1) {
		if found[1] != found[2] {
			t.Errorf("the chapter on %s has the table of %s", found[1], found[2])
		}
		out = append(out, stem(found[1]))
	}
	slices.Sort(out)
	return out
}

// names are the files of a pattern without folder and extension, in order.
func names(t *testing.T, pattern, extension string) []string {
	found, err := filepath.Glob(pattern)
	must(t, err)
	var out []string
	for _, name := range found {
		out = append(out, strings.TrimSuffix(filepath.Base(name), extension))
	}
	slices.Sort(out)
	return out
}

func read(t *testing.T, name string) string {
	data, err := os.ReadFile(name)
	must(t, err)
	return string(data)
}

// TestDefinitions holds what every model and editor relies on.
func TestDefinitions(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+)?$`)
	for _, d := range (&tools.Registry{}).Definitions() {
		switch {
		case !name.MatchString(d.Name):
			t.Errorf("%s: a name has small letters, digits and underscores", d.Name)
		case d.Title == "" || d.Description == "" || d.Access == "":
			t.Errorf("%s has no title, description or class", d.Name)
		case d.Annotations.ReadOnly && d.Annotations.Destructive:
			t.Errorf("%s is read-only and destructive at once", d.Name)
		}
		schema := string(d.InputSchema)
		if !strings.Contains(schema, `"additionalProperties":false`) {
			t.Errorf("%s takes unknown arguments: %s", d.Name, schema)
		}
		if regexp.MustCompile(`"type":\[`).MatchString(schema) {
			t.Errorf("%s has a list of types, which many models refuse: %s", d.Name, schema)
		}
	}
}

// TestWhichToolsRunCommands: package policy knows by name whose rules are about
// command lines, for it tries the examples of rules.
func TestWhichToolsRunCommands(t *testing.T) {
	for _, tool := range tools.Catalogue() {
		runs := tool.Access == policy.Exec && strings.Contains(string(tool.Definition().InputSchema), `"command":`)
		if runs != policy.RunsCommands(tool.Name) {
			t.Errorf("%s: it runs a command line: %v; policy.RunsCommands says %v", tool.Name, runs, !runs)
		}
	}
}
