package house

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pillion/internal/clients"
	"pillion/rpc"
)

// TestNoCapabilityInOneEditorOnly: what one plugin has, the other has.
func TestNoCapabilityInOneEditorOnly(t *testing.T) {
	rows, err := clients.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	unequal := map[string]bool{}
	for _, row := range rows {
		coming := slices.Contains(clients.Coming, row.Name)
		if coming && row.VSCode != clients.None && row.Neovim != clients.None {
			t.Errorf("%s is in both plugins now; take it off clients.Coming", row.Name)
		}
		if coming || (row.VSCode == clients.None) == (row.Neovim == clients.None) {
			continue
		}
		unequal[row.Name] = true
		if clients.OneSided[row.Name] == "" {
			t.Errorf("%s: VS Code %s, Neovim %s; let both have it", row.Name, row.VSCode, row.Neovim)
		}
	}
	for name := range clients.OneSided {
		if !unequal[name] {
			t.Errorf("%s is the same in both editors, and need not be excused", name)
		}
	}
}

// TestClientsNameOnlyTheWire: no plugin listens for, or sends, what the sidecar
// does not know.
func TestClientsNameOnlyTheWire(t *testing.T) {
	for _, read := range []func(string) (clients.Names, error){clients.VSCode, clients.Neovim} {
		names, err := read(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, stray := range names.Strays() {
			t.Error(stray)
		}
	}
}

// TestCatalogueOfTheWire: what the sidecar sends is what its catalogue says.
func TestCatalogueOfTheWire(t *testing.T) {
	sent := map[string]string{
		// These two are sent by internal/wire itself.
		"$/progress": "", "$/cancelRequest": "",
	}
	for _, f := range goFiles(t) {
		if strings.HasPrefix(f.name, "rpc/") && !f.isTest() {
			collectSent(t, f, sent)
		}
	}
	known := map[string]bool{}
	for _, m := range rpc.Catalogue() {
		if !m.FromEditor {
			known[m.Name] = true
		}
	}
	for name, file := range sent {
		if !known[name] {
			t.Errorf("%s sends %s, which rpc/catalogue.go does not list", file, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if _, is := sent[name]; !is {
			t.Errorf("rpc/catalogue.go lists %s, and nothing sends it", name)
		}
	}
}

// collectSent adds the methods of all calls such as conn.Call(ctx, METHOD, …) and
// conn.Notify(METHOD, …).
func collectSent(t *testing.T, f goFile, into map[string]string) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		call, selector := selected(n)
		if call == nil || !strings.HasSuffix(exprName(selector.X), "conn") {
			return true
		}
		at, sends := map[string]int{"Call": 1, "CallToTheEnd": 1, "Begin": 1, "Notify": 0}[selector.Sel.Name]
		if !sends {
			return true
		}
		name, ok := call.Args[at].(*ast.BasicLit)
		if !ok || name.Kind != token.STRING {
			t.Errorf("%s: the method of a %s is no literal, so the tables cannot know of it", f.name, selector.Sel.Name)
			return true
		}
		method, _ := strconv.Unquote(name.Value)
		into[method] = f.name
		return true
	})
}

// exprName is the last name of s.conn or d.server.conn.
func exprName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
