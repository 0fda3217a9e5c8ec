package house

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// rawWriters are what people would read raw: only terminal.Stdout, terminal.Stderr and an
// Asker show everything that a terminal would obey.
var rawWriters = []string{"os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println"}

// asks are what only looks at what kind of file it is, or shows what it is given.
var asks = []string{module + "/terminal.StyleOf", "(*os.File).Fd", module + "/terminal.Options"}

// rawlyIn are the files that use one all the same, and why.
var rawlyIn = map[string]string{
	"cli/mcp.go":          "messages for an agent",
	"cli/serve.go":        "frames for an editor",
	"cli/try.go":          "the log of a sidecar, which writes it through terminal.Stderr",
	"scripts/":            "for developers",
	"sidecar/person.go":   "escaped there: terminal is above this package",
	"terminal/input.go":   "for an Asker",
	"terminal/output.go":  "the one place",
	"internal/bug/bug.go": "the place of a fault of ours",
	"internal/generate/":  "for developers",
	"tools/process/":      "between the sidecar and what it starts",
}

// TestPeopleReadNothingRaw: what is written for people goes through the one type that makes
// what is invisible visible.
func TestPeopleReadNothingRaw(t *testing.T) {
	found := map[string]bool{}
	for _, p := range load(t) {
		for _, file := range p.Syntax {
			var around []ast.Node
			ast.Inspect(file, func(n ast.Node) bool {
				if n == nil {
					around = around[:len(around)-1]
					return true
				}
				around = append(around, n)
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				object := p.TypesInfo.Uses[id]
				if object == nil || object.Pkg() == nil || !slices.Contains(rawWriters, object.Pkg().Path()+"."+object.Name()) || onlyAsked(p.TypesInfo, around) {
					return true
				}
				at := position(p.Fset, id.Pos())
				place := excusedPlace(at.Filename)
				found[place] = true
				if place == "" {
					t.Errorf("%s:%d uses %s; write to terminal.Stdout or terminal.Stderr", at.Filename, at.Line, id.Name)
				}
				return true
			})
		}
	}
	for place := range rawlyIn {
		if !found[place] {
			t.Errorf("%s writes nothing raw, and need not be excused", place)
		}
	}
}

func excusedPlace(file string) string {
	for place := range rawlyIn {
		if strings.HasPrefix(file, place) {
			return place
		}
	}
	return ""
}

// onlyAsked reports whether the innermost call or literal around an identifier is one of asks.
func onlyAsked(info *types.Info, around []ast.Node) bool {
	for _, n := range slices.Backward(around[:len(around)-1]) {
		switch n := n.(type) {
		case *ast.CallExpr:
			f, ok := info.Uses[calledIdent(n)].(*types.Func)
			return ok && slices.Contains(asks, f.FullName())
		case *ast.CompositeLit:
			return slices.Contains(asks, types.TypeString(info.TypeOf(n), nil))
		}
	}
	return false
}

func calledIdent(call *ast.CallExpr) *ast.Ident {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	}
	return nil
}
