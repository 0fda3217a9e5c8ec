package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// terms are what text for people does not say, and what it says instead. docs/words.md
// has the whole list; these are the ones that a pattern finds without mistaking others.
var terms = []struct {
	not *regexp.Regexp
	say string
}{
	{regexp.MustCompile(`(?i)\b(the|a) humans?\b`), "you, or the user"},
	{regexp.MustCompile(`(?i)\bwhat(ever)? waits\b`), "waiting requests"},
	{regexp.MustCompile(`(?i)\b(is|was|are|were|be|been|being) told\b`), "gets, sees, or is notified"},
	{regexp.MustCompile(`(?i)\btells? of\b`), "reports"},
	{regexp.MustCompile(`(?i)\bof which\b`), "whose, or two sentences"},
	{regexp.MustCompile(`(?i)\b(is|are) (not )?to be\b`), "must be"},
	{regexp.MustCompile(`(?i)\banew\b`), "again"},
	{regexp.MustCompile(`(?i)\blikewise\b`), "the same"},
	{regexp.MustCompile(`(?i)\bunasked\b`), "without asking"},
	{regexp.MustCompile(`\bIt (holds|misses)\b`), "Contents, Unsaved changes not included"},
	{regexp.MustCompile(`(?i)\bmend(s|ed|ing)?\b`), "fix"},
	{regexp.MustCompile(`(?i)\b(a|an|the|your|old|needs a) (yes|no)\b[^-]`), "an approval, a rejection"},
}

// spoken are the files that people read, but for Go's. Of code only the texts in quotes.
var spoken = []struct {
	pattern string
	code    bool
}{
	{"README.md", false},
	{"ARCHITECTURE.md", false},
	{"CONTRIBUTING.md", false},
	{"docs/*.md", false},
	{"vscode-extension/README.md", false},
	{"vscode-extension/package.json", false},
	{"vscode-extension/media/walkthrough/*.md", false},
	{"vscode-extension/src/*.ts", true},
	{"nvim-plugin/README.md", false},
	{"nvim-plugin/doc/pillion.txt", false},
	{"nvim-plugin/lua/pillion/*.lua", true},
}

var (
	comment = regexp.MustCompile(`^\s*(//|/?\*|--).*| (//|--) .*`)
	quoted  = regexp.MustCompile("\"[^\"]* [^\"]*\"|`[^`]* [^`]*`")
)

// TestWords: people read the words of docs/words.md, everywhere.
func TestWords(t *testing.T) {
	check := func(name string, line int, text string) {
		for _, term := range terms {
			if found := term.not.FindString(text); found != "" {
				t.Errorf("%s:%d says %q; docs/words.md has %s", name, line, found, term.say)
			}
		}
	}
	for _, name := range projectFiles(t) {
		switch {
		case name == "docs/words.md":
		case strings.HasSuffix(name, ".go"):
			literals(t, name, check)
		default:
			lines(t, name, check)
		}
	}
}

// lines gives the lines of a file that people read, without comments.
func lines(t *testing.T, name string, check func(string, int, string)) {
	for _, s := range spoken {
		if matched, err := filepath.Match(s.pattern, name); err != nil || !matched {
			continue
		}
		for i, text := range strings.Split(string(read(t, name)), "\n") {
			if s.code {
				text = strings.Join(quoted.FindAllString(comment.ReplaceAllString(text, ""), -1), " ")
			}
			check(name, i+1, text)
		}
	}
}

// written are the Go packages that have these words, without their tests.
var written = regexp.MustCompile(`^(agents|audit|cli|config|doctor|page|rpc|sidecar|terminal|tools|try|workspace|lspbridge)/`)

// literals gives the texts in a Go file: string literals with a space, but for those of bug.Errorf.
func literals(t *testing.T, name string, check func(string, int, string)) {
	if !written.MatchString(name) || strings.HasSuffix(name, "_test.go") {
		return
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, read(t, name), parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok {
				if p, ok := f.X.(*ast.Ident); ok && p.Name == "bug" {
					return false
				}
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.Contains(text, " ") {
				check(name, fset.Position(n.Pos()).Line, text)
			}
		}
		return true
	})
}
