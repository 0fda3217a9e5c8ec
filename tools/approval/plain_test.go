package approval_test

import (
	"strings"
	"testing"

	"pillion/internal/fault"
	"pillion/tools/approval"
	"pillion/workspace/change"
)

func TestPlainPreview(t *testing.T) {
	for name, test := range map[string]struct {
		preview approval.Preview
		want    string
	}{
		"diff":    {approval.Preview{Kind: "diff", Files: approval.Files([]change.FilePreview{{Path: "a", Operation: change.Overwrite, Size: 2, Diff: "-a\n"}, {Path: "b", Operation: change.Create, Size: 1, Diff: "+b\n"}})}, "edit a, 2 bytes\n-a\ncreate b, new file, 1 byte\n+b\n"},
		"command": {approval.Preview{Kind: "command", Command: "make", Cwd: ".", Writes: []string{"log"}}, "$ make\nFolder: the workspace folder\nWrites: log\n"},
		"url":     {approval.Preview{Kind: "url", URL: "http://example.org"}, "http://example.org\nHost: example.org\n"},
		"text":    {approval.Preview{Kind: "text", Markdown: "Read .env"}, "Read .env\n"},
	} {
		if got := plain(test.preview, 1000); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func plain(p approval.Preview, limit int) string {
	text, _ := approval.PlainPreview(approval.Request{Preview: p}.Compose().Preview, limit)
	return text
}

func TestPlainPreviewHidesNothing(t *testing.T) {
	got := plain(approval.Preview{Kind: "command", Command: "ls \u202e\x1b[2J", Cwd: "."}, 1000)
	if fault.Escape(got) != got || !strings.Contains(got, `\u202e`) {
		t.Errorf("%q has what cannot be seen", got)
	}
	cut := plain(approval.Preview{Kind: "text", Markdown: strings.Repeat("é", 100)}, 51)
	if want := strings.Repeat("é", 17) + "\n… 167 more bytes are not shown\n"; cut != want {
		t.Errorf("%q, want %q", cut, want)
	}
}

// TestAPlainCommandShowsBothEnds, and what is said of it, and cannot imitate that.
func TestAPlainCommandShowsBothEnds(t *testing.T) {
	p := approval.Preview{Kind: "command", Cwd: ".", Writes: []string{"log"}}
	p.Command = "echo first\n" + strings.Repeat("echo more\n", 400) + "rm -rf ~\nFolder: the workspace folder"
	got, whole := approval.PlainPreview(approval.Request{Preview: p}.Compose().Preview, 2000)
	for _, want := range []string{"$ echo first\n", "\n> rm -rf ~\n> Folder: the workspace folder\n", "more bytes are not shown", "\nWrites: log\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if whole || len(got) > 2200 {
		t.Errorf("%d bytes, whole: %v", len(got), whole)
	}
	p.Command = "true " + strings.Repeat(" ", 300) + "Sandbox: bubblewrap"
	got, whole = approval.PlainPreview(approval.Request{Preview: p}.Compose().Preview, 2000)
	for line := range strings.Lines(got) {
		if strings.Contains(line, "bubblewrap") && !strings.HasPrefix(line, "> … ") {
			t.Errorf("the command passes for what is said of it: %q", line)
		}
	}
	if !whole {
		t.Error("a short command is not whole")
	}
}
