package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOneApprovalSite: a user is asked for approval in one place of the program.
func TestOneApprovalSite(t *testing.T) { onlyInTheDoor(t, "(*"+module+"/tools/approval.Queue).Ask") }

// TestOneAudit: every call is in the audit log because the door puts it there, once.
func TestOneAudit(t *testing.T) { onlyInTheDoor(t, "(*"+module+"/tools.Registry).audited") }

// onlyInTheDoor wants a function used once, where every call passes.
func onlyInTheDoor(t *testing.T, function string) {
	t.Helper()
	sites := usesOf(t, func(name string) bool { return name == function })[function]
	if len(sites) != 1 || sites[0].file != "tools/call.go" {
		var at []string
		for _, u := range sites {
			at = append(at, fmt.Sprint(u.file, ":", u.line))
		}
		t.Errorf("%s is to be called once, in tools/call.go; it is used at %v", function, at)
	}
}

// TestOneDoor: a tool's plan is made where every call passes. The tools get an Input, as an
// argument or in a field; nobody but the door makes one.
func TestOneDoor(t *testing.T) {
	const ask = module + "/tools.Input"
	for _, p := range load(t) {
		name, _ := local(p.PkgPath)
		if name == "tools" {
			continue
		}
		gets := map[*ast.Ident]bool{}
		if slices.Contains(kinds, name) {
			gets = inFields(p.Syntax)
		}
		for id, object := range p.TypesInfo.Uses {
			at := position(p.Fset, id.Pos())
			if object.Pkg() != nil && object.Pkg().Path()+"."+object.Name() == ask && !gets[id] {
				t.Errorf("%s:%d makes plans by itself; every call goes through Registry.Execute", at.Filename, at.Line)
			}
		}
	}
}

// inFields are the identifiers that say of which type a parameter or a field is.
func inFields(files []*ast.File) map[*ast.Ident]bool {
	out, made := map[*ast.Ident]bool{}, map[*ast.Field]bool{} // made: what a function gives, and what is embedded
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncType:
				if n.Results != nil {
					for _, result := range n.Results.List {
						made[result] = true
					}
				}
			case *ast.StructType:
				for _, field := range n.Fields.List {
					made[field] = len(field.Names) == 0
				}
			}
			field, ok := n.(*ast.Field)
			if !ok || made[field] {
				return true
			}
			if selector, ok := field.Type.(*ast.SelectorExpr); ok {
				out[selector.Sel] = true
			}
			return true
		})
	}
	return out
}

// writing are the functions that change what is on disk.
var writing = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`WriteFile Create Rename Remove RemoveAll Mkdir MkdirAll Chmod Chown Lchown Chtimes Symlink Link`) {
		writing["os."+name] = true
		writing["(*os.Root)."+name] = true
	}
	for _, name := range strings.Fields(`CreateTemp MkdirTemp Truncate CopyFS`) {
		writing["os."+name] = true
	}
	for _, name := range strings.Fields(`Rename Renameat Renameat2 Unlink Unlinkat Mkdir Link Linkat Symlink Open Openat Creat Truncate`) {
		writing["golang.org/x/sys/unix."+name] = true
		writing["syscall."+name] = true
	}
}

// writers are the packages that may write, and what.
var writers = map[string]string{
	"workspace/change":          "the workspace, after a yes",
	"workspace/handle":          "the workspace, for workspace/change",
	"workspace/journal":         "the journal, in the state folder",
	"workspace/watch":           "a cookie in the state folder, which Settle waits for",
	"agents/install":            "agents' configuration, which the person saw first",
	"agents/relay":              "the registry and the socket, in the runtime folder",
	"internal/state":            "files in the state folder, for those that keep some there",
	"tools/session/kept":        "what is kept of sessions, in the state folder",
	"audit":                     "the audit log, in the state folder",
	"rpc":                       "a temporary file that shows a question, for an editor without boxes",
	"terminal":                  "a temporary file for the person's own editor",
	"try/sample":                "the sample project, into a new folder",
	"tools/process":             "the guardian's own name",
	"workspace/git":             "a repository's own folder, where there is no git program, and the index of a draft",
	"workspace/git/program":     "a folder for what is thrown away",
	"cli":                       "the new folder of pillion try",
	"draft":                     "drafts, in the state folder",
	"workspace/layer":           "layers on which nothing is mounted, in the state folder",
	"config":                    "what the user agreed to, in the state folder",
	"internal/generate":         "generated files",
	"scripts/bench":             "texts to compare, in the bench's folder",
	"internal/testrig":          "tests' folders",
	"internal/testrig/machine":  "tests' folders",
	"agents/internal/agenttest": "tests' folders",
}

func TestWhoWrites(t *testing.T) {
	for name, uses := range usesOf(t, func(name string) bool { return writing[name] }) {
		for _, u := range uses {
			pkg, _ := local(u.pkg)
			if writers[pkg] == "" {
				t.Errorf("%s:%d uses %s; package %q may not write", u.file, u.line, name, pkg)
			}
		}
	}
	// Opening is reading unless its flags say otherwise.
	opening := usesOf(t, func(name string) bool { return name == "os.OpenFile" || name == "(*os.Root).OpenFile" })
	for _, uses := range opening {
		for _, u := range uses {
			pkg, _ := local(u.pkg)
			if flags := openFlags(u); writers[pkg] == "" && flags != "" {
				t.Errorf("%s:%d opens with %s; package %q may not write", u.file, u.line, flags, pkg)
			}
		}
	}
}

