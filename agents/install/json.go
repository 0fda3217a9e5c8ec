package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"pillion/internal/bug"
)

// jsonText is a JSON document (comments and trailing commas allowed) that is
// edited as text: each edit is one or two splices at offsets that the parser
// gives, so everything else keeps its bytes.
type jsonText struct {
	path   string // for messages
	text   string
	root   hujson.Value
	broken error // an edit of ours that broke the grammar; nothing may be written
}

func parseJSON(path, text string) (*jsonText, error) {
	j := &jsonText{path: path}
	if strings.TrimSpace(text) == "" {
		text = "{}\n"
	}
	if err := j.load(text); err != nil {
		return nil, fmt.Errorf("%s is not valid JSON; fix it and run this again: %s", path, withoutLiteral(err))
	}
	if _, ok := j.root.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("%s must contain a JSON object; fix it and run this again", path)
	}
	return j, nil
}

// withoutLiteral is what the parser says, without the word of the file that it
// stumbled over: it may be a key, and messages are pasted into issues.
func withoutLiteral(err error) string {
	said, _, _ := strings.Cut(err.Error(), "invalid literal: ")
	if said == err.Error() {
		return said
	}
	return said + "invalid literal"
}

// openJSON reads a file; where there is none, the document is an empty object.
func openJSON(path string) (*jsonText, FileChange, error) {
	text, existed, err := read(path)
	if err != nil {
		return nil, FileChange{}, err
	}
	doc, err := parseJSON(path, text)
	return doc, FileChange{Path: path, Before: text, Existed: existed}, err
}

func (j *jsonText) load(text string) error {
	root, err := hujson.Parse([]byte(text))
	if err != nil {
		return err
	}
	j.text, j.root = text, root
	return nil
}

// splice replaces text[start:end] and parses the result.
func (j *jsonText) splice(start, end int, with string) {
	if err := j.load(j.text[:start] + with + j.text[end:]); err != nil {
		j.broken = bug.Errorf("editing %s broke it: %w", j.path, err)
	}
}

// find walks path and returns the deepest value on it, with how many names led
// there.
func (j *jsonText) find(path []string) (*hujson.Value, int) {
	v := &j.root
	for depth, name := range path {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			return v, depth
		}
		i := memberIndex(obj, name)
		if i < 0 {
			return v, depth
		}
		v = &obj.Members[i].Value
	}
	return v, len(path)
}

// The last of doubled names counts, as it does for the agents' own parsers.
func memberIndex(obj *hujson.Object, name string) int {
	for i, m := range slices.Backward(obj.Members) {
		if lit, ok := m.Name.Value.(hujson.Literal); ok && lit.String() == name {
			return i
		}
	}
	return -1
}

// set has the document say what e says, making the objects and the array on the way.
func (j *jsonText) set(e edit) (changed bool, err error) {
	v, depth := j.find(e.path)
	value := e.value
	if e.item != "" {
		value = cmp.Or(value, any(e.item))
	}
	if depth < len(e.path) {
		if _, ok := v.Value.(*hujson.Object); !ok {
			return false, j.wrongKind(e.path[:depth], "an object")
		}
		if e.item != "" {
			value = []any{value}
		}
		for _, name := range slices.Backward(e.path[depth+1:]) {
			value = map[string]any{name: value}
		}
		j.insert(v, quote(e.path[depth])+": ", value)
		return true, nil
	}
	if e.item != "" {
		arr, ok := v.Value.(*hujson.Array)
		if !ok {
			return false, j.wrongKind(e.path, "an array")
		}
		i := indexItem(arr, e.item)
		if i < 0 {
			j.insert(v, "", value)
			return true, nil
		}
		v = &arr.Elements[i]
	}
	if equalJSON(decodeValue(*v), value) {
		return false, nil
	}
	j.splice(v.StartOffset, v.EndOffset, j.format(value, j.lineIndent(v.StartOffset), false))
	return true, nil
}

// get returns the value at path as plain values.
func (j *jsonText) get(path []string) (any, bool) {
	v, depth := j.find(path)
	if depth < len(path) {
		return nil, false
	}
	return decodeValue(*v), true
}

// remove takes the member at path out, or item out of the array there, and the containers that
// this leaves empty, but for the outermost keep that were there before.
func (j *jsonText) remove(path []string, item string, keep int) (changed bool) {
	v, depth := j.find(path)
	if depth < len(path) {
		return false
	}
	in, i := path, -1
	if item == "" {
		in = path[:len(path)-1]
		v, _ = j.find(in)
		i = memberIndex(v.Value.(*hujson.Object), path[len(path)-1])
	} else if arr, ok := v.Value.(*hujson.Array); ok {
		i = indexItem(arr, item)
	}
	if i < 0 {
		return false
	}
	j.cut(j.span(v), i)
	if v, _ := j.find(in); len(in) > keep && j.isEmpty(v) {
		j.remove(in, "", keep)
	}
	return true
}

// isEmpty says that nothing is in an object or array, not even a comment.
func (j *jsonText) isEmpty(v *hujson.Value) bool {
	s := j.span(v)
	return len(s.items) == 0 && strings.TrimSpace(j.text[s.open+1:s.close]) == ""
}

// textAt is the value at path as it is written, empty if there is none.
func (j *jsonText) textAt(path []string) string {
	v, depth := j.find(path)
	if depth < len(path) {
		return ""
	}
	return j.text[v.StartOffset:v.EndOffset]
}

// put writes text where the value at path stands.
func (j *jsonText) put(path []string, text string) {
	v, _ := j.find(path)
	j.splice(v.StartOffset, v.EndOffset, text)
}

