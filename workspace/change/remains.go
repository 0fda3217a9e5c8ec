package change

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"pillion/internal/fault"
	"pillion/workspace"
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
	if err != nil && !isNotEmpty(err) {
		r.entries = append(r.entries, at.String())
		r.because(err)
	}
}

// tree notes what is left at a path of a tree that was to go; f is the folder that it is in.
func (r *remains) tree(f folder, at workspace.Path, isTemp bool, why error) {
	r.because(why)
	if isTemp {
		r.temps = append(r.temps, at.String())
	}
	tree, err := workspace.TreeAt(f.root, at.Base())
	if err != nil || !tree.Exists() {
		r.entries = append(r.entries, at.String())
		return
	}
	for i, n := range tree.Nodes {
		if !hasEntries(tree, i) { // else what is in it says so
			r.entries = append(r.entries, at.Join(n.Rel).String())
		}
	}
}

func (r *remains) because(err error) {
	if r.why == nil {
		r.why = cause(err)
	}
}

// hasEntries: there is something in the tree's node i. A folder's entries come after it.
func hasEntries(tree workspace.Tree, i int) bool {
	rel := tree.Nodes[i].Rel
	return i+1 < len(tree.Nodes) && (rel == "." || strings.HasPrefix(tree.Nodes[i+1].Rel, rel+"/"))
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

func isNotEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist)
}
