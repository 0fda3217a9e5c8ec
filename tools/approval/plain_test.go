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
		"diff":    {approval.Preview{Kind: "diff", Files: approval.Files([]change.FilePreview{{Diff: "-a\n"}, {Diff: "+b\n"}})}, "-a\n+b\n"},
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
	return approval.PlainPreview(approval.Request{Preview: p}.Compose().Preview, limit)
}

func TestPlainPreviewHidesNothing(t *testing.T) {
	got := plain(approval.Preview{Kind: "command", Command: "ls \u202e\x1b[2J", Cwd: "."}, 1000)
	if fault.Escape(got) != got || !strings.Contains(got, `\u202e`) {
		t.Errorf("%q has what cannot be seen", got)
	}
	cut := plain(approval.Preview{Kind: "text", Markdown: strings.Repeat("é", 100)}, 51)
	if want := strings.Repeat("é", 25) + "\n… 151 more bytes are not shown"; cut != want {
		t.Errorf("%q, want %q", cut, want)
	}
}
