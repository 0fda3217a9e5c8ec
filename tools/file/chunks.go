package file

import (
	"fmt"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/session"
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
func wholeBytes(l tools.Limits) int64 { return max(l.WriteBytes, l.ReadBytes) }

func (a writeFileArgs) piece(in tools.Input) (*tools.KeptPiece, error) {
	p, err := in.Snapshot.Workspace().Resolve(a.Path)
	if err != nil {
		return nil, err
	}
	if err := tools.RefuseGits(p); err != nil {
		return nil, err
	}
	piece := session.Piece{ID: a.Chunk.ID, Path: tools.FileName(p), Index: a.Chunk.Index, Text: a.Content}
	return &tools.KeptPiece{Piece: piece, File: p, Limit: wholeBytes(in.Limits)}, nil
}

// keepChunk plans nothing but that the session remembers a chunk.
func keepChunk(in tools.Input, args writeFileArgs) (*tools.Edits, error) {
	piece, err := args.piece(in)
	if err != nil {
		return nil, err
	}
	return &tools.Edits{Answer: func([]change.Outcome) *tools.Answer {
		name := piece.File.String()
		text := fmt.Sprintf("Received chunk %d of %s, %s. The file is written after the last chunk.", piece.Index, fault.Quote(name), tools.Count(len(piece.Text), "byte"))
		return &tools.Answer{Result: chunkResult{name, *args.Chunk, len(piece.Text)}, Text: text, Summary: text, Keeps: piece}
	}}, nil
}

// whole is the content of all chunks, of which this is the last.
func (a writeFileArgs) whole(in tools.Input) (string, error) {
	piece, err := a.piece(in)
	if err != nil {
		return "", err
	}
	return in.Session.Joined(piece.Piece, piece.Limit)
}
