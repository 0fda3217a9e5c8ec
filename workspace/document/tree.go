package document

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"pillion/workspace"
)

// Tree gives the entry p, with all below it where it is a folder. A plan made from
// it rests on all of that: see Store.Moved.
func (s *Snapshot) Tree(p workspace.Path) (workspace.Tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, known := s.trees[p]; known {
		return t, nil
	}
	t, err := p.Tree()
	if err != nil {
		return t, err
	}
	if s.trees == nil {
		s.trees = map[workspace.Path]workspace.Tree{}
	}
	s.trees[p] = t
	return t, nil
}

// Below are the files that are open in this view and are p or lie in it; those that
// an editor without text holds have no Buffer.
func (s *Snapshot) Below(p workspace.Path) []*File {
	var out []*File
	for file := range s.open.files {
		b := s.Buffer(file)
		if b == nil || !file.IsIn(p) {
			continue
		}
		f, err := s.ReadIfExists(file, "")
		if err != nil || f.Buffer == nil {
			f = &File{Path: file, Buffer: b, Dirty: b.dirtyNow()}
			f.Text = b.Text
		}
		out = append(out, f)
	}
	for file := range s.open.held {
		if file.IsIn(p) {
			out = append(out, &File{Path: file, Held: true})
		}
	}
	slices.SortFunc(out, func(a, b *File) int { return strings.Compare(a.Path.Abs(), b.Path.Abs()) })
	return out
}

// treeState binds a yes to what a tree is: its names and sizes, and when it was
// written.
func treeState(t workspace.Tree) string {
	sum := sha256.New()
	for _, n := range t.Nodes {
		fmt.Fprintf(sum, "%q %v %d %q %s\n", n.Rel, n.Mode, n.Size, n.Link, n.State())
	}
	return "tree " + hex.EncodeToString(sum.Sum(nil)[:16])
}
