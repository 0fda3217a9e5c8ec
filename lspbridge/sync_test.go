package lspbridge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pillion/workspace/document"
	"pillion/workspace/watch"
)

// old sets when a file was written last, so that its times on disk tell something.
func (r *rig) old(name string) {
	r.Helper()
	long := time.Now().Add(-time.Hour)
	r.Must(os.Chtimes(r.Abs(name), long, long))
}

// hovered asks about a file, and gives what the fake was sent.
func (r *rig) hovered(f *fake, name string) []string {
	r.Helper()
	f.forget()
	_, _, err := r.bridge.Hover(r.Context(), r.snapshot(), r.path(name), at(0, 0))
	r.Must(err)
	return f.messages("textDocument/")
}

func (r *rig) wantSent(got []string, want ...string) {
	r.Helper()
	for i, w := range want {
		want[i] = strings.ReplaceAll(w, "DIR", r.path(".").URI())
	}
	want = append(want, "textDocument/hover ")
	if len(got) != len(want) {
		r.Errorf("sent:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		return
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			r.Errorf("sent:\n%s\nwant:\n%s", got[i], want[i])
		}
	}
}

// TestDocumentsAreBroughtUpToDate: before each question all that is open in the server is
// as the snapshot has it, and nothing is sent that the server has.
func TestDocumentsAreBroughtUpToDate(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "a\n", "b.py": "b\n", "c.py": "c\n", "d.txt": "d\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		r.wantSent(r.hovered(f, "a.py"), `textDocument/didOpen {"textDocument":{"languageId":"python","text":"a\n","uri":"DIR/a.py","version":1}}`)
		r.old("a.py")
		r.wantSent(r.hovered(f, "a.py"))
		r.wantSent(r.hovered(f, "b.py"), `textDocument/didOpen {"textDocument":{"languageId":"python","text":"b\n","uri":"DIR/b.py"`)
		r.Write("a.py", "aa\n")
		r.wantSent(r.hovered(f, "b.py"),
			`textDocument/didChange {"contentChanges":[{"text":"aa\n"}],"textDocument":{"uri":"DIR/a.py","version":2}}`,
			`textDocument/didSave {"textDocument":{"uri":"DIR/a.py"}}`)

		c, d := r.path("c.py"), r.path("d.txt")
		r.store.Open(c, c.URI(), 7, "c\n")
		r.wantSent(r.hovered(f, "b.py")) // nothing unsaved in it
		r.store.Change(c, 8, "unsaved\n")
		r.store.Open(d, d.URI(), 1, "of another language\n")
		r.wantSent(r.hovered(f, "b.py"), `textDocument/didOpen {"textDocument":{"languageId":"python","text":"unsaved\n","uri":"DIR/c.py","version":1}}`)
		r.store.Change(c, 9, "more\n")
		r.wantSent(r.hovered(f, "b.py"), `textDocument/didChange {"contentChanges":[{"text":"more\n"}],"textDocument":{"uri":"DIR/c.py","version":2}}`)
		r.Write("c.py", "more\n")
		r.store.Saved(c)
		r.wantSent(r.hovered(f, "b.py"), `textDocument/didSave {"textDocument":{"uri":"DIR/c.py"}}`)

		r.Must(os.Remove(r.Abs("a.py")))
		r.wantSent(r.hovered(f, "b.py"), `textDocument/didClose {"textDocument":{"uri":"DIR/a.py"}}`)
	})
}

func TestALargeTextIsToldAsASpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := strings.Repeat("é", 40) + "\r\n"
		text := strings.Repeat(line, 400)
		r := newRig(t, map[string]string{"a.py": text, "odd.py": strings.Repeat("x\f\n", 10_000)})
		f := r.serve(hovers)
		r.hovered(f, "a.py")
		r.hovered(f, "odd.py")
		r.Write("a.py", strings.Replace(text, line, "é\r\n", 1))
		r.Write("odd.py", strings.Repeat("x\f\n", 10_000)+"y")
		got := strings.Join(r.hovered(f, "a.py"), "\n")
		if want := `"contentChanges":[{"range":{"end":{"character":40,"line":0},"start":{"character":1,"line":0}},"text":""}]`; !strings.Contains(got, want) {
			t.Errorf("sent %.300s, want %s", got, want)
		}
		if !strings.Contains(got, `"contentChanges":[{"text":"x\f\nx`) {
			t.Error("where servers differ about lines, the text is told as a whole")
		}
	})
}

func TestDocumentsThatNobodyNeedsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := map[string]string{}
		for i := range mostOpen + 3 {
			files[fmt.Sprintf("f%03d.py", i)] = "x\n"
		}
		r := newRig(t, files)
		f := r.serve(hovers)
		closed := 0
		for i := range len(files) {
			for _, m := range r.hovered(f, fmt.Sprintf("f%03d.py", i)) {
				if strings.HasPrefix(m, "textDocument/didClose") {
					if want := fmt.Sprintf("f%03d.py", closed); !strings.Contains(m, want) {
						t.Errorf("%s, want %s", m, want)
					}
					closed++
				}
			}
		}
		if closed != 3 {
			t.Errorf("%d were closed", closed)
		}
	})
}

// TestWatchedFiles: a server hears of the files that it asked about, and of no others,
// before it is asked anything.
func TestWatchedFiles(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "x\n", "sub/new.py": "y\n", "sub/new.txt": "z\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		r.started()
		_, err := f.ask(t, "client/registerCapability", `{"registrations":[{"id":"1","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[
			{"globPattern":"**/*.{py,pyi}"},{"globPattern":{"baseUri":"`+r.path(".").URI()+`","pattern":"conf*"},"kind":4}]}}]}`)
		r.Must(err)
		dir := r.path(".").Abs()
		r.bridge.Changed([]watch.Event{
			{Dir: dir, Name: "a.py", Op: watch.Changed},
			{Dir: dir, Name: "a.txt", Op: watch.Changed},
			{Dir: dir, Name: "config", Op: watch.Created},
			{Dir: dir, Name: "conf", Op: watch.Deleted},
			{Dir: dir, Name: "sub", Op: watch.Created, Folder: true},
			{Dir: dir, Name: "came.py", Op: watch.Created},
			{Dir: dir, Name: "came.py", Op: watch.Deleted},
		})
		f.forget()
		r.started()
		var all string
		for _, m := range f.messages("workspace/didChangeWatchedFiles") {
			all += m
		}
		for name, kind := range map[string]int{"a.py": 2, "conf": 3, "sub/new.py": 1} {
			if want := fmt.Sprintf(`{"type":%d,"uri":"%s"}`, kind, r.path(name).URI()); !strings.Contains(all, want) {
				t.Errorf("%s is not in %s", want, all)
			}
		}
		if strings.Count(all, `"uri"`) != 3 {
			t.Errorf("told too much: %s", all)
		}
		if f.messages("textDocument/hover") == nil {
			t.Error("it was not asked")
		}
		f.forget()
		r.bridge.Changed([]watch.Event{{Dir: filepath.Join(dir, "sub"), Op: watch.Lost}}) // look again at everything
		r.until("all that is there is told", func() bool {
			return strings.Contains(strings.Join(f.messages("workspace/didChangeWatchedFiles"), ""), r.path("sub/new.py").URI())
		})
	})
}

