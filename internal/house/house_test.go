package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

const root = "../.."

const module = "pillion"

// files are the project's own: tracked, or about to be.
var files = sync.OnceValues(func() ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var list []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			list = append(list, name)
		}
	}
	return list, nil
})

// projectFiles are the files with one of the endings.
func projectFiles(t *testing.T, endings ...string) []string {
	all, err := files()
	if err != nil {
		t.Fatalf("the project's files are listed by git: %v", err)
	}
	var out []string
	for _, name := range all {
		if len(endings) == 0 || slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) }) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no files that end in %v", endings)
	}
	return out
}

func read(t *testing.T, name string) []byte {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// program is the module's packages with their types, without tests.
var program = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
		Dir:  root,
	}, "./...")
})

func load(t *testing.T) []*packages.Package {
	loaded, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Fatalf("%s does not compile: %v", p.PkgPath, e)
		}
	}
	return loaded
}

// use is one place where something is used.
type use struct {
	pkg  string
	file string // below root
	line int
	node ast.Node // the identifier
	in   *ast.File
}

// usesOf finds every use of a function or method by its full name, such as
// "os.Rename" or "(*os.Root).Rename".
func usesOf(t *testing.T, wanted func(name string) bool) map[string][]use {
	out := map[string][]use{}
	for _, p := range load(t) {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				f, ok := p.TypesInfo.Uses[id].(*types.Func)
				if !ok || !wanted(f.FullName()) {
					return true
				}
				at := position(p.Fset, id.Pos())
				out[f.FullName()] = append(out[f.FullName()], use{pkg: p.PkgPath, file: at.Filename, line: at.Line, node: id, in: file})
				return true
			})
		}
	}
	return out
}

func position(fset *token.FileSet, pos token.Pos) token.Position {
	at := fset.Position(pos)
	if abs, err := filepath.Abs(root); err == nil {
		if rel, err := filepath.Rel(abs, at.Filename); err == nil {
			at.Filename = filepath.ToSlash(rel)
		}
	}
	return at
}
