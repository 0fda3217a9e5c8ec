package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"pillion/internal/fault"
	"pillion/internal/testrig/machine"
	"pillion/workspace"
	"pillion/workspace/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// disk is a Source of the bytes on disk under open buffers, by printed path.
type disk map[string]string

func (d disk) ReadText(p workspace.Path) (string, error) {
	if text, ok := d[p.String()]; ok {
		return text, nil
	}
	data, _, err := p.ReadFile(1 << 20)
	if err == nil && strings.ContainsRune(string(data), 0) {
		err = fault.New(fault.BinaryFile, "%s is binary", p)
	}
	return string(data), err
}

func (disk) Open() (files []workspace.Path, all bool) { return nil, false }

func (d disk) IsApart(p workspace.Path) bool { return d[p.String()] != "" }

func (d disk) Text(p workspace.Path, data []byte) (string, error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return "", fault.New(fault.BinaryFile, "%s is binary", p)
	}
	return string(data), nil
}

func (disk) Limit() int64 { return 1 << 20 }

// project writes files into a new workspace folder.
func project(t testing.TB, files map[string]string) *workspace.Workspace {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	dir := machine.Folder{TB: t, Dir: t.TempDir()}
	for name, text := range files {
		dir.Write(name, text)
	}
	return openWorkspace(t, dir.Dir)
}

func openWorkspace(t testing.TB, dirs ...string) *workspace.Workspace {
	t.Helper()
	folders := make([]workspace.Folder, len(dirs))
	for i, dir := range dirs {
		folders[i].Dir = dir
	}
	w, err := workspace.Open(folders...)
	machine.Must(t, err)
	t.Cleanup(func() { machine.Must(t, w.Close()) })
	return w
}

func run(t testing.TB, w *workspace.Workspace, q search.Query) search.Result {
	t.Helper()
	r, err := search.Run(t.Context(), w.Roots(), q, disk{})
	machine.Must(t, err)
	if r.Count != len(r.Matches) {
		t.Errorf("count is %d of %d", r.Count, len(r.Matches))
	}
	return r
}

// brief writes matches as path:line:column:text.
func brief(r search.Result) []string {
	out := []string{}
	for _, m := range r.Matches {
		out = append(out, fmt.Sprintf("%s:%d:%d:%s", m.Path, m.Line, m.Column, m.Text))
	}
	return out
}

func expect[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %#v\nwant %#v", got, want)
	}
}

func TestMatchesOfOneText(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		query search.Query
		want  []string
	}{
		"letter case is ignored":           {"Foo\nfOO\nbar", search.Query{Text: "foo"}, []string{"f:1:1:Foo", "f:2:1:fOO"}},
		"unless asked for":                 {"Foo\nfoo", search.Query{Text: "foo", CaseSensitive: true}, []string{"f:2:1:foo"}},
		"folding is Unicode's":             {"ΣΊΣΥΦΟΣ\nσίσυφος\n\u212Aelvin\nMAßE\nſee", search.Query{Text: "σίσυφοσ"}, []string{"f:1:1:ΣΊΣΥΦΟΣ", "f:2:1:σίσυφος"}},
		"folding from a letter to a sign":  {"\u212Aelvin", search.Query{Text: "kelvin"}, []string{"f:1:1:\u212Aelvin"}},
		"folding from a sign to a letter":  {"KELVIN", search.Query{Text: "\u212Aelvin"}, []string{"f:1:1:KELVIN"}},
		"one entry a line":                 {"aa a\nb\na", search.Query{Text: "a"}, []string{"f:1:1:aa a", "f:3:1:a"}},
		"plain text is no expression":      {"a.c\nabc", search.Query{Text: "a.c"}, []string{"f:1:1:a.c"}},
		"an expression":                    {"a.c\nabc\nac", search.Query{Text: `A.C`, Regex: true}, []string{"f:1:1:a.c", "f:2:1:abc"}},
		"an expression with case":          {"abc\nABC", search.Query{Text: `B`, Regex: true, CaseSensitive: true}, []string{"f:2:2:ABC"}},
		"alternatives stay together":       {"Foo\nBAR", search.Query{Text: `foo|bar`, Regex: true}, []string{"f:1:1:Foo", "f:2:1:BAR"}},
		"anchors are the line's":           {"ab\r\nb\r\nab", search.Query{Text: `^a.*b$`, Regex: true}, []string{"f:1:1:ab", "f:3:1:ab"}},
		"blanks do not cross a line":       {"a\nb", search.Query{Text: `a\s+b`, Regex: true}, []string{}},
		"empty lines":                      {"a\n\n\nb\n", search.Query{Text: `^$`, Regex: true}, []string{"f:2:1:", "f:3:1:"}},
		"an empty file has no line":        {"", search.Query{Text: `^`, Regex: true}, []string{}},
		"a line end ends, it does not add": {"a\n", search.Query{Text: `^`, Regex: true}, []string{"f:1:1:a"}},
		"CRLF is not in the text":          {"one\r\ntwo\r\n", search.Query{Text: "o"}, []string{"f:1:1:one", "f:2:3:two"}},
		"mixed ends and none at the end":   {"a\nxa\r\nxxa", search.Query{Text: "a"}, []string{"f:1:1:a", "f:2:2:xa", "f:3:3:xxa"}},
		"columns count code points":        {"é😀𝔘x", search.Query{Text: "X"}, []string{"f:1:4:é😀𝔘x"}},
		"columns after invalid bytes":      {"\xff\xfex", search.Query{Text: "x"}, []string{"f:1:3:\ufffdx"}},
		"near misses":                      {"aab aaab", search.Query{Text: "AAAB"}, []string{"f:1:5:aab aaab"}},
		"text that ends too soon":          {"fo", search.Query{Text: "foo"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, brief(run(t, project(t, map[string]string{"f": test.text}), test.query)), test.want)
		})
	}
}

