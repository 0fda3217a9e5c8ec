// Package clients reads what our two plugins do on the wire, out of their source.
// Read is the entry point. The generator writes it into docs/clients.md, and
// internal/house holds the two against each other: no capability may exist in one
// editor only.
//
// Not here: the wire itself, which is package rpc's.
package clients

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pillion/rpc"
)

// Places are where the source of a client stands, below the project's folder.
const (
	VSCodeSource   = "vscode-extension/src"
	NeovimSource   = "nvim-plugin/lua"
	vscodeProtocol = VSCodeSource + "/protocol.ts"
)

// Names are the methods that a client's own code names, each with the file that
// does.
type Names map[string]string

// Support is how a client has a method.
type Support string

const (
	None Support = "–"
	Own  Support = "yes" // its own code
	LSP  Support = "LSP" // the LSP client that it stands on
)

// Row is one method and who has it.
type Row struct {
	rpc.Method
	VSCode, Neovim, Plain Support
}

// beyondVim is what of LSP Neovim's own client has not: its plugin does it, or
// nobody. That this is true is tested in the real Neovim. VS Code's has all.
var beyondVim = map[bool][]string{
	true:  {"$/setTrace", "window/workDoneProgress/cancel"}, // from the editor
	false: {"$/cancelRequest"},
}

// OneSided are the methods that one plugin has without the other, and why. A test
// finds no other, and docs/clients.md has the list.
var OneSided = map[string]string{
	"tools/call":                     "VS Code's own chat calls tools; Neovim has no chat of its own",
	"$/setTrace":                     "Neovim's LSP client does not send it, and the sidecar does nothing with it",
	"window/workDoneProgress/cancel": "it comes from the buttons of a progress that the sidecar began, and the sidecar begins none in an editor with a plugin",
}

// Coming are the methods that the plugins get one after the other. Whoever brings a
// method to the second plugin takes it off this list: a test says so.
var Coming = []string{}

// Read gives a row for every method of the wire.
func Read(root string) ([]Row, error) {
	vscode, err := VSCode(root)
	if err != nil {
		return nil, err
	}
	neovim, err := Neovim(root)
	if err != nil {
		return nil, err
	}
	var out []Row
	for _, m := range rpc.Catalogue() {
		row := Row{Method: m, VSCode: plugin(m, vscode), Neovim: plugin(m, neovim), Plain: plain(m)}
		if row.Neovim == LSP && slices.Contains(beyondVim[m.FromEditor], m.Name) {
			row.Neovim = None
		}
		out = append(out, row)
	}
	return out, nil
}

func plugin(m rpc.Method, names Names) Support {
	switch {
	case names[m.Name] != "":
		return Own
	case m.LSP && m.For != rpc.Plain:
		return LSP
	}
	return None
}

func plain(m rpc.Method) Support {
	if m.LSP && m.For != rpc.Plugins {
		return LSP
	}
	return None
}

// Strays are names that look like a method of ours and are none of the wire's.
func (n Names) Strays() []string {
	var out []string
	for name, file := range n {
		if !known()[name] && !slices.Contains(Coming, name) {
			out = append(out, fmt.Sprintf("%s names %s, which the wire does not have", file, name))
		}
	}
	return out
}

// known are the names of the wire.
var known = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, m := range rpc.Catalogue() {
		out[m.Name] = true
	}
	return out
})

var (
	tsTable = regexp.MustCompile(`(?s)export const methods = \{\n(.*?)\n\}`)
	tsEntry = regexp.MustCompile(`(?m)^  (\w+): "([^"]+)",$`)
	tsUse   = regexp.MustCompile(`\bmethods\.(\w+)`)
)

// VSCode are the methods that the extension uses: all are in one table of its
// protocol file, and the others use it.
func VSCode(root string) (Names, error) {
	protocol, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(vscodeProtocol)))
	if err != nil {
		return nil, err
	}
	table := tsTable.FindSubmatch(protocol)
	if table == nil {
		return nil, fmt.Errorf("%s has no table of methods; is it written in another way now?", vscodeProtocol)
	}
	byKey := map[string]string{}
	for _, entry := range tsEntry.FindAllStringSubmatch(string(table[1]), -1) {
		byKey[entry[1]] = entry[2]
	}
	out := Names{}
	err = eachFile(root, VSCodeSource, ".ts", func(name, text string) error {
		if name == vscodeProtocol {
			return nil
		}
		for _, use := range tsUse.FindAllStringSubmatch(text, -1) {
			if byKey[use[1]] == "" {
				return fmt.Errorf("%s: methods.%s is not in %s", name, use[1], vscodeProtocol)
			}
			out[byKey[use[1]]] = name
		}
		for _, method := range methodLiteral(text) {
			out[method] = name
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for key, method := range byKey {
		if out[method] == "" {
			return nil, fmt.Errorf("%s: %s (%s) is in the table, and nothing uses it", vscodeProtocol, key, method)
		}
	}
	return out, nil
}

// Neovim are the methods that the plugin names, in any text of its own code.
func Neovim(root string) (Names, error) {
	out := Names{}
	err := eachFile(root, NeovimSource, ".lua", func(name, text string) error {
		for _, method := range methodLiteral(luaComment.ReplaceAllString(text, "")) {
			out[method] = name
		}
		return nil
	})
	return out, err
}

var (
	luaComment = regexp.MustCompile(`(?m)--.*$`)
	// Whatever begins as a method of LSP, of ours or of the design does.
	literal = regexp.MustCompile("[\"'`]((?:textDocument|workspace|window|client|\\$|document|draft|conversation|tools|session|relay|approval|prompt|patch|plan|" +
		"activity|agent|journal|context|process|rules|settings|gateway|editor)(?:/[a-zA-Z]+)+)[\"'`]")
)

// methodLiteral finds the texts that are methods of the wire, or are written like one.
func methodLiteral(text string) []string {
	var out []string
	for _, found := range literal.FindAllStringSubmatch(text, -1) {
		out = append(out, found[1])
	}
	return out
}

func eachFile(root, below, ending string, do func(name, text string) error) error {
	return filepath.WalkDir(filepath.Join(root, filepath.FromSlash(below)), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ending) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return do(filepath.ToSlash(name), string(text))
	})
}
