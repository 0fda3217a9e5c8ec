// Package sample is the small project that `pillion try` and the tests work
// on: a tea timer in Python and shell, with a git history and one real bug
// that one test shows. [Write] makes it in a folder, the same to the byte
// every time; [Ride] is what the scripted agent does there.
//
// The repository is made with go-git, so no git program is needed.
// Deliberately not here: running the ride (package try).
package sample

import (
	"embed"
	"io/fs"

	"pillion/internal/bug"
)

//go:embed all:files
var files embed.FS

// history holds what a file was in an earlier commit, where that differs from
// what it is now.
//
//go:embed all:history
var history embed.FS

// Files is the project as it stands at its last commit.
var Files = sub(files, "files")

func sub(fsys fs.FS, dir string) fs.FS {
	s, err := fs.Sub(fsys, dir)
	if err != nil {
		_ = bug.Errorf("the embedded sample: %w", err)
	}
	return s
}