// openFlags are the writing flags in the arguments of the call at u.
func openFlags(u use) string {
	var found []string
	ast.Inspect(u.in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Fun.End() != u.node.End() {
			return true
		}
		for _, arg := range call.Args {
			ast.Inspect(arg, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && slices.Contains([]string{"O_WRONLY", "O_RDWR", "O_CREATE", "O_TRUNC", "O_APPEND"}, id.Name) {
					found = append(found, id.Name)
				}
				return true
			})
		}
		return false
	})
	return strings.Join(found, "|")
}

// TestTheRootHandle: the handle by which a workspace folder can be written to goes
// to package change, and to what that does with it.
func TestTheRootHandle(t *testing.T) {
	const handle = "(" + module + "/workspace.Path).Root"
	for _, u := range usesOf(t, func(name string) bool { return name == handle })[handle] {
		if u.pkg != module+"/workspace/change" && u.pkg != module+"/workspace/handle" {
			t.Errorf("%s:%d takes a folder's writable handle, which is for workspace/change and workspace/handle alone", u.file, u.line)
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range load(t) {
		has := slices.ContainsFunc(p.Syntax, func(f *ast.File) bool {
			return strings.HasPrefix(f.Doc.Text(), "Package "+p.Name+" ") || p.Name == "main" && strings.HasPrefix(f.Doc.Text(), "Command ")
		})
		if !has && len(p.Syntax) > 0 {
			t.Errorf("%s has no package comment: its role, its entry point, what is deliberately not there", p.PkgPath)
		}
	}
}

// goFile is a parsed file of the project, tests included.
type goFile struct {
	name string
	fset *token.FileSet
	*ast.File
}

func (f goFile) line(n ast.Node) int { return f.fset.Position(n.Pos()).Line }

func (f goFile) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

func goFiles(t *testing.T) []goFile {
	var out []goFile
	for _, name := range projectFiles(t, ".go") {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(name)), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, goFile{name, fset, parsed})
	}
	return out
}

// TestTestsDoNotSleep: a test waits for what is to happen. Sleeping is for the
// pause of a loop that looks again and again, and for a bubble with its own clock.
func TestTestsDoNotSleep(t *testing.T) {
	files := goFiles(t)
	bubbles := bubbleMakers(files)
	for _, f := range files {
		if !f.isTest() && !strings.HasPrefix(f.name, "internal/testrig/") {
			continue
		}
		var around []ast.Node
		ast.Inspect(f.File, func(n ast.Node) bool {
			if n == nil {
				around = around[:len(around)-1]
				return true
			}
			around = append(around, n)
			if isCall(n, "time", "Sleep") && !slices.ContainsFunc(around, func(n ast.Node) bool { return maySleep(n) || bubbles[path.Dir(f.name)+" "+called(n)] }) {
				t.Errorf("%s:%d sleeps; wait for what is to happen", f.name, f.line(n))
			}
			return true
		})
	}
}

// bubbleMakers are the functions, by folder and name, that run what they are given
// in a bubble with its own clock.
func bubbleMakers(files []goFile) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(function, func(n ast.Node) bool {
				if n != nil && isCall(n, "synctest", "Test") {
					out[path.Dir(f.name)+" "+function.Name.Name] = true
				}
				return true
			})
		}
	}
	return out
}

// called is the name of the function of this package that n calls, "" if none.
func called(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	name, ok := call.Fun.(*ast.Ident)
	if !ok {
		return ""
	}
	return name.Name
}

func maySleep(n ast.Node) bool {
	_, isLoop := n.(*ast.ForStmt)
	return isLoop || isCall(n, "synctest", "Test")
}

func isCall(n ast.Node, pkg, name string) bool {
	call, selector := selected(n)
	if call == nil || selector.Sel.Name != name {
		return false
	}
	x, ok := selector.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// selected is a call such as x.F(…), and what is called; nil where n is none.
func selected(n ast.Node) (*ast.CallExpr, *ast.SelectorExpr) {
	if call, ok := n.(*ast.CallExpr); ok {
		if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
			return call, selector
		}
	}
	return nil, nil
}

// TestSkippingSaysWhy: no test is left out in silence.
func TestSkippingSaysWhy(t *testing.T) {
	for _, f := range goFiles(t) {
		ast.Inspect(f.File, func(n ast.Node) bool {
			call, selector := selected(n)
			if call == nil {
				return true
			}
			silent := selector.Sel.Name == "SkipNow" || (selector.Sel.Name == "Skip" || selector.Sel.Name == "Skipf") && len(call.Args) == 0
			if x, ok := selector.X.(*ast.Ident); ok && silent && (x.Name == "t" || x.Name == "b" || x.Name == "tb") {
				t.Errorf("%s:%d skips and does not say why", f.name, f.line(n))
			}
			return true
		})
	}
}
