// Command generate writes what follows from the code: a snapshot of each tool's
// definition in tools/testdata/schema, the tables in docs between their markers,
// some sections of Neovim's help, and the plugins' table of characters that are shown as
// escapes; the prose around them is written by hand.
// `make generate` runs it.
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
	"strings"

	"pillion/tools"
	_ "pillion/tools/all"
)

func main() {
	root := flag.String("root", ".", "the project's `folder`")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

const schemaDir = "tools/testdata/schema"

// filled are the documents that have generated parts.
var filled = map[string]func(root string, doc []byte) ([]byte, error){
	"docs/tools.md":     marked(toolTable),
	"docs/settings.md":  marked(settingsTable),
	"docs/clients.md":   marked(clientsTable),
	"docs/languages.md": marked(serversTable),
	helpFile:            fillHelp,
}

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
	files := unseen()
	for _, d := range tools.WithResults((&tools.Registry{}).Definitions()) {
		snapshot, err := snapshot(d)
		if err != nil {
			return nil, err
		}
		files[schemaDir+"/"+stem(d.Name)+".json"] = snapshot
	}
	for name, fill := range filled {
		doc, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if files[name], err = fill(root, doc); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
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