func TestFoldedSearchEqualsGosRegexp(t *testing.T) {
	// The fast search for plain text and the regular expression must agree.
	words := []string{"k", "K", "\u212A", "s", "ſ", "ß", "ẞ", "σ", "ς", "Σ", "i", "İ", "ı", "é", "É", "a", "ǅ", "ǆ", "\xff", "\n", "θ", "ϑ", "ϴ"}
	text := strings.Repeat(strings.Join(words, ""), 3) + strings.Join(words, "\n")
	w := project(t, map[string]string{"f": text})
	for _, a := range words {
		for _, b := range words {
			if query := a + b; utf8.ValidString(query) && !strings.Contains(query, "\n") {
				plain := run(t, w, search.Query{Text: query})
				regex := run(t, w, search.Query{Text: query, Regex: true})
				if !reflect.DeepEqual(plain, regex) {
					t.Errorf("%q: plain %q, regex %q", query, brief(plain), brief(regex))
				}
			}
		}
	}
}

func TestRegexEqualsGosRegexpLineByLine(t *testing.T) {
	words := []string{"", "Foo", "foo bar", "bar foo", "fOObar", "foofoo", "Kelvin \u212A", "x=1;", "(a)", "été", "a.b", "\xff", "aaa", "func (x) Name()", "FUNC name()"}
	text := strings.Join(words, "\n") + "\n" + strings.Join(words, "|") + "\n"
	w := project(t, map[string]string{"f": text})
	for _, pattern := range []string{
		"foo", "fo+", "(foo)+", "(?:foo)?", "foo|bar", "foo(bar)?", "(foo|bar) foo", "^foo", "foo$", "^$", "k", "[k]elvin", "(?-i)foo", "(?i)foo", "x{2,3}", "(aa){1,}", "(aa){0,1}a",
		`func \w+`, `func .*name\(\)`, `\bfoo\b`, `.*`, `\(a\)`, `é.é`, `[^a]\.b`, "(?s).foo", "a*b*", `\pL+`, "(foo)(bar)", "f(o(o))b",
	} {
		for _, sensitive := range []bool{false, true} {
			re := regexp.MustCompile(map[bool]string{false: "(?i:", true: "(?:"}[sensitive] + pattern + ")")
			want := []string{}
			for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
				if at := re.FindStringIndex(line); at != nil {
					want = append(want, fmt.Sprintf("f:%d:%d:%s", i+1, utf8.RuneCountInString(line[:at[0]])+1, strings.ToValidUTF8(line, "\ufffd")))
				}
			}
			expect(t, brief(run(t, w, search.Query{Text: pattern, Regex: true, CaseSensitive: sensitive})), want)
		}
	}
}