// empty says that nothing is left but an empty object.
func (j *jsonText) empty() bool {
	return j.isEmpty(&j.root) && strings.TrimSpace(j.text) == j.text[j.root.StartOffset:j.root.EndOffset]
}

func (j *jsonText) wrongKind(path []string, want string) error {
	name := "the document"
	if len(path) > 0 {
		name = strings.Join(path, ".")
	}
	return fmt.Errorf("%s: %s must be %s; fix it and run this again", j.path, name, want)
}

// composite is an object or an array as offsets into the text.
type composite struct {
	open, close int // of the brackets
	items       []item
	trailing    bool // a comma follows the last item
}

type item struct{ start, end, comma int } // comma is where it stands or would stand

func (j *jsonText) span(v *hujson.Value) composite {
	c := composite{open: v.StartOffset, close: v.EndOffset - 1}
	switch x := v.Value.(type) {
	case *hujson.Object:
		for _, m := range x.Members {
			c.items = append(c.items, item{m.Name.StartOffset, m.Value.EndOffset, m.Value.EndOffset + len(m.Value.AfterExtra)})
		}
	case *hujson.Array:
		for _, e := range x.Elements {
			c.items = append(c.items, item{e.StartOffset, e.EndOffset, e.EndOffset + len(e.AfterExtra)})
		}
	}
	if n := len(c.items); n > 0 {
		c.trailing = j.text[c.items[n-1].comma] == ','
	}
	return c
}

// insert adds a last item: on a line of its own, or on the same line where the
// whole composite stands on one.
func (j *jsonText) insert(v *hujson.Value, prefix string, value any) {
	c := j.span(v)
	body := j.text[c.open+1 : c.close]
	if len(c.items) > 0 && !strings.Contains(body, "\n") {
		last := c.items[len(c.items)-1]
		j.splice(last.end, last.end, ", "+prefix+j.format(value, "", true))
		return
	}
	outer := j.lineIndent(c.open)
	indent := outer + j.unit()
	if len(c.items) > 0 {
		indent = j.lineIndent(c.items[0].start)
	}
	text := newlineOf(j.text) + indent + prefix + j.format(value, indent, false)
	if c.trailing {
		text += ","
	}
	at := c.open + 1 + len(strings.TrimRight(body, " \t\r\n"))
	if !strings.Contains(j.text[at:c.close], "\n") {
		text += newlineOf(j.text) + outer
	}
	if len(c.items) > 0 && !c.trailing {
		// The comma goes right behind the value, before any comment on its line.
		end := c.items[len(c.items)-1].end
		j.splice(end, at, ","+j.text[end:at]+text)
		return
	}
	j.splice(at, at, text)
}

// cut takes item i out with its comma and the white space before it.
func (j *jsonText) cut(c composite, i int) {
	it := c.items[i]
	start := len(strings.TrimRight(j.text[:it.start], " \t\r\n"))
	end := it.end
	last := i == len(c.items)-1
	if !last || c.trailing {
		end = it.comma + 1
	}
	if start == it.start { // nothing before it on the line: take the space behind it
		end += len(j.text[end:]) - len(strings.TrimLeft(j.text[end:], " "))
	}
	if start == c.open+1 && strings.TrimSpace(j.text[end:c.close]) == "" {
		end = c.close // nothing is left: close the brackets
	}
	if last && !c.trailing && i > 0 {
		comma := c.items[i-1].comma
		j.splice(comma, end, j.text[comma+1:start])
		return
	}
	j.splice(start, end, "")
}

// format prints a value the way the document is written.
func (j *jsonText) format(value any, indent string, oneLine bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if !oneLine {
		enc.SetIndent(indent, j.unit())
	}
	if err := enc.Encode(value); err != nil {
		j.broken = bug.Errorf("printing a plain value: %w", err)
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", newlineOf(j.text))
}

// unit is the document's own indentation, taken from its first member.
func (j *jsonText) unit() string {
	if c := j.span(&j.root); len(c.items) > 0 && strings.Contains(j.text[c.open:c.items[0].start], "\n") {
		if indent := j.lineIndent(c.items[0].start); indent != "" {
			return indent
		}
	}
	return "  "
}

// lineIndent is the white space that the line around offset starts with.
func (j *jsonText) lineIndent(offset int) string {
	line := j.text[strings.LastIndexByte(j.text[:offset], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func indexItem(arr *hujson.Array, item string) int {
	return slices.IndexFunc(arr.Elements, func(e hujson.Value) bool { return isItem(decodeValue(e), item) })
}

// isItem says that an element of an array is what item names: that text, or a group of one
// hook whose command ends so.
func isItem(element any, item string) bool {
	group, ok := element.(map[string]any)
	if !ok {
		return element == item
	}
	hooks, _ := group["hooks"].([]any)
	if len(hooks) != 1 {
		return false
	}
	hook, _ := hooks[0].(map[string]any)
	command, _ := hook["command"].(string)
	return strings.HasSuffix(command, item)
}

// decodeValue gives a parsed value as plain values. Numbers stay as written:
// one that is too large for a float64 is not ours to refuse.
func decodeValue(v hujson.Value) any {
	v = v.Clone()
	v.Standardize()
	dec := json.NewDecoder(bytes.NewReader(v.Pack()))
	dec.UseNumber()
	var x any
	if err := dec.Decode(&x); err != nil {
		_ = bug.Errorf("reading what hujson had read: %w", err)
	}
	return x
}

// equalJSON compares plain values by what they print as.
func equalJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// quote prints a string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		_ = bug.Errorf("printing a string: %w", err)
	}
	return string(b)
}
