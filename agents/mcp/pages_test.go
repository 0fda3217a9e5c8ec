package mcp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"pillion/agents/internal/agenttest"
	"pillion/internal/testrig/check"
	"pillion/tools/policy"
	"pillion/tools/session"
)

// mostText is a page and what is said around it.
const mostText = pageBytes * 6 / 5

// ways are the two ways to the tools: through an editor, and alone. Nothing is asked about.
func ways(t *testing.T, files map[string]string, body func(t *testing.T, p *agenttest.Project, o Options)) {
	for _, way := range []string{"editor", "alone"} {
		t.Run(way, func(t *testing.T) {
			p := project(t, files)
			o := Options{Cwd: p.Dir}
			if way == "editor" {
				p.Sessions = session.NewSet(policy.FullAccess)
				editor(t, p)
			} else {
				o.Alone = (&alone{dir: p.Dir, mode: policy.FullAccess, t: t}).open
			}
			body(t, p, o)
		})
	}
}

// all is what a model reads of a result.
func (r result) all() string { return strings.Join(append([]string{r.text}, r.rest...), "\n") }

var goesOn = regexp.MustCompile(`go on with start_line (\d+)\)$`)

// readAll follows the pages of a file to its end.
func readAll(t *testing.T, a *agent, name string) (text string, pages int) {
	t.Helper()
	args := object{"path": name}
	for pages = 1; pages < 100; pages++ {
		r := a.call(t, "read_file", args)
		if r.isError || len(r.rest) != 1 {
			t.Fatalf("page %d of %s: %+v", pages, name, r)
		}
		if size := len(r.text) + len(r.rest[0]); size > mostText {
			t.Errorf("page %d of %s has %d bytes", pages, name, size)
		}
		text += r.text
		next := goesOn.FindStringSubmatch(r.rest[0])
		if next == nil {
			return text, pages
		}
		line, err := strconv.Atoi(next[1])
		must(t, err)
		args["start_line"] = line
	}
	t.Fatalf("%s has no end", name)
	return "", 0
}

// wide is text in UTF-16.
func wide(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

func TestPagesMakeTheFile(t *testing.T) {
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "%04d: eine Zeile mit Wörtern und \"Zeichen\"\n", i)
	}
	text := lines.String()
	want := map[string]string{
		"plain.txt": text, "crlf.txt": strings.ReplaceAll(text, "\n", "\r\n"), "unended.txt": strings.TrimSuffix(text, "\n"),
		"short.txt": "one\n", "empty.txt": "", "large.txt": strings.Repeat(text, 160),
	}
	files := map[string]string{"wide.txt": wide(text)}
	for name, content := range want {
		files[name] = content
	}
	want["wide.txt"] = text
	delete(want, "large.txt") // is over the limit of a whole read; its pages are looked at below
	ways(t, files, func(t *testing.T, p *agenttest.Project, o Options) {
		a := connect(t, "some-agent", o, nil)
		for name, content := range want {
			got, pages := readAll(t, a, name)
			if got != content {
				t.Errorf("%s: %d bytes in %d pages, want %d", name, len(got), pages, len(content))
			}
			if least := len(content) / pageBytes; pages < least || pages > least+2 {
				t.Errorf("%s came in %d pages", name, pages)
			}
		}
		first := a.call(t, "read_file", object{"path": "large.txt"})
		last := a.call(t, "read_file", object{"path": "large.txt", "start_line": 319_990})
		if !strings.HasPrefix(text, first.text) || !strings.HasSuffix(text, last.text) || !strings.Contains(first.rest[0], "of 320,000, version ") {
			t.Errorf("a file over the limit: %.80q… %q, then %q %q", first.text, first.rest, last.text, last.rest)
		}
	})
}

// What was asked for with both ends comes whole; a line that is longer than a page says how
// to get it.
func TestLinesLongerThanAPage(t *testing.T) {
	long := strings.Repeat("ü", pageBytes)
	ways(t, map[string]string{"a.txt": "short\n" + long + "\nlast\n"}, func(t *testing.T, _ *agenttest.Project, o Options) {
		a := connect(t, "some-agent", o, nil)
		if r := a.call(t, "read_file", object{"path": "a.txt"}); r.text != "short\n" || !strings.Contains(r.rest[0], "go on with start_line 2") {
			t.Errorf("the first page: %.100q %q", r.text, r.rest)
		}
		r := a.call(t, "read_file", object{"path": "a.txt", "start_line": 2})
		if !strings.HasPrefix(long, r.text) || len(r.text) < pageBytes-1 || len(r.text) > pageBytes ||
			!strings.Contains(r.rest[0], "line 2 is cut after 20,000 of 40,000 bytes") || !strings.HasSuffix(r.rest[0], "go on with start_line 3)") {
			t.Errorf("the long line: %d bytes, %q", len(r.text), r.rest)
		}
		exact := object{"path": "a.txt", "start_line": 2, "end_line": 2}
		check.Same(t, "the long line whole", a.call(t, "read_file", exact).text, long+"\n")
		if r := connect(t, "codex-mcp-client", o, nil).call(t, "read_file", exact); len(r.text) != 8000 || !strings.Contains(r.rest[0], "is cut after 8,000 of 40,000") {
			t.Errorf("for an agent that would cut it: %d bytes, %q", len(r.text), r.rest)
		}
	})
}