func TestContext(t *testing.T) {
	ten := "1\n2\n3 x\n4\n5\n6\n7 x\n8\n9\n10 x"
	for name, test := range map[string]struct {
		text    string
		context int
		limit   int
		want    [][2][]string // before and after each match
	}{
		"few matches get two lines": {ten, search.AutoContext, 0, [][2][]string{{{"1", "2"}, {"4", "5"}}, {{"6"}, {"8", "9"}}, {nil, nil}}},
		"four get none":             {"x\n" + ten, search.AutoContext, 0, [][2][]string{{}, {}, {}, {}}},
		"three of more get them":    {"x\n" + ten, search.AutoContext, 3, [][2][]string{{nil, {"1", "2"}}, {nil, {"4", "5"}}, {{"6"}, {"8", "9"}}}},
		"none asked for":            {ten, 0, 0, [][2][]string{{}, {}, {}}},
		"one line":                  {ten, 1, 0, [][2][]string{{{"2"}, {"4"}}, {{"6"}, {"8"}}, {{"9"}, nil}}},
		"no line is shown twice":    {"x\na\nx\nx\nb\nc\nx\n", 2, 0, [][2][]string{{nil, {"a"}}, {nil, nil}, {nil, {"b", "c"}}, {nil, nil}}},
		"line ends are cut":         {"a\r\nx\r\n\r\n", 2, 0, [][2][]string{{{"a"}, {""}}}},
		"many lines asked for":      {strings.Repeat("a\n", 60) + "x", 1000, 0, [][2][]string{{strings.Split(strings.Repeat("a", 50), ""), nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, project(t, map[string]string{"f": test.text}), search.Query{Text: "x", Context: test.context, MaxMatches: test.limit})
			var got [][2][]string
			for _, m := range r.Matches {
				got = append(got, [2][]string{m.Before, m.After})
			}
			expect(t, got, test.want)
		})
	}
}

func TestLongLinesAreCutAroundTheMatch(t *testing.T) {
	for name, test := range map[string]struct{ line, want string }{
		"fits":          {strings.Repeat("é", 499) + "x", strings.Repeat("é", 499) + "x"},
		"at the start":  {"x" + strings.Repeat("é", 1000), "x" + strings.Repeat("é", 499) + "…"},
		"in the middle": {strings.Repeat("é", 1000) + "x" + strings.Repeat("a", 1000), "…" + strings.Repeat("é", 100) + "x" + strings.Repeat("a", 399) + "…"},
		"at the end":    {strings.Repeat("é", 1000) + "x", "…" + strings.Repeat("é", 499) + "x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, project(t, map[string]string{"f": "before\n" + test.line + "\n" + strings.Repeat("b", 600)}), search.Query{Text: "x", Context: 1})
			expect(t, r.Matches[0].Text, test.want)
			expect(t, r.Matches[0].Column, strings.Count(test.line[:strings.Index(test.line, "x")], "")) // Count of "" is one more than the characters
			expect(t, r.Matches[0].After, []string{strings.Repeat("b", 500) + "…"})
		})
	}
}

