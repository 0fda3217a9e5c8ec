package change

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace"
	"pillion/workspace/handle"
)

// remains is what a set was to remove and could not.
type remains struct {
	entries []string // of what was to go, as tools print them
	temps   []string // temporary files, likewise: the next start tries again
	why     error    // the first reason
}

// temp notes a temporary file that could not be removed.
func (r *remains) temp(at workspace.Path, err error) {
	if err != nil {
		r.temps = append(r.temps, at.String())
		r.because(err)
	}
}

// folder notes a folder that could not be removed. One in which there is something is
// somebody's by now, and stays.
func (r *remains) folder(at workspace.Path, err error) {
	if err != nil && !handle.IsNotEmpty(err) {
		r.entries = append(r.entries, at.String())
		r.because(err)
	}
}

// tree notes what is left at a path of a tree that was to go; f is the folder that it is in.
func (r *remains) tree(f handle.Folder, at workspace.Path, isTemp bool, why error) {
	r.because(why)
	if isTemp {
		r.temps = append(r.temps, at.String())
	}
	tree, err := workspace.TreeAt(f.Root, at.Base())
	if err != nil || !tree.Exists() {
		r.entries = append(r.entries, at.String())
		return
	}
	for i, n := range tree.Nodes {
		if !handle.HasEntries(tree, i) { // else what is in it says so
			r.entries = append(r.entries, at.Join(n.Rel).String())
		}
	}
}

func (r *remains) because(err error) {
	if r.why == nil {
		r.why = handle.Cause(err)
	}
}

// undeleted is the error of a set that is made but for what remains; nil where nothing does.
func (r *remains) undeleted() error {
	if len(r.entries) == 0 {
		return nil
	}
	shown := r.entries[:min(len(r.entries), maxNames)]
	err := fault.New(fault.ExecutionFailed, "%s could not be removed (%w); all else of the change was made", quoteSome(r.entries), r.why).
		With("remains", shown).With("remains_count", len(r.entries)).
		WithHint("the user can remove what remains, or put back what is gone: it is in the journal")
	return &halfMade{err}
}

// addTo says in the error of a set that was not made what it left.
func (r *remains) addTo(why error) error {
	left := r.notes()
	if left == nil {
		return why
	}
	err := fault.New(fault.CodeOf(why), "%v; %s", why, left[0])
	var half *halfMade
	if errors.As(why, &half) {
		return &halfMade{err}
	}
	return err
}

// notes says it as a part of a sentence, if there is anything to say.
func (r *remains) notes() []string {
	left := append(r.temps, r.entries...)
	if len(left) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s could not be removed (%v)", quoteSome(left), r.why)}
}

// quoteSome names a few, and says how many there are.
func quoteSome(names []string) string {
	const few = 5
	quoted := make([]string, 0, few)
	for _, name := range names[:min(len(names), few)] {
		quoted = append(quoted, fault.Quote(name))
	}
	out := strings.Join(quoted, ", ")
	if more := len(names) - few; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// unmakeFolders removes folders that were made, in the workspace folder of in.
func (c *Committer) unmakeFolders(in workspace.Path, made []string, left *remains) {
	for _, name := range slices.Backward(made) {
		at, err := c.Documents.Workspace().Resolve(filepath.Join(in.RootDir(), name))
		if err == nil {
			left.folder(at, c.calls.RemoveAt(in.Root(), name))
		}
	}
}

// nameVisibly gives what could not be removed a name that people see, in the folder dir, which
// f is, and notes what that is.
func (c *Committer) nameVisibly(f handle.Folder, dir workspace.Path, temp string, was workspace.Path, why error, left *remains) {
	name := f.RenameVisible(temp, was.Base())
	left.tree(f, dir.Join(name), name == temp, why)
	if errors.Is(why, handle.ErrWritten) {
		c.Journal.report(fmt.Sprintf("somebody wrote into %s while it was removed; their text is in %s", fault.Quote(was.String()), fault.Quote(dir.Join(name).String())))
	}
}