// TestTheQuestionIsAboutTheSnapshot: a position is counted in the snapshot's text, and a
// result in the text of the file that it is about.
func TestTheQuestionIsAboutTheSnapshot(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "disk\n", "b.py": "🎉🎉 there\n"}, func(t *testing.T, r *rig) {
		f := r.serve(`{"definitionProvider":true,"positionEncoding":"utf-8"}`)
		f.answer("textDocument/definition", `{"uri":"`+r.path("b.py").URI()+`","range":{"start":{"line":0,"character":9},"end":{"line":0,"character":14}}}`)
		a := r.path("a.py")
		r.store.Open(a, a.URI(), 1, "é🎉 buffer\n")
		s := r.snapshot()
		r.store.Change(a, 2, "typed since\n")
		found, _, err := r.bridge.Definition(t.Context(), s, a, at(0, 4))
		r.Must(err)
		if want := (document.Range{Start: at(0, 5), End: at(0, 10)}); len(found) != 1 || found[0].Range != want || found[0].Path != r.path("b.py") {
			t.Errorf("found %+v, want %v", found, want)
		}
		if asked := f.messages("textDocument/definition"); !strings.Contains(asked[0], `"position":{"character":7,"line":0}`) {
			t.Errorf("asked %s", asked)
		}
	})
}

// TestAnOldSnapshotHidesNoChange: whoever asked about an older text has told the server
// that one, and the next question puts it right.
func TestAnOldSnapshotHidesNoChange(t *testing.T) {
	inBubble(t, map[string]string{"a.py": "a\n", "b.py": "b\n"}, func(t *testing.T, r *rig) {
		f := r.serve(hovers)
		r.old("a.py")
		s, a := r.snapshot(), r.path("a.py")
		_, err := s.Read(a, "")
		r.Must(err)
		r.Write("a.py", "A\n")
		r.Must(os.Chtimes(a.Abs(), time.Now(), time.Now().Add(-time.Minute)))
		_, _, err = r.bridge.Hover(t.Context(), s, a, at(0, 0))
		r.Must(err)
		r.wantSent(r.hovered(f, "b.py"), `textDocument/didChange {"contentChanges":[{"text":"A\n"}]`, `textDocument/didSave`, `textDocument/didOpen`)
	})
}

func TestPositionsInEachEncoding(t *testing.T) {
	const text = "é🎉x\r\n🎉\ny"
	for _, c := range []struct {
		encoding     encoding
		ours, theirs document.Position
	}{
		{utf16, at(0, 3), at(0, 3)},
		{utf8Units, at(0, 3), at(0, 6)},
		{utf32, at(0, 3), at(0, 2)},
		{utf8Units, at(1, 2), at(1, 4)},
		{utf32, at(2, 1), at(2, 1)},
		{utf16, at(0, 99), at(0, 4)}, // past the end of a line, which "\r\n" ends
		{utf8Units, at(0, 99), at(0, 7)},
		{utf32, at(9, 5), at(2, 1)}, // past the last line
	} {
		if got := c.encoding.theirs(text, c.ours); got != c.theirs {
			t.Errorf("%s: %v is %v to the server, want %v", c.encoding, c.ours, got, c.theirs)
		}
	}
	for _, e := range []encoding{utf8Units, utf32} {
		there := document.Range{Start: e.theirs(text, at(0, 1)), End: e.theirs(text, at(1, 2))}
		if back := e.oursRange(text, there); back != (document.Range{Start: at(0, 1), End: at(1, 2)}) {
			t.Errorf("%s: %v came back as %v", e, there, back)
		}
	}
}

// TestTheSpanMakesTheNewText applies what a server is told to what it had.
func TestTheSpanMakesTheNewText(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "é", "🎉", "\n", "\r\n", "日", ""})
	texts := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(words, 0, 12).Draw(t, "words"), "") })
	rapid.Check(t, func(t *rapid.T) {
		before, after := texts.Draw(t, "before"), texts.Draw(t, "after")
		for _, e := range []encoding{utf8Units, utf16, utf32} {
			change := span(before, after, e)
			if got := document.Apply(before, e.oursRange(before, document.Range{Start: document.Position(change.Range.Start), End: document.Position(change.Range.End)}), change.Text); got != after || !utf8.ValidString(change.Text) {
				t.Fatalf("%s: %q with %+v is %q, want %q", e, before, change, got, after)
			}
		}
	})
}