func TestWhichFilesAreSearched(t *testing.T) {
	files := map[string]string{
		".gitignore": "ignored\n*.log\n", "a.go": "x", "b.txt": "x", "sub/a.go": "x", "sub/deep/c.go": "x", "ignored/a.go": "x", "a.log": "x",
		".github/w.yml": "x", ".git/config": "x", "binary": "x\x00", "large": "x" + strings.Repeat("y", 1<<20), "[odd]": "x",
	}
	for name, test := range map[string]struct {
		in       string
		query    search.Query
		want     []string
		searched int
	}{
		"all but ignored, binary and large": {"", search.Query{}, []string{".github/w.yml", "[odd]", "a.go", "b.txt", "sub/a.go", "sub/deep/c.go"}, 7},
		"ignored ones too":                  {"", search.Query{IncludeIgnored: true, Glob: "*.{log,go}"}, []string{"a.go", "a.log", "ignored/a.go", "sub/a.go", "sub/deep/c.go"}, 5},
		"a glob without a slash":            {"", search.Query{Glob: "*.go"}, []string{"a.go", "sub/a.go", "sub/deep/c.go"}, 3},
		"a glob from the top":               {"", search.Query{Glob: "sub/*.go"}, []string{"sub/a.go"}, 1},
		"a glob that leaves out":            {"", search.Query{Glob: "!sub"}, []string{".github/w.yml", "[odd]", "a.go", "b.txt"}, 5},
		"a folder":                          {"sub", search.Query{}, []string{"sub/a.go", "sub/deep/c.go"}, 2},
		"a glob from the folder":            {"sub", search.Query{Glob: "deep/*.go"}, []string{"sub/deep/c.go"}, 1},
		"a glob from the top in a folder":   {"sub", search.Query{Glob: "sub/deep/*"}, []string{"sub/deep/c.go"}, 1},
		"a glob that leaves out a folder":   {"sub", search.Query{Glob: "!deep/"}, []string{"sub/a.go"}, 1},
		"an ignored folder by its name":     {"ignored", search.Query{}, []string{"ignored/a.go"}, 1},
		"an ignored file by its name":       {"a.log", search.Query{Glob: "*.go"}, []string{"a.log"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := project(t, files)
			in, err := w.ResolveDir(test.in)
			machine.Must(t, err)
			test.query.Text = "x"
			r, err := search.Run(t.Context(), []workspace.Path{in}, test.query, disk{})
			machine.Must(t, err)
			var got []string
			for _, m := range r.Matches {
				got = append(got, m.Path)
			}
			expect(t, got, test.want)
			expect(t, r.FilesSearched, test.searched)
		})
	}
	r := run(t, project(t, files), search.Query{Text: "x"})
	expect(t, r.Skipped, 1) // the large one
}

func TestLimitIsHonest(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("f%02d", i)] = "x\nx\nx\n"
	}
	w := project(t, files)
	for _, test := range []struct {
		limit, count, searched int
		truncated              bool
	}{
		{1, 1, 1, true},
		{3, 3, 2, true},
		{4, 4, 2, true},
		{59, 59, 20, true},
		{60, 60, 20, false},
		{0, 60, 20, false},
		{1 << 40, 60, 20, false},
	} {
		first := run(t, w, search.Query{Text: "x", MaxMatches: test.limit})
		if first.Count != test.count || first.Truncated != test.truncated || first.FilesSearched != test.searched {
			t.Errorf("limit %d: %d matches in %d files, truncated %v", test.limit, first.Count, first.FilesSearched, first.Truncated)
		}
		for range 5 { // whatever the order in which the files are done
			expect(t, run(t, w, search.Query{Text: "x", MaxMatches: test.limit}), first)
		}
	}
	expect(t, run(t, project(t, map[string]string{"f": strings.Repeat("x\n", 201)}), search.Query{Text: "x"}).Truncated, true)
	expect(t, run(t, project(t, map[string]string{"f": strings.Repeat("x\n", 200)}), search.Query{Text: "x"}).Truncated, false)
}

func TestBuffersLieOverTheDisk(t *testing.T) {
	w := project(t, map[string]string{"a": "on disk", "b": "on disk"})
	r, err := search.Run(t.Context(), w.Roots(), search.Query{Text: "typed"}, disk{"a": "just typed\n"})
	machine.Must(t, err)
	expect(t, brief(r), []string{"a:1:6:just typed"})
	r, err = search.Run(t.Context(), w.Roots(), search.Query{Text: "disk"}, disk{"a": "just typed\n"})
	machine.Must(t, err)
	expect(t, brief(r), []string{"b:1:4:on disk"})
}

func TestSeveralFolders(t *testing.T) {
	w := project(t, map[string]string{"one/a": "x", "one/in/b": "x", "two/a": "x"})
	dir := w.Roots()[0].Abs()
	w = openWorkspace(t, filepath.Join(dir, "two"), filepath.Join(dir, "one"), filepath.Join(dir, "one", "in"))
	expect(t, brief(run(t, w, search.Query{Text: "x"})), []string{"two/a:1:1:x", "one/a:1:1:x", "in/b:1:1:x"})
	expect(t, brief(run(t, w, search.Query{Text: "x", Glob: "one/a"})), []string{"one/a:1:1:x"})
	machine.Must(t, os.RemoveAll(filepath.Join(dir, "two")))
	expect(t, brief(run(t, w, search.Query{Text: "x"})), []string{"one/a:1:1:x", "in/b:1:1:x"})
}

