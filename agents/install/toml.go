package install

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// mark ends every line of ours that stands among the user's own. Uninstalling
// goes by it: what follows "was:" comes back, a line without that goes.
const mark = "# pillion mcp install"

// tomlText is a TOML document that is edited as text, statement by statement.
type tomlText struct {
	path       string // for messages
	text       string
	statements []statement
}

// statement is one `key = value` or one table header.
type statement struct {
	path       []string // the full name, the table's included
	table      []string // the table that it stands in; of a header, its own
	header     bool
	inline     bool // the value is an inline table
	start, end int  // the line or lines, with the line's end
	valueStart int
	valueEnd   int    // of a header: the closing bracket
	comment    string // behind it on the same line
}

// openTOML reads a file; where there is none, the document is empty.
func openTOML(path string) (*tomlText, FileChange, error) {
	text, existed, err := read(path)
	if err != nil {
		return nil, FileChange{}, err
	}
	doc, err := parseTOML(path, text)
	return doc, FileChange{Path: path, Before: text, Existed: existed}, err
}

func parseTOML(path, text string) (*tomlText, error) {
	t := &tomlText{path: path}
	var v map[string]any
	if err := toml.Unmarshal([]byte(text), &v); err != nil {
		where := ""
		var syntax *toml.DecodeError
		if errors.As(err, &syntax) {
			row, column := syntax.Position()
			where = fmt.Sprintf("line %d, column %d: ", row, column)
		}
		return nil, fmt.Errorf("%s is not valid TOML; fix it and run this again: %s%w", path, where, err)
	}
	return t, t.load(text)
}

func (t *tomlText) load(text string) error {
	t.text, t.statements = text, nil
	var table []string
	p := unstable.Parser{KeepComments: true}
	p.Reset([]byte(text))
	for p.NextExpression() {
		n := p.Expression()
		if n.Kind == unstable.Comment {
			continue
		}
		s := statement{header: n.Kind != unstable.KeyValue, table: table}
		first, last := unstable.Range{}, unstable.Range{}
		for it := n.Key(); it.Next(); {
			if len(s.path) == 0 {
				first = it.Node().Raw
			}
			last = it.Node().Raw
			s.path = append(s.path, string(it.Node().Data))
		}
		lineEnd := int(last.Offset + last.Length)
		if s.header {
			table = s.path
			lineEnd += strings.IndexByte(text[lineEnd:], ']') + 1
			if n.Kind == unstable.ArrayTable {
				lineEnd++
				table = append(slices.Clone(table), "[]") // nothing of ours can stand in it
			}
			s.valueEnd, s.table = lineEnd, table
		} else {
			s.path = append(slices.Clone(table), s.path...)
			s.inline = n.Value().Kind == unstable.InlineTable
			s.valueStart = lineEnd + strings.IndexByte(text[lineEnd:], '=') + 1
			s.valueStart += len(text[s.valueStart:]) - len(strings.TrimLeft(text[s.valueStart:], " \t"))
			s.valueEnd = int(n.Raw.Offset + n.Raw.Length)
			lineEnd = s.valueEnd
		}
		if c := n.Next(); c != nil && c.Kind == unstable.Comment {
			s.comment = string(c.Data)
			lineEnd = int(c.Raw.Offset + c.Raw.Length)
		}
		s.start = strings.LastIndexByte(text[:first.Offset], '\n') + 1
		s.end = len(text)
		if i := strings.IndexByte(text[lineEnd:], '\n'); i >= 0 {
			s.end = lineEnd + i + 1
		}
		t.statements = append(t.statements, s)
	}
	if err := p.Error(); err != nil {
		return fmt.Errorf("%s: %w", t.path, err)
	}
	return nil
}

func (t *tomlText) splice(start, end int, with string) error {
	return t.load(t.text[:start] + with + t.text[end:])
}

// find returns the statement that gives key in table its value.
func (t *tomlText) find(table []string, key string) (statement, bool) {
	path := append(slices.Clone(table), key)
	i := slices.IndexFunc(t.statements, func(s statement) bool { return !s.header && slices.Equal(s.path, path) })
	if i < 0 {
		return statement{}, false
	}
	return t.statements[i], true
}

// set makes the value at path read value, in a marked line.
func (t *tomlText) set(path []string, value string) (changed bool, err error) {
	table, key := path[:len(path)-1], path[len(path)-1]
	s, ok := t.find(table, key)
	if !ok {
		return true, t.insert(table, key+" = "+value+" "+mark)
	}
	old := t.text[s.valueStart:s.valueEnd]
	if sameTOML(old, value) {
		return false, nil
	}
	note := " " + mark + ", was: " + old
	if s.isOurs() {
		note = "" // ours already, from another version: what was before stays noted
	} else if strings.ContainsAny(old, "\r\n") {
		return false, fmt.Errorf("%s: %s spans several lines; put it on one and run this again", t.path, strings.Join(path, "."))
	}
	line := strings.TrimRight(t.text[s.valueEnd:s.end], "\r\n")
	rest := t.text[s.valueEnd+len(line) : s.end]
	return true, t.splice(s.valueStart, s.end, value+line+note+rest)
}

// insert puts a line at the end of a table, making the table if need be.
func (t *tomlText) insert(table []string, line string) error {
	at, found := 0, len(table) == 0
	dots := -1 // behind the last table.key at the top level
	for _, s := range t.statements {
		if s.inline && !s.header && slices.Equal(s.path, table) {
			return fmt.Errorf("%s: write %s as a table of its own, [%s], and run this again", t.path, dotted(table), dotted(table))
		}
		if slices.Equal(s.table, table) {
			at, found = s.end, true
		}
		if !s.header && len(s.table) == 0 && len(s.path) > len(table) && within(s.path, table) {
			dots = s.end
		}
	}
	nl := newlineOf(t.text)
	switch {
	case found:
		return t.insertAt(at, line+nl)
	case dots >= 0:
		return t.insertAt(dots, dotted(table)+"."+line+nl)
	}
	return t.insertAt(len(t.text), nl+"["+dotted(table)+"] "+mark+nl+line+nl)
}

