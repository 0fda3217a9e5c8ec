package rpc

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/workspace/change"
)

type activityParams struct {
	SessionID string `json:"sessionId"`
	CallID    string `json:"callId"`
}

// activityShown is what a call came to: what it changed, or in words.
type activityShown struct {
	Kind    string            `json:"kind"` // as in tools.Display
	Text    string            `json:"text,omitempty"`
	Preview *approval.Preview `json:"preview,omitempty"`
}

func (s *server) activityShow(_ context.Context, p activityParams) (any, error) {
	d := s.running().Registry.Show(p.SessionID, p.CallID)
	if d == nil {
		return nil, wire.Errorf(wire.CodeRequestFailed, "what this call showed is not kept any more")
	}
	out := activityShown{Kind: d.Kind, Text: d.Text}
	switch d.Kind {
	case "diff":
		var files []change.FilePreview
		for _, f := range d.Files {
			files = append(files, f.FilePreview)
		}
		preview := approval.ComposeFiles(files)
		out.Preview = &preview
	case "command":
		out.Text = commandShown(d)
	}
	return out, nil
}

// commandShown is a command with what it printed, as text without colours.
func commandShown(d *tools.Display) string {
	var out strings.Builder
	prompt := "$ "
	for line := range strings.SplitSeq(d.Command, "\n") {
		out.WriteString(prompt + fault.Escape(line) + "\n")
		prompt = "> "
	}
	for _, stream := range []string{d.Stdout, d.Stderr} {
		if text := printed(stream); text != "" {
			out.WriteString("\n" + strings.TrimRight(text, "\n") + "\n")
		}
	}
	if d.ExitCode != nil {
		fmt.Fprintf(&out, "\nexit code %d\n", *d.ExitCode)
	}
	return out.String()
}

var moves = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// printed is what is left of a program's output on paper: no colours, and of a line that was
// written over the last of it.
func printed(output string) string {
	var text terminalText
	lines := strings.Split(moves.ReplaceAllString(text.take(output)+"\n", ""), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = strings.ReplaceAll(line[strings.LastIndexByte(line, '\r')+1:], "\b", "")
	}
	return strings.Join(lines[:len(lines)-1], "\n")
}