func TestWrongQueries(t *testing.T) {
	w := project(t, map[string]string{"f": "x", "binary": "\x00"})
	for _, test := range []struct {
		query search.Query
		say   string
	}{
		{search.Query{}, "the query is empty"},
		{search.Query{Text: "a\nb"}, "search for one of its lines"},
		{search.Query{Text: `a\nb`, Regex: true}, "search for one of the lines"},
		{search.Query{Text: "é(b", Regex: true}, "missing closing )"},
		{search.Query{Text: "é[b", Regex: true}, `at character 2, [b: missing closing ]`},
		{search.Query{Text: "ab**", Regex: true}, `at character 3, **: invalid nested repetition`},
		{search.Query{Text: `a(?=b)`, Regex: true}, "no lookaround or backreferences"},
		{search.Query{Text: `(a)\1`, Regex: true}, "no backreferences"},
		{search.Query{Text: "a{2000}", Regex: true}, "invalid repeat count"},
		{search.Query{Text: "(", Regex: true, CaseSensitive: true}, "missing closing )"},
		{search.Query{Text: "x", Glob: "é[a"}, `the glob é[a is wrong at character 2: "[" is not closed`},
		{search.Query{Text: "x", MaxMatches: -1}, "max_matches is -1"},
		{search.Query{Text: "x", Context: -2}, "context_lines is -2"},
		{search.Query{Text: strings.Repeat("x", 10_001)}, "longer than 10000 bytes"},
	} {
		_, err := search.Run(t.Context(), w.Roots(), test.query, disk{})
		if fault.CodeOf(err) != fault.InvalidArguments || !strings.Contains(err.Error(), test.say) {
			t.Errorf("%+v: %v", test.query, err)
		}
	}
	for name, code := range map[string]fault.Code{"gone": fault.FileNotFound, "binary": fault.BinaryFile, "f/x": fault.FileNotFound} {
		_, err := search.Run(t.Context(), []workspace.Path{w.Roots()[0].Join(name)}, search.Query{Text: "x"}, disk{})
		if fault.CodeOf(err) != code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// stopping is a Source that cancels the search from within, once.
type stopping struct {
	disk
	cancel context.CancelFunc
	once   sync.Once
}

func (s *stopping) ReadText(workspace.Path) (string, error) {
	s.once.Do(s.cancel)
	return strings.Repeat("y\n", 10_000), nil
}

func (*stopping) Open() ([]workspace.Path, bool) { return nil, true }

func (*stopping) IsApart(workspace.Path) bool { return true }

func TestCancelStopsTheSearch(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprint(i)] = ""
	}
	w := project(t, files)
	for _, query := range []search.Query{{Text: "x"}, {Text: "x", Regex: true}} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := search.Run(ctx, w.Roots(), query, &stopping{cancel: cancel})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		cancel()
	}
}

// slow is a Source that does not come to an end with one file before the search does.
type slow struct {
	disk
	ctx context.Context
}

func (s slow) IsApart(p workspace.Path) bool { return true }

func (s slow) ReadText(p workspace.Path) (string, error) {
	if p.String() == "f30" {
		<-s.ctx.Done()
	}
	return "x", nil
}

func TestWhatWasFoundWhenTheTimeIsUp(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("f%02d", i)] = ""
	}
	w := project(t, files)
	synctest.Test(t, func(t *testing.T) { // where the time is up when nobody works any more
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		r, err := search.Run(ctx, w.Roots(), search.Query{Text: "x"}, slow{ctx: ctx})
		if err != nil || !r.Late || !r.Truncated || r.Count != 16 || r.FilesSearched != 16 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestResultOnTheWire(t *testing.T) {
	w := project(t, map[string]string{"f": "a\nx \"\u2028\n"})
	for query, want := range map[search.Query]string{
		{Text: "none"}:                           `{"matches":[],"count":0,"files_searched":1,"truncated":false}`,
		{Text: "x", Context: search.AutoContext}: `{"matches":[{"path":"f","line":2,"column":1,"text":"x \"\u2028","before":["a"]}],"count":1,"files_searched":1,"truncated":false}`,
	} {
		data, err := json.Marshal(run(t, w, query))
		machine.Must(t, err)
		expect(t, string(data), want)
	}
}
