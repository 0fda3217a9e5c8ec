package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/workspace"
)

// How far a folder is counted.
const (
	mostCounted = 200_000
	countTime   = 3 * time.Second
)

// folder is the workspace that is examined.
func folder(ctx context.Context, e exam) Finding {
	f := Finding{ID: "folder.root", Title: "workspace", Status: OK, Data: map[string]any{"path": e.Folder}}
	w, err := workspace.Open(workspace.Folder{Dir: e.Folder})
	if err != nil {
		f.Status, f.Detail, f.Hint = Error, err.Error(), "name an existing folder with -C"
		return f
	}
	defer w.Close() //nolint:errcheck // it was only read
	size := measure(ctx, w.Roots()[0])
	git := "no git repository"
	if top := repository(e.Folder); top != "" {
		f.Data["git"] = top
		git = "git repository"
		if real(top) != real(e.Folder) {
			git = "part of the git repository " + top
		}
	}
	f.Detail = fmt.Sprintf("%s, %s, %s", e.Folder, git, size)
	f.Data["files"], f.Data["folders"], f.Data["size"], f.Data["all_counted"] = size.files, size.folders, size.class(), !size.stopped
	if e.home != "" && contains(e.Folder, e.home) {
		f.Status, f.Hint = Warning, "agents can read all of your home folder here; open a project's folder"
	}
	return f
}

// repository is the folder above, or the folder itself, that git would take for the
// top of the work tree. Git itself is not asked: it would read the repository's
// settings.
func repository(dir string) string {
	for {
		if exists(filepath.Join(dir, ".git")) {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// size is how much an agent sees of a folder: what git ignores is left out.
type size struct {
	files, folders int
	stopped        bool
}

func measure(ctx context.Context, root workspace.Path) (s size) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	err := root.Walk(ctx, workspace.WalkOptions{}, func(entry workspace.Entry) error {
		if entry.Type.IsDir() {
			s.folders++
		} else {
			s.files++
		}
		if s.files+s.folders >= mostCounted {
			s.stopped = true
			return fs.SkipAll
		}
		return nil
	})
	s.stopped = s.stopped || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	return s
}

func (s size) class() string {
	switch {
	case s.files >= 50_000 || s.stopped:
		return "large"
	case s.files >= 5_000:
		return "medium"
	}
	return "small"
}

func (s size) String() string {
	more := ""
	if s.stopped {
		more = "more than "
	}
	return fmt.Sprintf("%s: %s%s in %s", s.class(), more, count(s.files, "file"), count(s.folders+1, "folder"))
}

func count(n int, what string) string { return fault.Plural(n, what, what+"s") }

// openEditors are the sidecars that agents would find from this folder. Their
// entries hold tokens, which stay here.
func openEditors(_ context.Context, e exam) Finding {
	f := Finding{ID: "folder.editor", Title: "open in", Status: OK}
	entries, err := relay.FindAll(e.Folder)
	switch {
	case err != nil:
		f.Status, f.Detail = Warning, "the registry cannot be read: "+err.Error()
		return f
	case len(entries) == 0:
		f.Status, f.Detail = Info, "no editor with Pillion; agents that start here ask in their own program, if they can"
		f.Hint = "open the folder in your editor"
		return f
	}
	var open []map[string]any
	var said []string
	for _, entry := range entries {
		open = append(open, map[string]any{"editor": entry.Editor, "version": entry.Version, "folders": entry.Roots, "pid": entry.PID, "index": entry.Index})
		text := entry.Editor + indexed(entry.Index)
		if entry.Version != e.Version {
			f.Status = Warning
			f.Hint = "restart Pillion in that editor, or name this program in its settings"
			text += fmt.Sprintf(" (with another pillion, %s)", entry.Version)
		}
		said = append(said, text)
	}
	f.Detail, f.Data = strings.Join(said, ", "), map[string]any{"sidecars": open}
	if len(entries) > 1 {
		f.Detail += "; agents go to the first"
	}
	return f
}

// indexed says how it stands with a sidecar's index of what is in files.
func indexed(i *relay.Index) string {
	if i == nil || i.Files == 0 {
		return ""
	}
	const megabyte = 1 << 20
	return fmt.Sprintf(" (its search index: %s, %d MB of memory, %s old)", count(i.Files, "file"), (i.Bytes+megabyte-1)/megabyte, time.Since(i.At).Round(time.Second))
}
