package git_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// pick draws one of several.
func pick[V any](t *rapid.T, label string, of ...V) V {
	return rapid.SampledFrom(of).Draw(t, label)
}

// upTo draws a number, each as likely as the others: rapid's own are mostly small.
func upTo(t *rapid.T, most int, label string) int {
	all := make([]int, most+1)
	for i := range all {
		all[i] = i
	}
	return pick(t, label, all...)
}

// one draws whether something happens that does so once in n times.
func one(t *rapid.T, n int, label string) bool { return upTo(t, n-1, label) == n-1 }

var folders = []string{"", "", "dir/", "dir/", "dir/sub/", "dir.d/", "ü /", "gone/deep/er/"}

func drawName(t *rapid.T, label string) string {
	dir := pick(t, label+"'s folder", folders...)
	if one(t, 12, label+" has rules") {
		return dir + pick(t, label, ".gitignore", ".gitattributes")
	}
	return dir + pick(t, label, "a", "b", "c c", "d.txt", "e.x", `"f"`, "sub", "B")
}

var (
	ignoreLines    = []string{"*.x", "/dir", "sub/", "dir/*", "!dir/b", "d*/**/b", "a", "!/a", `\"f\"`, "[a-c]", "dir/sub/*", "!*.txt", "/gone/deep", "deep/er/"}
	attributeLines = []string{"*.txt text=auto", "*.x -text", "dir/** eol=lf", "* text", "a binary", "b -diff", "*.txt diff", "sub/* eol=crlf", "* text=auto eol=crlf", "*.x text !eol", "[attr]mine -diff", "c* mine"}
)

// drawText is a text for a file, short and full of repetition.
func (s *scene) drawText(name string) string {
	t := s.T
	switch path.Base(name) {
	case ".gitignore":
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(ignoreLines), 1, 3).Draw(t, "ignored"), "\n") + "\n"
	case ".gitattributes":
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(attributeLines), 1, 3).Draw(t, "attributes"), "\n") + "\n"
	}
	var out strings.Builder
	end := pick(t, "line end", "\n", "\n", "\n", "\r\n")
	for range upTo(t, 16, "lines") {
		n := upTo(t, 99, "line")
		fmt.Fprintf(&out, "%sword %d%s", []string{"", "", "\t", "func "}[n%4], n/4, end)
	}
	switch upTo(t, 11, "and") {
	case 11:
		out.WriteString("\x00binary\n")
	case 10:
		out.WriteString("mixed\r\nends\n")
	case 9:
		out.WriteString("a lone \rcr\n")
	}
	if !s.renames {
		out.WriteString(pick(t, "last line", "", "no newline at end", "\r"))
	}
	return out.String()
}

// drawStep is t after one thing more has happened in it.
func (s *scene) drawStep(was tree) tree {
	t := s.T
	now := maps.Clone(was)
	kind := pick(t, "step", "write", "write", "write", "write", "edit", "edit", "edit", "delete", "delete", "rename", "rename", "rename and edit", "rename and edit", "link", "mode", "line ends", "delete a folder", "swap", "same size")
	if kind == "write" || len(was) == 0 {
		name := drawName(t, "name")
		now.put(name, entry{pick(t, "mode", plain, plain, plain, executable), s.drawText(name)})
		return now
	}
	if kind == "link" {
		name := drawName(t, "link")
		if rapid.Bool().Draw(t, "in place of something") {
			name = pick(t, "of", was.names()...)
		}
		now.put(name, entry{link, pick(t, "to", "a", "../b", "nowhere", "dir", "/etc/passwd")})
		return now
	}
	name := pick(t, "of", was.names()...)
	e := was[name]
	switch kind {
	case "delete":
		delete(now, name)
	case "delete a folder":
		dir, _, _ := strings.Cut(name, "/")
		maps.DeleteFunc(now, func(name string, _ entry) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
	case "rename", "rename and edit":
		delete(now, name)
		if kind == "rename and edit" {
			e.text = drawEdit(t, e)
		}
		now.put(drawName(t, "new name"), e)
	case "swap":
		other := pick(t, "with", was.names()...)
		now[name], now[other] = now[other], now[name]
	case "edit":
		now[name] = entry{e.mode, drawEdit(t, e)}
	case "mode":
		if modes := map[string]string{plain: executable, executable: plain}; modes[e.mode] != "" {
			now[name] = entry{modes[e.mode], e.text}
		}
	case "line ends":
		if e.mode != link {
			text := strings.ReplaceAll(e.text, "\r\n", "\n")
			if text == e.text {
				text = strings.ReplaceAll(text, "\n", "\r\n")
			}
			now[name] = entry{e.mode, text}
		}
	case "same size": // which only the time betrays, if that
		if e.mode != link && e.text != "" && e.text != "\n" {
			now[name] = entry{e.mode, "#" + e.text[1:]}
		}
	}
	return now
}

// drawEdit is a text with some lines more or less, or a link that leads elsewhere.
func drawEdit(t *rapid.T, e entry) string {
	if e.mode == link {
		return e.text + "x"
	}
	lines := strings.SplitAfter(e.text, "\n")
	for range rapid.IntRange(1, 3).Draw(t, "edits") {
		at := rapid.IntRange(0, len(lines)).Draw(t, "at")
		end := min(len(lines), at+upTo(t, 3, "gone"))
		var put []string
		for range upTo(t, 2, "come") {
			put = append(put, fmt.Sprintf("put %d\n", upTo(t, 3, "line")))
		}
		lines = slices.Replace(lines, at, end, put...)
	}
	return strings.Join(lines, "")
}

func (s *scene) drawSteps(now tree, label string, most int) tree {
	for range upTo(s.T, most, label) {
		now = s.drawStep(now)
	}
	return now
}

// drawSettings are lines of a configuration that change what is read.
func drawSettings(t *rapid.T) []string {
	var lines []string
	set := func(section, name string, values ...string) {
		lines = append(lines, fmt.Sprintf("[%s]\n\t%s = %s\n", section, name, pick(t, section+"."+name, values...)))
	}
	if one(t, 3, "an index version") {
		set("index", "version", "2", "3", "4")
	}
	if one(t, 4, "line ends are converted") {
		set("core", "autocrlf", "true", "input")
	}
	switch pick(t, "setting", "", "", "", "mode", "untracked", "renames", "limit", "case", "abbreviation", "quoting", "links", "cache") {
	case "mode":
		set("core", "fileMode", "false")
	case "untracked":
		set("status", "showUntrackedFiles", "all", "no", "normal")
	case "renames":
		set(pick(t, "whose renames", "status", "diff"), "renames", "false", "true")
	case "limit":
		set("diff", "renameLimit", "1", "2", "0")
	case "case":
		set("core", "ignoreCase", "true")
	case "abbreviation":
		set("core", "abbrev", "5", "12", "no")
	case "quoting":
		set("core", "quotePath", "false")
	case "links":
		set("core", "symlinks", "false")
	case "cache":
		set("core", "untrackedCache", "true")
	}
	return lines
}