// Pages of a file that is too large to be read as a whole are no longer than others,
// whatever its encoding, and a line of it says how long it is.
func TestPagesOfALargeFile(t *testing.T) {
	kanji, long := strings.Repeat("漢字かな混じり文\n", 700_000), strings.Repeat("x", 12<<20)
	files := map[string]string{"kanji.txt": wide(kanji), "long.txt": "short\n" + long + "\nlast\n"}
	ways(t, files, func(t *testing.T, _ *agenttest.Project, o Options) {
		a := connect(t, "some-agent", o, nil)
		first := a.call(t, "read_file", object{"path": "kanji.txt"})
		line, err := strconv.Atoi(goesOn.FindStringSubmatch(first.rest[0])[1])
		must(t, err)
		second := a.call(t, "read_file", object{"path": "kanji.txt", "start_line": line})
		if both := first.text + second.text; !strings.HasPrefix(kanji, both) || len(both) < pageBytes || len(both) > 2*pageBytes {
			t.Errorf("two pages have %d bytes, %q", len(both), first.rest)
		}
		r := a.call(t, "read_file", object{"path": "long.txt", "start_line": 2})
		if len(r.text) != pageBytes || !strings.HasSuffix(r.rest[0], "; line 2 is cut after 20,000 of 12,582,913 bytes: "+
			"read it with start_line and end_line, or find a part of it with run_command; go on with start_line 3)") {
			t.Errorf("the long line: %d bytes, %q", len(r.text), r.rest)
		}
		if r := a.call(t, "read_file", object{"path": "long.txt", "start_line": 3}); r.text != "last\n" {
			t.Errorf("what follows it: %.100q, %q", r.text, r.rest)
		}
	})
}

// Whatever is asked, no result is much more than a page, and it says what is missing.
func TestNoResultIsMoreThanAPage(t *testing.T) {
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, "hit number %d\n", i)
	}
	files := map[string]string{"many.txt": many.String(), "b.txt": many.String()}
	for i := range 150 {
		files[fmt.Sprintf("folder/a-file-with-a-%s-name-%04d.txt", strings.Repeat("long-", 40), i)] = "hit\n"
	}
	ways(t, files, func(t *testing.T, _ *agenttest.Project, o Options) {
		a := connect(t, "some-agent", o, nil)
		for _, c := range []struct {
			tool string
			args object
			says string
		}{
			{"search_in_project", object{"query": "hit", "max_matches": 10_000}, "for others narrow the search"},
			{"run_command", object{"command": "cat many.txt many.txt many.txt many.txt many.txt many.txt >&2; cat b.txt"}, "bytes left out"},
			{"write_file", object{"path": "c.txt", "content": many.String()}, "use read_file for the files"},
			{"list_files", object{"recursive": true, "limit": 5000}, "narrow it with path or pattern"},
			{"glob", object{"pattern": "**/*.txt", "limit": 5000}, "narrow it with path or pattern"},
			{"read_many_files", object{"paths": []string{"many.txt", "b.txt"}}, "no longer fit"},
			{"read_many_files", object{"include": []string{"folder/*"}}, "cut: "},
		} {
			r := a.call(t, c.tool, c.args)
			all := r.all()
			if r.isError || len(all) > mostText || !strings.Contains(all, c.says) {
				t.Errorf("%s: %d bytes, its end %q, failed %t", c.tool, len(all), all[max(0, len(all)-300):], r.isError)
			}
		}
	})
}

// Nor has any more lines than agents show: what is left out is said, and can be had.
func TestNoResultHasMoreLinesThanAgentsShow(t *testing.T) {
	ways(t, map[string]string{"many.txt": strings.Repeat("x\n", 3000)}, func(t *testing.T, _ *agenttest.Project, o Options) {
		a := connect(t, "qwen-cli-mcp-client-pillion", o, nil)
		if got, pages := readAll(t, a, "many.txt"); len(got) != 6000 || pages != 4 {
			t.Errorf("%d bytes in %d pages", len(got), pages)
		}
		for tool, args := range map[string]object{
			"read_file":         {"path": "many.txt", "start_line": 1, "end_line": 3000},
			"search_in_project": {"query": "x", "max_matches": 3000},
			"run_command":       {"command": "cat many.txt"},
			"read_many_files":   {"paths": []string{"many.txt"}},
		} {
			r := a.call(t, tool, args)
			if n := strings.Count(r.all(), "\n"); r.isError || n > 950 || n < 800 {
				t.Errorf("%s: %d lines, %.100q", tool, n, r.all())
			}
		}
		r := a.call(t, "run_command", object{"command": "cat many.txt many.txt; echo the end"})
		check.Has(t, "the output", r.all(), "the end", "bytes left out")
	})
}

// A read of 7 kB costs hardly more than its own text, and nothing of it is there twice.
func TestAReadCostsItsText(t *testing.T) {
	text := strings.Repeat("\tif name == \"\" {\n\t\treturn errors.New(\"no name\")\n\t}\n", 140)
	ways(t, map[string]string{"a.go": text}, func(t *testing.T, _ *agenttest.Project, o Options) {
		a := connect(t, "some-agent", o, nil)
		r := a.call(t, "read_file", object{"path": "a.go"})
		if r.structured != nil || r.text != text {
			t.Errorf("got %+v", r)
		}
		if cost := len(r.text) + len(strings.Join(r.rest, "")); cost > len(text)*103/100 {
			t.Errorf("%d bytes for %d", cost, len(text))
		}
		o.Structured = true
		if r := connect(t, "some-agent", o, nil).call(t, "read_file", object{"path": "a.go"}); r.structured == nil || r.text != text {
			t.Errorf("with the structure: %+v", r)
		}
	})
}
