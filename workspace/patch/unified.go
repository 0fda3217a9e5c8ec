package patch

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"pillion/internal/fault"
	"pillion/workspace/diff"
)

// unifiedParser reads diffs. Of the library go-gitdiff it takes binary patches. The names in a
// diff, whose prefixes are not always git's, carriage returns and headers that count wrongly
// are read here.
type unifiedParser struct{ lines }

// parseUnified reads diffs, and passes over whatever stands around them.
func parseUnified(text string) ([]File, error) {
	p := unifiedParser{newLines(text)}
	var out []File
	for p.at < len(p.all) {
		f, err := p.file()
		if err != nil {
			return nil, err
		}
		if f != nil {
			out = append(out, *f)
		}
	}
	return out, nil
}

// file reads what is said of a file from the next line on, nil if nothing is.
func (p *unifiedParser) file() (*File, error) {
	head := p.all[p.at]
	p.crlf = strings.HasSuffix(head, "\r\n")
	f := &File{Operation: Change, Line: p.at + 1, Returns: p.crlf}
	git, isGit := strings.CutPrefix(head, "diff --git ")
	binary := &Binary{}
	switch {
	case isGit:
		p.at++
		if err := p.header(f, binary); err != nil {
			return nil, err
		}
	case p.isSides() && strings.HasPrefix(p.line(p.at+2), "@@"):
		f.Plain = true
	case strings.HasPrefix(head, "@@ -"):
		return nil, broken(p.at+1, "this hunk belongs to no file").WithHint("put the lines \"--- a/path\" and \"+++ b/path\" above it")
	case strings.TrimRight(head, blanks) == beginPatch:
		return nil, broken(p.at+1, "a diff is followed by a patch in the other format").WithHint(oneForm)
	default:
		p.at++
		return nil, nil
	}
	old, now := "", "" // what follows "---" and "+++"
	if p.isSides() {
		old = strings.TrimSuffix(p.line(p.at)[len("--- "):], "\n")
		now = strings.TrimSuffix(p.line(p.at + 1)[len("+++ "):], "\n")
		p.at += 2
	}
	if err := f.name(strings.TrimRight(git, "\r\n"), old, now); err != nil {
		return nil, err
	}
	for strings.HasPrefix(p.line(p.at), "@@") {
		h, err := p.hunk()
		switch {
		case err != nil:
			return nil, err
		case f.Operation == Create && h.OldLines > 0:
			return nil, broken(h.Line, "new file depends on old contents")
		case f.Operation == Delete && h.NewLines > 0:
			return nil, broken(h.Line, "deleted file still has contents")
		}
		f.Hunks = append(f.Hunks, h)
	}
	if line := p.line(p.at); len(f.Hunks) == 0 {
		switch {
		case line == "GIT binary patch\n":
			f.Binary = binary
			if err := p.binary(binary); err != nil {
				return nil, err
			}
		case strings.HasSuffix(line, " differ\n") && hasAnyPrefix(line, []string{"Binary files ", "Files "}):
			f.Binary = binary
			p.at++
		case f.Operation == Change && (f.NewMode == 0 || f.NewMode == f.OldMode):
			return nil, nil
		}
	}
	return f, nil
}

// isSides: the names of a file's two sides come next.
func (p *unifiedParser) isSides() bool {
	return strings.HasPrefix(p.line(p.at), "--- ") && strings.HasPrefix(p.line(p.at+1), "+++ ")
}

// header reads the lines that may stand below "diff --git".
func (p *unifiedParser) header(f *File, binary *Binary) error {
	for ; p.at < len(p.all); p.at++ {
		key, value := "", ""
		for _, k := range []string{
			"old mode ", "new mode ", "deleted file mode ", "new file mode ", "copy from ", "copy to ",
			"rename from ", "rename to ", "rename old ", "rename new ", "similarity index ", "dissimilarity index ", "index ",
		} {
			if v, ok := strings.CutPrefix(p.line(p.at), k); ok {
				key, value = k, strings.TrimSuffix(v, "\n")
			}
		}
		mode, to := "", &f.OldMode
		switch key {
		case "":
			return nil
		case "old mode ":
			mode = value
		case "new mode ":
			mode, to = value, &f.NewMode
		case "deleted file mode ":
			f.Operation, mode = Delete, value
		case "new file mode ":
			f.Operation, mode, to = Create, value, &f.NewMode
		case "copy from ":
			f.Operation, f.Old = Copy, unquoted(value)
		case "copy to ":
			f.Operation, f.New = Copy, unquoted(value)
		case "rename from ", "rename old ":
			f.Operation, f.Old = Rename, unquoted(value)
		case "rename to ", "rename new ":
			f.Operation, f.New = Rename, unquoted(value)
		case "index ":
			ids, said, _ := strings.Cut(value, " ")
			if old, now, both := strings.Cut(ids, ".."); both {
				binary.oldID, binary.newID, mode = old, now, said
			}
		}
		if mode != "" {
			n, err := strconv.ParseUint(strings.TrimSpace(mode), 8, 31)
			if err != nil {
				return broken(p.at+1, "invalid mode %s", fault.Quote(clip(mode)))
			}
			*to = uint32(n)
		}
	}
	return nil
}