func (t *tomlText) insertAt(at int, lines string) error {
	if at > 0 && t.text[at-1] != '\n' {
		lines = newlineOf(t.text) + lines
	}
	if at == 0 {
		lines = strings.TrimLeft(lines, "\r\n")
	}
	return t.splice(at, at, lines)
}

// textOf is a table with the tables in it as they are written, or, of one that is no table
// of its own, as a table that says the same. It is empty if there is none.
func (t *tomlText) textOf(table []string) (string, error) {
	var out strings.Builder
	header := false
	for _, s := range t.statements {
		if !within(s.path, table) {
			continue
		}
		if s.header {
			header = true
			out.WriteString(newlineOf(t.text))
		}
		out.WriteString(t.text[s.start:s.end])
	}
	if out.Len() == 0 || header {
		return out.String(), nil
	}
	root, err := decodeTOML(t.text)
	if err != nil {
		return "", err
	}
	value, _ := valueAt(root, table)
	for _, name := range slices.Backward(table) {
		value = map[string]any{name: value}
	}
	text, err := toml.Marshal(value)
	_, own, _ := strings.Cut(string(text), "["+dotted(table)+"]") // without the tables around it
	return newlineOf(t.text) + "[" + dotted(table) + "]" + own, err
}

// isOurs says that an installation has written the statement.
func (s statement) isOurs() bool { return strings.Contains(s.comment, mark) }

// unset takes every marked line out and puts back what it replaced.
func (t *tomlText) unset() (why []string, err error) {
	for {
		i := slices.IndexFunc(t.statements, func(s statement) bool { return s.isOurs() && !t.busy(s) })
		if i < 0 {
			return why, nil
		}
		s := t.statements[i]
		if _, was, ok := strings.Cut(s.comment, mark+", was: "); ok {
			err = t.restore(s, was)
			why = append(why, fmt.Sprintf("puts %s back to %s", dotted(s.path), was))
		} else {
			start := s.start
			if s.header { // with the blank line that was put before it
				start = len(strings.TrimSuffix(t.text[:start], newlineOf(t.text)))
			}
			err = t.splice(start, s.end, "")
			if !s.header {
				why = append(why, "takes "+dotted(s.path)+" out")
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// busy says that s is the header of a table that still holds something.
func (t *tomlText) busy(s statement) bool {
	return s.header && slices.ContainsFunc(t.statements, func(o statement) bool {
		return !o.header && slices.Equal(o.table, s.path)
	})
}

func (t *tomlText) restore(s statement, was string) error {
	line := t.text[s.valueEnd:s.end]
	rest := line[len(strings.TrimRight(line, "\r\n")):]
	keep, _, _ := strings.Cut(line, mark)
	return t.splice(s.valueStart, s.end, was+strings.TrimRight(keep, " \t")+rest)
}

// cut takes a whole table out: its header, its keys and its sub-tables,
// wherever they stand. It goes from the last to the first, so that no key is
// left without its header in between.
func (t *tomlText) cut(table []string, comment string) (changed bool, err error) {
	for {
		i := len(t.statements) - 1
		for i >= 0 && !within(t.statements[i].path, table) {
			i--
		}
		if i < 0 {
			return changed, nil
		}
		s, start := t.statements[i], t.statements[i].start
		if s.header {
			start = len(strings.TrimSuffix(t.text[:start], comment+newlineOf(t.text)))
			start = len(strings.TrimSuffix(t.text[:start], newlineOf(t.text)))
			if start > 0 && t.text[start-1] != '\n' {
				start += len(newlineOf(t.text))
			}
		}
		if err := t.splice(start, s.end, ""); err != nil {
			return false, err
		}
		changed = true
	}
}

// within says that path is table or something in it.
func within(path, table []string) bool {
	return len(path) >= len(table) && slices.Equal(path[:len(table)], table)
}

// decodeTOML gives the document as plain values, without those that are ours.
func decodeTOML(text string, ours ...[]string) (map[string]any, error) {
	v := map[string]any{}
	if err := toml.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	for _, path := range ours {
		strip(v, path, "")
	}
	return v, nil
}

// onlyOurs fails when two documents differ in more than what Codex's installation sets.
func onlyOurs(path, before, after string) error {
	ours := [][]string{codexServer}
	for _, off := range codexOff {
		ours = append(ours, off.path)
	}
	a, err := decodeTOML(before, ours...)
	if err != nil {
		return err
	}
	b, err := decodeTOML(after, ours...)
	if err != nil {
		return fmt.Errorf("%s: what Pillion adds conflicts with the file (%w); move mcp_servers and features into [tables] of their own and run this again", path, err)
	}
	if !reflect.DeepEqual(a, b) {
		return wouldLose(path)
	}
	return nil
}

func sameTOML(a, b string) bool {
	x, errA := decodeTOML("v = " + a)
	y, errB := decodeTOML("v = " + b)
	return errA == nil && errB == nil && reflect.DeepEqual(x, y)
}

// dotted writes a name the way TOML does.
func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = p
		if p == "" || strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			parts[i] = quote(p) // its escapes are a subset of TOML's
		}
	}
	return strings.Join(parts, ".")
}
