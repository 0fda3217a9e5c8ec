package patch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"pillion/internal/fault"
	"pillion/workspace/diff"
)

func lineName(line int) string { return fmt.Sprintf("line %d: ", line) }

// section is what a diff says of one file.
type section struct {
	line   int      // of its first line
	git    string   // what follows "diff --git ", "" of a plain diff
	header []string // the lines between that and "---"
	old    string   // what follows "--- ", "" if there is no such line
	now    string   // what follows "+++ "
	body   []string // hunks, or binary data
	starts int      // the line at which body begins
	hunks  []int    // the lines at which its hunks begin
	crlf   bool     // its lines ended in carriage returns
}

// parseUnified reads diffs, and passes over whatever stands around them.
func parseUnified(text string) ([]File, error) {
	s := scanner{lines: diff.SplitLines(text)}
	if n := len(s.lines); n > 0 && !strings.HasSuffix(s.lines[n-1], "\n") {
		s.lines[n-1] += "\n"
	}
	var sections []section
	for s.at < len(s.lines) {
		next, err := s.section()
		if err != nil {
			return nil, err
		}
		if next != nil {
			sections = append(sections, *next)
		}
	}
	out := make([]File, 0, len(sections))
	for _, one := range sections {
		f, err := one.file()
		if err != nil {
			return nil, err
		}
		if f != nil {
			out = append(out, *f)
		}
	}
	return out, nil
}

// scanner cuts a diff into sections. It counts the lines of hunks, for a line that is
// removed may look like the head of the next file.
type scanner struct {
	lines []string
	at    int
	crlf  bool // the section's lines end in carriage returns that are none of the files'
}

// line is the line at n, "" where there is none.
func (s *scanner) line(n int) string {
	if n >= len(s.lines) {
		return ""
	}
	if s.crlf && strings.HasSuffix(s.lines[n], "\r\n") {
		return s.lines[n][:len(s.lines[n])-2] + "\n"
	}
	return s.lines[n]
}

// section reads the section that begins at the next line, nil if none does.
func (s *scanner) section() (*section, error) {
	head := s.lines[s.at]
	s.crlf = strings.HasSuffix(head, "\r\n")
	out := &section{line: s.at + 1, crlf: s.crlf}
	switch git, isGit := strings.CutPrefix(head, "diff --git "); {
	case isGit:
		out.git = strings.TrimRight(git, "\r\n")
		s.at++
		s.header(out)
	case s.beginsPlain():
		s.names(out)
	case strings.HasPrefix(head, "@@ -"):
		return nil, broken(s.at+1, "this hunk belongs to no file").WithHint("put the lines \"--- a/path\" and \"+++ b/path\" above it")
	case strings.TrimRight(head, blanks) == beginPatch:
		return nil, broken(s.at+1, "a diff is followed by a patch in the other format").WithHint(oneForm)
	default:
		s.at++
		return nil, nil
	}
	out.starts = s.at + 1
	return out, s.body(out)
}

// beginsPlain: a file's name stands here, and what comes of it is a hunk.
func (s *scanner) beginsPlain() bool {
	return strings.HasPrefix(s.line(s.at), "--- ") && strings.HasPrefix(s.line(s.at+1), "+++ ") && strings.HasPrefix(s.line(s.at+2), "@@")
}

func (s *scanner) names(out *section) {
	out.old = strings.TrimSuffix(s.line(s.at)[len("--- "):], "\n")
	out.now = strings.TrimSuffix(s.line(s.at + 1)[len("+++ "):], "\n")
	s.at += 2
}

// extended are the lines that may stand below "diff --git".
var extended = []string{
	"old mode ", "new mode ", "deleted file mode ", "new file mode ", "copy from ", "copy to ",
	"rename from ", "rename to ", "rename old ", "rename new ", "similarity index ", "dissimilarity index ", "index ",
}

func (s *scanner) header(out *section) {
	for ; s.at < len(s.lines); s.at++ {
		line := s.line(s.at)
		if strings.HasPrefix(line, "--- ") && strings.HasPrefix(s.line(s.at+1), "+++ ") {
			s.names(out)
			return
		}
		if !hasAnyPrefix(line, extended) {
			return
		}
		out.header = append(out.header, line)
	}
}

