//go:build unix

package tools_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pillion/internal/fault"
	"pillion/tools"
)

// deceiving are names that would fake a line, colour a terminal, turn the text
// around or hide a part of themselves if they were shown as they are.
var deceiving = []string{
	"two\nlines.txt", "\x1b[31mred.txt", "\u202etxt.exe", "a\u200bb.txt", "tab\there.txt", "bell\a.txt", "back\bspace.txt", "cr\rhere.txt",
	"not-utf-8-\xff.txt", "\u2066isolate\u2069.txt", "soft\u00adhyphen.txt", "...", "-rf", " ", "$(touch x).txt", "`id`.txt", "%s%n.txt", "\ufefffirst.txt",
}

// oddWorld has what is no regular file beside files with deceiving names.
func oddWorld(t *testing.T) *world {
	w := newWorld(t)
	w.write("plain.txt", "needle\n")
	for _, name := range deceiving {
		w.write(name, "needle\n")
		w.write("dir"+name+"/in.txt", "needle\n")
	}
	w.must(makeFIFO(w.path("pipe")))
	w.must(os.Mkdir(w.path("s"), 0o755))
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.path("s/sock"), Net: "unix"})
	w.must(err)
	t.Cleanup(func() { socket.Close() })
	if err := unix.Mknod(w.path("device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); err != nil { // only root makes devices
		w.must(makeFIFO(w.path("device")))
	}
	w.must(os.Symlink("pipe", w.path("to-pipe")))
	w.must(os.Symlink("/dev/zero", w.path("to-device")))
	w.must(os.Symlink("loop", w.path("loop")))
	w.write("hollow.bin", "")
	w.must(os.Truncate(w.path("hollow.bin"), 10<<30))
	w.start()
	return w
}

// Nothing that lies in a folder holds a reading tool up, makes it large, or gets
// unescaped into what models and people read.
func TestReadingToolsAmongOddFiles(t *testing.T) {
	w := oddWorld(t)
	before := allocated()
	for _, call := range []struct{ tool, arguments string }{
		{"list_files", `{}`},
		{"list_files", `{"recursive": true}`},
		{"list_files", `{"recursive": true, "pattern": "*.txt"}`},
		{"glob", `{"pattern": "**"}`},
		{"glob", `{"pattern": "*.txt", "sort": "modified"}`},
		{"search_in_project", `{"query": "needle"}`},
		{"search_in_project", `{"query": "nothing has this"}`},
		{"read_many_files", `{"include": ["**"]}`},
		{"read_many_files", `{"paths": ["pipe", "s/sock", "device", "to-pipe", "to-device", "loop", "hollow.bin", "s", "."]}`},
	} {
		r := w.inTime(call.tool, call.arguments)
		if r.IsError {
			t.Errorf("%s %s: %s", call.tool, call.arguments, r.Structured)
		}
		for _, part := range r.Content {
			if shown := strings.ReplaceAll(part.Text, "needle\n", ""); fault.Escape(shown) != shown {
				t.Errorf("%s %s shows what cannot be seen: %q", call.tool, call.arguments, part.Text)
			}
		}
		text := r.Content[0].Text
		if strings.Contains(text, "two\nlines") || strings.Contains(text, "\t") {
			t.Errorf("%s %s: a name fakes a line: %q", call.tool, call.arguments, text)
		}
	}
	if grown := allocated() - before; grown > 128<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

func TestWhatIsNoRegularFileIsNotRead(t *testing.T) {
	w := oddWorld(t)
	for name, code := range map[string]fault.Code{
		"pipe": fault.NotAFile, "to-pipe": fault.NotAFile, "s/sock": fault.NotAFile, "device": fault.NotAFile, "s": fault.NotAFile,
		"to-device": fault.PathOutsideWorkspace, "hollow.bin": fault.FileTooLarge,
		"two\nlines.txt": fault.InvalidPath, "\x1b[31mred.txt": fault.InvalidPath, "plain.txt/": "",
	} {
		for _, tool := range []string{"read_file", "search_in_project", "list_files"} {
			arguments := map[string]string{"path": name}
			if tool == "search_in_project" {
				arguments["query"] = "x"
			}
			r := w.inTime(tool, arguments)
			if tool == "read_file" && (r.Err == nil) != (code == "") || tool == "read_file" && code != "" && r.Err.Code != code {
				t.Errorf("%s %q: %s", tool, name, r.Structured)
			}
			if r.Err != nil && fault.Escape(r.Err.Message) != r.Err.Message {
				t.Errorf("%s %q: %q", tool, name, r.Err.Message)
			}
		}
	}
	// Names that can be told by looking are read under their own.
	for _, name := range []string{"\u202etxt.exe", "a\u200bb.txt", "...", "-rf", " ", "$(touch x).txt"} {
		if r := w.inTime("read_file", map[string]string{"path": name}); r.IsError || r.Content[0].Text != "needle\n" {
			t.Errorf("%q: %s", name, r.Structured)
		}
	}
}

// inTime makes a call that must come back, whatever it meets.
func (w *world) inTime(tool string, arguments any) tools.Result {
	w.t.Helper()
	done := make(chan tools.Result, 1)
	go func() { done <- w.ask(context.Background(), tool, arguments) }()
	select {
	case r := <-done:
		return r
	case <-time.After(time.Minute):
		w.t.Fatalf("%s %s does not come back", tool, arguments)
		return tools.Result{}
	}
}