// binary has the library read both directions of a binary patch: each ends with an empty line.
func (p *unifiedParser) binary(b *Binary) error {
	start := p.at
	p.at++
	for hasAnyPrefix(p.line(p.at), []string{"literal ", "delta "}) {
		for p.at < len(p.all) && p.line(p.at) != "\n" {
			p.at++
		}
		p.at = min(p.at+1, len(p.all))
	}
	var text strings.Builder
	text.WriteString("diff --git a/f b/f\n")
	for n := start; n < p.at; n++ {
		text.WriteString(p.line(n))
	}
	files, _, err := gitdiff.Parse(strings.NewReader(text.String()))
	if err == nil && len(files) == 1 {
		b.fragment = files[0].BinaryFragment
		return nil
	}
	message, n := strings.TrimPrefix(fmt.Sprint(err), "gitdiff: "), 0
	if _, scanErr := fmt.Sscanf(message, "line %d:", &n); scanErr == nil {
		_, message, _ = strings.Cut(message, ": ")
	}
	return broken(max(start+1, min(start+n-1, p.at)), "%s", fault.Escape(message))
}

// hunk reads a hunk: as many lines as its header counts, for a line that is removed may look
// like the head of the next file.
func (p *unifiedParser) hunk() (Hunk, error) {
	start := p.at
	header, err := parseHeader(p.line(start))
	if err != nil {
		return Hunk{}, broken(start+1, "%w", err)
	}
	h := Hunk{Hunk: header, Line: start + 1}
	old, now, changes := h.OldLines, h.NewLines, 0
	for p.at++; old > 0 || now > 0; p.at++ {
		line := p.line(p.at)
		op := diff.Context
		switch {
		case line == "\n":
			line = " \n"
			old, now = old-1, now-1
		case strings.HasPrefix(line, " "):
			old, now = old-1, now-1
		case strings.HasPrefix(line, "-"):
			op, old = diff.Delete, old-1
		case strings.HasPrefix(line, "+"):
			op, now = diff.Insert, now-1
		case strings.HasPrefix(line, `\`) && len(h.Lines) > 0:
			h.unend()
			continue
		default:
			return h, p.miscounted(start)
		}
		if old < 0 || now < 0 {
			return h, p.miscounted(start)
		}
		if op != diff.Context {
			changes++
		}
		h.Lines = append(h.Lines, diff.Line{Op: op, Text: line[1:]})
	}
	if strings.HasPrefix(p.line(p.at), `\ `) && len(h.Lines) > 0 {
		h.unend()
		p.at++
	}
	if changes == 0 {
		return h, broken(h.Line, "this hunk changes nothing")
	}
	return h, nil
}

// parseHeader reads the numbers of a hunk and what stands behind them.
func parseHeader(line string) (h diff.Hunk, err error) {
	ranges, section, closed := strings.Cut(strings.TrimPrefix(line, "@@"), " @@")
	before, after, both := strings.Cut(ranges, " +")
	before, numbered := strings.CutPrefix(before, " -")
	if !closed || !both || !numbered {
		return h, errors.New("a hunk's header must be like \"@@ -12,3 +12,4 @@\"")
	}
	h.Section = strings.TrimSpace(section)
	if h.OldStart, h.OldLines, err = parseRange(before); err == nil {
		h.NewStart, h.NewLines, err = parseRange(after)
	}
	return h, err
}

// mostLines bounds the numbers of a header: no patch that is taken has as many.
const mostLines = 1 << 30

func parseRange(s string) (start, length int, err error) {
	first, second, counted := strings.Cut(s, ",")
	if !counted {
		second = "1"
	}
	a, err := strconv.ParseUint(first, 10, 63)
	b, countErr := strconv.ParseUint(second, 10, 63)
	if err != nil || countErr != nil || max(a, b) > mostLines {
		return 0, 0, fmt.Errorf("%s is not a range of lines", fault.Quote(s))
	}
	return int(a), int(b), nil
}

// miscounted tells what a hunk's header should say.
func (p *unifiedParser) miscounted(start int) error {
	old, now := 0, 0
lines:
	for p.at = start + 1; p.at < len(p.all); p.at++ {
		line := p.line(p.at)
		switch {
		case p.isSides(), line == "-- \n":
			break lines
		case strings.HasPrefix(line, " "), line == "\n":
			old, now = old+1, now+1
		case strings.HasPrefix(line, "-"):
			old++
		case strings.HasPrefix(line, "+"):
			now++
		case !strings.HasPrefix(line, `\`):
			break lines
		}
	}
	counted := func(n int) string {
		if n == 1 {
			return "1 line"
		}
		return fmt.Sprintf("%d lines", n)
	}
	header := strings.TrimSuffix(p.line(start), "\n")
	err := broken(start+1, "the header %s does not fit the hunk, which has %s before the change and %s after it", fault.Quote(clip(header)), counted(old), counted(now))
	return err.WithHint("the numbers behind the commas count the hunk's lines: those with \" \" or \"-\" in front before the change, those with \" \" or \"+\" after it; make the diff again, or use the form that begins with \"*** Begin Patch\", which has no numbers")
}

// clip cuts what an error quotes of a patch.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// name finds which file it is, and whether that is new or goes: git is what follows "diff --git",
// before and after what follows "---" and "+++", where there are such lines.
func (f *File) name(git, before, after string) error {
	if f.Operation == Rename || f.Operation == Copy {
		if f.Old == "" || f.New == "" {
			return broken(f.Line, "it does not say which file is renamed or copied to which")
		}
		return nil
	}
	old, now := sideName(before), sideName(after)
	switch {
	case before != "" && old == "" && after != "" && now == "":
		return broken(f.Line, "it names no file on either side")
	case before != "" && old == "":
		f.Operation = Create
	case after != "" && now == "":
		f.Operation = Delete
	}
	first, second := gitNames(git)
	if old == "" && now == "" {
		old, now = first, second
	}
	one, letter := old, "a/"
	if old == "" {
		one, letter = now, "b/"
	}
	switch {
	case old == now: // what both sides call the same has no prefix
		if f.New = old; f.Plain {
			f.Bare = withoutFolder(old)
		}
	case old != "" && now != "":
		f.New = commonName(old, now)
	case first != "" && first == second:
		f.New = one
	case first != "" && folderOf(first) != folderOf(second):
		f.New = withoutFolder(one)
	default:
		if f.New = strings.TrimPrefix(one, letter); f.New == one {
			f.Bare = withoutFolder(one)
		}
	}
	if f.Old = f.New; f.New == "" {
		return broken(f.Line, "it does not name its file")
	}
	return nil
}

// commonName is the file that a diff between two names is about: without "a/" and "b/", or
// whatever differs in front of the same name.
func commonName(old, now string) string {
	if a, b := folderOf(old), folderOf(now); a != b && a != "" && b != "" {
		isGits := func(folder string) bool { return len(folder) == 1 && strings.Contains("abciow12", folder) } // as git is set up
		if short, other := withoutFolder(old), withoutFolder(now); short == other || isGits(a) && isGits(b) {
			old, now = short, other
		}
	}
	if strings.HasPrefix(now, old) { // the new one is x.new
		return old
	}
	return now
}

func folderOf(name string) string {
	folder, _, found := strings.Cut(name, "/")
	if !found {
		return ""
	}
	return folder
}

// withoutFolder is a name without its first folder, "" if it has none.
func withoutFolder(name string) string {
	_, rest, _ := strings.Cut(name, "/")
	return strings.TrimLeft(rest, "/")
}

// dated is a time as it stands behind a name without a tab.
var dated = regexp.MustCompile(` +\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d+)?)?( [-+]\d{4})?$`)

// sideName reads what stands behind "---" or "+++", "" where there is no file: that is written
// as /dev/null, or with the first of all times.
func sideName(s string) string {
	if strings.HasPrefix(s, `"`) {
		return unquoted(s)
	}
	name, stamp, tabbed := strings.Cut(s, "\t")
	if at := dated.FindStringIndex(name); at != nil && !tabbed {
		name, stamp = name[:at[0]], strings.TrimSpace(name[at[0]:])
	}
	for _, layout := range []string{"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 -07:00"} {
		if t, err := time.Parse(layout, stamp); err == nil && t.Unix() == 0 {
			return ""
		}
	}
	if name == "/dev/null" {
		return ""
	}
	return name
}

// gitNames are the two names behind "diff --git". Names with blanks in them are not
// quoted: where both are the same but for their prefixes it is clear where one ends.
func gitNames(s string) (first, second string) {
	const most = 32 << 10 // no path is as long
	if len(s) > most {
		return "", ""
	}
	if quoted, err := strconv.QuotedPrefix(s); err == nil && s[0] == '"' {
		return unquoted(quoted), unquoted(strings.TrimLeft(s[len(quoted):], " "))
	}
	if at := strings.Index(s, ` "`); at > 0 {
		return s[:at], unquoted(s[at+1:])
	}
	isClear := strings.Count(s, " ") == 1
	for at := range len(s) {
		if s[at] != ' ' {
			continue
		}
		first, second = s[:at], s[at+1:]
		if name := withoutFolder(first); isClear || first == second || name != "" && name == withoutFolder(second) {
			return first, second
		}
	}
	return "", ""
}

// unquoted undoes git's quotes, which are written as Go's are.
func unquoted(s string) string {
	if quoted, err := strconv.QuotedPrefix(s); err == nil && s[0] == '"' {
		s, _ = strconv.Unquote(quoted)
	}
	return s
}