func hasAnyPrefix(line string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

func (s *scanner) body(out *section) error {
	for s.at < len(s.lines) {
		line := s.line(s.at)
		switch {
		case strings.HasPrefix(line, "@@"):
			if err := s.hunk(out); err != nil {
				return err
			}
			continue
		case len(out.body) > 0:
			return nil
		case line == "GIT binary patch\n":
			s.binary(out)
		case isDiffer(line):
			s.take(out)
		}
		return nil
	}
	return nil
}

func isDiffer(line string) bool {
	return strings.HasSuffix(line, " differ\n") && (strings.HasPrefix(line, "Binary files ") || strings.HasPrefix(line, "Files "))
}

func (s *scanner) take(out *section) {
	out.body = append(out.body, s.line(s.at))
	s.at++
}

// binary takes both directions of a binary patch: each ends with an empty line.
func (s *scanner) binary(out *section) {
	s.take(out)
	for strings.HasPrefix(s.line(s.at), "literal ") || strings.HasPrefix(s.line(s.at), "delta ") {
		for s.at < len(s.lines) && s.line(s.at) != "\n" {
			s.take(out)
		}
		if s.at < len(s.lines) {
			s.take(out)
		}
	}
}

// hunk takes the lines that a hunk's header counts.
func (s *scanner) hunk(out *section) error {
	start := s.at
	old, now, err := counts(s.line(s.at))
	if err != nil {
		return broken(start+1, "%w", err)
	}
	out.hunks = append(out.hunks, start+1)
	s.take(out)
	for old > 0 || now > 0 {
		line := s.line(s.at)
		switch {
		case strings.HasPrefix(line, " "), line == "\n":
			old, now = old-1, now-1
		case strings.HasPrefix(line, "-"):
			old--
		case strings.HasPrefix(line, "+"):
			now--
		case strings.HasPrefix(line, `\`) && s.at > start+1:
		default:
			return s.miscounted(start)
		}
		if old < 0 || now < 0 {
			return s.miscounted(start)
		}
		s.take(out)
	}
	if strings.HasPrefix(s.line(s.at), `\ `) {
		s.take(out)
	}
	return nil
}

// counts are how many lines a hunk's header says that it has of either side.
func counts(header string) (old, now int, err error) {
	ranges, _, closed := strings.Cut(strings.TrimPrefix(header, "@@"), " @@")
	before, after, both := strings.Cut(ranges, " +")
	before, numbered := strings.CutPrefix(before, " -")
	if !closed || !both || !numbered {
		return 0, 0, errors.New("a hunk's header must be like \"@@ -12,3 +12,4 @@\"")
	}
	if old, err = lineCount(before); err == nil {
		now, err = lineCount(after)
	}
	return old, now, err
}

// mostLines bounds the numbers of a header: no patch that is taken has as many.
const mostLines = 1 << 30

func lineCount(span string) (int, error) {
	start, length, counted := strings.Cut(span, ",")
	if !counted {
		length = "1"
	}
	for _, n := range []string{start, length} {
		if v, err := strconv.ParseUint(n, 10, 63); err != nil || v > mostLines {
			return 0, fmt.Errorf("%s is not a range of lines", fault.Quote(span))
		}
	}
	return strconv.Atoi(length)
}

// miscounted tells what a hunk's header should say.
func (s *scanner) miscounted(start int) error {
	old, now, at := 0, 0, start+1
lines:
	for ; at < len(s.lines); at++ {
		line := s.line(at)
		switch {
		case strings.HasPrefix(line, "--- ") && strings.HasPrefix(s.line(at+1), "+++ "), line == "-- \n":
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
	header := strings.TrimSuffix(s.line(start), "\n")
	err := broken(start+1, "the header %s does not fit the hunk, which has %s before the change and %s after it", fault.Quote(clip(header)), lineCounted(old), lineCounted(now))
	return err.WithHint("the numbers behind the commas count the hunk's lines: those with \" \" or \"-\" in front before the change, those with \" \" or \"+\" after it; make the diff again, or use the form that begins with \"*** Begin Patch\", which has no numbers")
}

func lineCounted(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

const clipLength = 200

func clip(s string) string {
	if len(s) <= clipLength {
		return s
	}
	return strings.ToValidUTF8(s[:clipLength], "") + "…"
}

// file reads a section, nil of one that changes nothing.
func (s section) file() (*File, error) {
	n, err := s.identify()
	if err != nil {
		return nil, err
	}
	one, err := s.read(n)
	if err != nil {
		return nil, err
	}
	f := &File{Operation: n.operation, Old: n.old, New: n.now, Bare: n.bare, OldMode: uint32(one.OldMode), NewMode: uint32(one.NewMode), Plain: s.git == "", Returns: s.crlf, Line: s.line}
	for i, frag := range one.TextFragments {
		f.Hunks = append(f.Hunks, Hunk{Hunk: hunkOf(frag), Line: s.hunks[i]})
	}
	if one.IsBinary {
		f.Binary = &Binary{fragment: one.BinaryFragment, oldID: one.OldOIDPrefix, newID: one.NewOIDPrefix}
	}
	if f.Operation == Change && len(f.Hunks) == 0 && f.Binary == nil && (f.NewMode == 0 || f.NewMode == f.OldMode) {
		return nil, nil
	}
	return f, nil
}

func hunkOf(frag *gitdiff.TextFragment) diff.Hunk {
	h := diff.Hunk{
		OldStart: int(frag.OldPosition), OldLines: int(frag.OldLines), NewStart: int(frag.NewPosition), NewLines: int(frag.NewLines),
		Section: frag.Comment, Lines: make([]diff.Line, len(frag.Lines)),
	}
	ops := map[gitdiff.LineOp]diff.Op{gitdiff.OpContext: diff.Context, gitdiff.OpDelete: diff.Delete, gitdiff.OpAdd: diff.Insert}
	for i, line := range frag.Lines {
		h.Lines[i] = diff.Line{Op: ops[line.Op], Text: line.Line}
	}
	return h
}

// read has the library read the section, with names that it cannot misunderstand.
func (s section) read(n names) (*gitdiff.File, error) {
	var out strings.Builder
	out.WriteString("diff --git a/f b/f\n")
	above := 1
	add := func(line string) {
		out.WriteString(line)
		above++
	}
	said := false
	for _, line := range s.header {
		switch {
		case strings.HasPrefix(line, "new file mode "), strings.HasPrefix(line, "deleted file mode "):
			said = true
			add(line)
		case strings.Contains(line, " mode "), strings.HasPrefix(line, "old mode "), strings.HasPrefix(line, "new mode "):
			add(line)
		case strings.HasPrefix(line, "index ") && strings.Contains(line, ".."):
			add(line)
		}
	}
	old, now := "--- a/f\n", "+++ b/f\n"
	switch n.operation {
	case Create:
		old = "--- /dev/null\n"
		if !said {
			add("new file mode 0\n")
		}
	case Delete:
		now = "+++ /dev/null\n"
		if !said {
			add("deleted file mode 0\n")
		}
	}
	if len(s.hunks) > 0 {
		add(old)
		add(now)
	}
	for _, line := range s.body {
		out.WriteString(line)
	}
	files, _, err := gitdiff.Parse(strings.NewReader(out.String()))
	if err != nil {
		return nil, s.located(err, above)
	}
	if len(files) != 1 {
		return nil, broken(s.line, "this is not a diff of one file")
	}
	return files[0], nil
}

// located gives an error of the library the line of the patch.
func (s section) located(err error, above int) error {
	message, line := strings.TrimPrefix(err.Error(), "gitdiff: "), s.line
	var n int
	if _, scanErr := fmt.Sscanf(message, "line %d:", &n); scanErr == nil {
		_, message, _ = strings.Cut(message, ": ")
		if n > above {
			line = s.starts + min(n-above, len(s.body)) - 1
		}
	}
	return broken(line, "%s", fault.Escape(message))
}
