// Command generate writes what follows from the catalogue of tools: a snapshot of
// each tool's definition in tools/testdata/schema, and the tables in docs/tools.md
// between their markers; the prose around them is written by hand. `make generate`
// runs it.
//
// Not here: the tables of the VS Code extension, which its own generator makes
// from `pillion tools --json`.
package main

//go:generate go run . -root ../..

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/tools"
)

func main() {
	root := flag.String("root", ".", "the project's `folder`")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

const (
	docsFile  = "docs/tools.md"
	schemaDir = "tools/testdata/schema"
)

func write(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	if err := removeOthers(root, files); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeOthers removes the snapshots of tools that there are no more.
func removeOthers(root string, files map[string][]byte) error {
	old, err := snapshots(root)
	for _, name := range old {
		if files[name] == nil {
			err = errors.Join(err, os.Remove(filepath.Join(root, filepath.FromSlash(name))))
		}
	}
	return err
}

func snapshots(root string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(schemaDir), "*.json"))
	for i, name := range found {
		found[i] = schemaDir + "/" + filepath.Base(name)
	}
	return found, err
}

// generate makes every generated file, by its name below root.
func generate(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, t := range tools.Catalogue() {
		snapshot, err := snapshot(t.Definition())
		if err != nil {
			return nil, err
		}
		files[schemaDir+"/"+stem(t.Name)+".json"] = snapshot
	}
	docs, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(docsFile)))
	if err != nil {
		return nil, err
	}
	files[docsFile], err = fill(docs, tools.Catalogue())
	return files, err
}

// stem is the name of a tool's files.
func stem(tool string) string { return strings.ReplaceAll(tool, ".", "_") }

func snapshot(d tools.Definition) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(d)
	return out.Bytes(), err
}

const (
	openMark  = "<!-- generated: "
	closeMark = "<!-- end of generated -->"
)

// fill puts the tables between the markers of a document.
func fill(doc []byte, catalogue []tools.Tool) ([]byte, error) {
	var out strings.Builder
	rest := string(doc)
	for {
		before, after, found := strings.Cut(rest, openMark)
		out.WriteString(before)
		if !found {
			return []byte(out.String()), nil
		}
		name, after, closed := strings.Cut(after, " -->\n")
		_, after, ended := strings.Cut(after, closeMark)
		if !closed || !ended {
			return nil, fmt.Errorf("%s: the marker %q has no %q", docsFile, openMark+name, closeMark)
		}
		table, err := table(name, catalogue)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", docsFile, err)
		}
		out.WriteString(openMark + name + " -->\n\n" + table + "\n" + closeMark)
		rest = after
	}
}

// table is what a marker stands for: "catalogue", or "arguments of TOOL".
func table(name string, catalogue []tools.Tool) (string, error) {
	if name == "catalogue" {
		return catalogueTable(catalogue), nil
	}
	tool, ok := strings.CutPrefix(name, "arguments of ")
	at := slices.IndexFunc(catalogue, func(t tools.Tool) bool { return t.Name == tool })
	if !ok || at < 0 {
		return "", fmt.Errorf("nothing is generated for the marker %q", name)
	}
	return argumentsTable(catalogue[at].Definition())
}

func catalogueTable(catalogue []tools.Tool) string {
	var out strings.Builder
	out.WriteString("| tool | class | what it is |\n|---|---|---|\n")
	for _, t := range catalogue {
		d := t.Definition()
		fmt.Fprintf(&out, "| [`%s`](#%s) | %s | %s |\n", d.Name, anchor(d.Name), d.Access, cell(firstSentence(d.Description)))
	}
	return out.String()
}

// anchor is the fragment that a heading `name` gets in rendered Markdown.
func anchor(name string) string { return strings.ReplaceAll(name, ".", "") }

func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
