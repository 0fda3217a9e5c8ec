package tools

import (
	"errors"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/session"
	"pillion/workspace"
	"pillion/workspace/change"
)

// chunkArg says which part of a large file the content of a write_file is.
type chunkArg struct {
	ID    string `json:"id" jsonschema:"your name for the file"`
	Index int    `json:"index" minimum:"0"`
	Last  bool   `json:"last,omitempty"`
}

type chunkResult struct {
	Path  string   `json:"path"`
	Chunk chunkArg `json:"chunk"`
	Bytes int      `json:"bytes"` // of this chunk
}

// wholeBytes is the most that a file may have that is written in chunks: what can be
// read back as a whole.
func (l Limits) wholeBytes() int64 { return max(l.WriteBytes, l.ReadBytes) }

// keptPiece is a chunk for the session to remember.
type keptPiece struct {
	session.Piece
	path  workspace.Path
	limit int64
}

func (a writeFileArgs) piece(in Input) (*keptPiece, error) {
	p, err := in.Snapshot.Workspace().Resolve(a.Path)
	if err != nil {
		return nil, err
	}
	if err := checkNotGits(p); err != nil {
		return nil, err
	}
	piece := session.Piece{ID: a.Chunk.ID, Path: fileName(p), Index: a.Chunk.Index, Text: a.Content}
	return &keptPiece{piece, p, in.Limits.wholeBytes()}, nil
}

// keepChunk plans nothing but that the session remembers a chunk.
func keepChunk(in Input, args writeFileArgs) (*Edits, error) {
	piece, err := args.piece(in)
	if err != nil {
		return nil, err
	}
	return &Edits{Answer: func([]change.Outcome) *Answer {
		name := piece.path.String()
		text := fmt.Sprintf("Received chunk %d of %s, %s. The file is written after the last chunk.", piece.Index, fault.Quote(name), count(len(piece.Text), "byte"))
		return &Answer{Result: chunkResult{name, *args.Chunk, len(piece.Text)}, Text: text, Summary: text, keeps: piece}
	}}, nil
}

// whole is the content of all chunks, of which this is the last.
func (a writeFileArgs) whole(in Input) (string, error) {
	piece, err := a.piece(in)
	if err != nil {
		return "", err
	}
	return in.Session.Joined(piece.Piece, piece.limit)
}

// forget drops the chunks of a call that came to its end: they are written, or the user
// does not want them. After any other failure the last chunk can be sent again.
func (p *pending) forget(a *Answer, err error) {
	e := p.edits()
	switch {
	case err == nil && a.chunks != "":
		p.call.Session.DropPieces(a.chunks)
	case e != nil && e.chunks != "" && (errors.Is(err, fault.New(fault.UserRejected, "")) || errors.Is(err, fault.New(fault.Cancelled, ""))):
		p.call.Session.DropPieces(e.chunks)
	}
}

// checkShown refuses a change that is too large for a dialog to show, which shows the
// arguments as well.
func checkShown(f change.File, arguments ...string) error {
	return checkAllShown(change.Set{Files: []change.File{f}}, arguments...)
}

// checkAllShown is checkShown for a change of several files, which are in one dialog.
func checkAllShown(s change.Set, arguments ...string) error {
	texts, raw := arguments, 0
	for _, f := range s.Files {
		if !f.IsBinary() { // of which only sizes are shown
			texts = append(texts, f.Before.Text, f.After.Text)
		}
	}
	for _, c := range s.Tree {
		if c.Text == nil {
			continue
		}
		if texts = append(texts, c.Text.Text); c.Operation == change.Delete {
			texts = append(texts, c.Text.Text) // its difference, nearly
		}
	}
	for _, text := range texts {
		raw += len(text)
	}
	if raw < shownBytes/16 {
		return nil // also with its difference, and if every character is escaped
	}
	for _, f := range s.Files {
		texts = append(texts, f.Diff(f.Hunks()))
	}
	size := wireSize(texts...)
	if size <= shownBytes {
		return nil
	}
	what := count(len(s.Files)+len(s.Tree), "file")
	if len(s.Files) == 1 && len(s.Tree) == 0 {
		what = fault.Quote(s.Files[0].Path().String())
	}
	return fault.New(fault.FileTooLarge, "the change of %s is too large to show: the message would have %d bytes, over the limit of %d",
		what, size, shownBytes).
		WithHint("change it in parts with edit_file, or with a program in run_command")
}

// shownBytes is what fits into a message to the editor beside the rest of it.
const shownBytes = 31 << 20

// wireSize is how many bytes texts have as JSON.
func wireSize(texts ...string) int {
	size := 0
	for _, text := range texts {
		size += len(text) + 3*strings.Count(text, "\u2028") + 3*strings.Count(text, "\u2029")
		for i := range len(text) {
			switch c := text[i]; {
			case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
				size++
			case c < ' ' || c == '<' || c == '>' || c == '&':
				size += 5
			}
		}
	}
	return size
}
