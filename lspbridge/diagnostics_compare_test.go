package lspbridge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pillion/workspace/document"
	"pillion/workspace/language"
)

// marked are the diagnostics that a text shows: a line that ends with "# text" has one
// that says so, at its start.
func marked(lines ...string) (text string, list []language.Diagnostic) {
	for i, line := range lines {
		code, message, has := strings.Cut(line, "# ")
		text += code + "\n"
		if has {
			r := document.Range{Start: at(uint32(i), 0), End: at(uint32(i), uint32(len(code)))}
			list = append(list, language.Diagnostic{Range: r, Severity: language.Error, Source: "t", Message: message})
		}
	}
	return text, list
}

func messages(list []language.Diagnostic) string {
	var out []string
	for _, d := range list {
		out = append(out, d.Message)
	}
	return strings.Join(out, ", ")
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name       string
		was, now   []string
		new, fixed string
		remaining  int
	}{
		{"nothing changed", []string{"a# x", "b"}, []string{"a# x", "b"}, "", "", 1},
		{"one came", []string{"a", "b"}, []string{"a# x", "b"}, "x", "", 0},
		{"one went", []string{"a# x", "b"}, []string{"a", "b"}, "", "x", 0},
		{"it moved with its line", []string{"a", "b# x"}, []string{"n", "n", "a", "b# x"}, "", "", 1},
		{"it moved up", []string{"n", "a", "b# x"}, []string{"a", "b# x"}, "", "", 1},
		{"the same on another line is another", []string{"a# x", "b"}, []string{"a", "b# x"}, "x", "x", 0},
		{"its line was changed and it is still wrong", []string{"a", "bad(1)# x", "c"}, []string{"a", "bad(2) # x", "c"}, "", "", 1},
		{"its line was changed and says something else", []string{"a", "bad(1)# x", "c"}, []string{"a", "bad(2)# y", "c"}, "y", "x", 0},
		{"its line is gone", []string{"a", "b# x", "c"}, []string{"a", "c"}, "", "x", 0},
		{"the same fault twice where it was once", []string{"a# x"}, []string{"a# x", "b# x"}, "x", "", 1},
		{"once where it was twice", []string{"a# x", "b# x"}, []string{"b# x"}, "", "x", 1},
		{"a message that counts lines", []string{"a", "b# as in line 1"}, []string{"n", "a", "b# as in line 2"}, "", "", 1},
		{"all is new", nil, []string{"a# x", "b# y"}, "x, y", "", 0},
	} {
		before, was := marked(c.was...)
		after, now := marked(c.now...)
		added, fixed, remaining := compare(before, after, was, now)
		if messages(added) != c.new || messages(fixed) != c.fixed || remaining != c.remaining {
			t.Errorf("%s: new %q fixed %q remaining %d, want %q %q %d", c.name, messages(added), messages(fixed), remaining, c.new, c.fixed, c.remaining)
		}
	}
}

// TestCompareTellsApart what differs in one thing alone.
func TestCompareTellsApart(t *testing.T) {
	one := language.Diagnostic{Range: document.Range{Start: at(0, 1), End: at(0, 2)}, Severity: language.Error, Code: "E1", Source: "s", Message: "m"}
	for _, change := range []func(*language.Diagnostic){
		func(d *language.Diagnostic) { d.Range.Start.Character = 0 },
		func(d *language.Diagnostic) { d.Range.End.Character = 3 },
		func(d *language.Diagnostic) { d.Severity = language.Warning },
		func(d *language.Diagnostic) { d.Code = json.Number("1") },
		func(d *language.Diagnostic) { d.Source = "other" },
		func(d *language.Diagnostic) { d.Message = "n" },
	} {
		other := one
		change(&other)
		added, fixed, remaining := compare("abc\n", "abc\nd\n", []language.Diagnostic{one}, []language.Diagnostic{other})
		if !slices.Equal(added, []language.Diagnostic{other}) || !slices.Equal(fixed, []language.Diagnostic{one}) || remaining != 0 {
			t.Errorf("%+v and %+v: new %v, fixed %v, %d", one, other, added, fixed, remaining)
		}
	}
}

func TestDecodeDiagnostics(t *testing.T) {
	list := decoded(`[{"range":{"start":{"line":1,"character":1},"end":{"line":1,"character":2}},"message":"m","code":7},
		{"range":{"start":{"line":9,"character":1},"end":{"line":9,"character":2}},"message":"beyond","severity":4,"code":"E","source":"s"},
		{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"message":"","severity":77,"code":{"a":1}},
		{"range":{"start":{"line":1,"character":4},"end":{"line":1,"character":2}},"message":"b","severity":1,"source":"bytes"},
		{"range":{"start":{"line":1,"character":5},"end":{"line":1,"character":1}},"message":"back","severity":1,"source":"bytes"}]`, "a\r\n🎉x\n", counts{encoding: utf32, startInBytes: []string{"bytes"}})
	want := []language.Diagnostic{
		{Range: document.Range{Start: at(1, 2), End: at(1, 3)}, Severity: language.Error, Code: json.Number("7"), Message: "m"},
		{Range: document.Range{Start: at(9, 1), End: at(9, 2)}, Severity: language.Hint, Code: "E", Source: "s", Message: "beyond"},
		{Severity: language.Error},
		{Range: document.Range{Start: at(1, 2), End: at(1, 3)}, Severity: language.Error, Source: "bytes", Message: "b"},
		{Range: document.Range{Start: at(1, 3), End: at(1, 3)}, Severity: language.Error, Source: "bytes", Message: "back"},
	}
	if !slices.Equal(list, want) {
		t.Errorf("%+v", list)
	}
}
