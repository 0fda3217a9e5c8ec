package worktree

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"
)

// keptStatus is what is known of one repository, or of the part of it that lies in the
// workspace.
type keptStatus struct {
	// By the Cache's mu:
	changed map[string]map[string]event // by folder and name
	names   int                         // how many were noted
	spoilt  bool                        // too much has changed to be looked at by name

	// By whoever has the turn:
	index      *index
	signature  string // of what the rest stands on, beside the index
	attributes func() map[string]plumbing.Hash
	head       plumbing.Hash
	staged     []Difference
	found      findings // those that differ
	submodules []int    // all of them: places in the index
	traces
	list []FileStatus // the last answer; nil: something has changed since
}

// look looks at everything.
func (k *keptStatus) look(s *status, watched func(string) bool) error {
	signature := s.signature()
	if err := s.readIndex(); err != nil {
		return err
	}
	s.watched = func(dir string) bool { return watched(filepath.Clean(s.Repo.Work.Abs(dir))) }
	staged, found, w, err := s.lookAll()
	if err != nil {
		return err
	}
	k.head, _ = s.Repo.Head()
	k.staged, k.found, k.submodules, k.traces, k.list = staged, findings{}, nil, w.traces, nil
	k.attributes = s.Repo.Work.Conversion.Attributes.staged
	for _, at := range w.suspects {
		if s.index.Entries[at].Mode == odb.ModeSubmodule {
			k.submodules = append(k.submodules, at)
		}
	}
	k.take(found)
	k.tidy()
	k.signature, k.index = signature, s.index
	return nil
}

// lookAgain looks at what has changed, and at what nobody tells of.
func (k *keptStatus) lookAgain(s *status, watched func(string) bool, changed map[string]map[string]event) error {
	if s.signature() != k.signature {
		k.list = nil
		return k.look(s, watched)
	}
	s.index = k.index
	s.watched = func(dir string) bool { return watched(filepath.Clean(s.Repo.Work.Abs(dir))) }
	s.Repo.Work.Conversion.Attributes.staged = k.attributes
	if h, _ := s.Repo.Head(); h != k.head {
		staged, err := s.staged()
		if err != nil {
			return err
		}
		k.staged, k.head, k.list = staged, h, nil
	}
	a := &again{status: s, kept: k, folders: map[string]bool{}, places: map[int]bool{}}
	for dir, names := range changed {
		a.changed(dir, names)
	}
	a.restless()
	return a.look()
}

// signature is what an answer stands on beside the work tree, all of which is read anew
// each time: the index by what tells it from another, the settings, and the files that
// say what is ignored, or how text is converted.
func (s *status) signature() string {
	var out strings.Builder
	r := s.Repo
	out.WriteString(r.indexSignature())
	for _, key := range slices.Sorted(maps.Keys(r.Config)) {
		out.WriteString(key + "\x00" + strings.Join(r.Config[key], "\x00") + "\x01")
	}
	for _, text := range r.excludeTexts() {
		out.WriteString(text + "\x01")
	}
	attributes := gitdir.ExpandPath(cmp.Or(r.Config.Get("core.attributesfile"), filepath.Join(gitdir.UserConfigDir(), "attributes")), r.Top)
	names := []string{attributes, "/etc/gitattributes", filepath.Join(r.CommonDir, "info", "attributes")}
	if s.Prefix != "" { // what lies above the workspace is watched by nobody
		for dir := filepath.Dir(r.Work.Abs(s.Prefix)); gitdir.Inside(r.Top, dir); dir = filepath.Dir(dir) {
			names = append(names, filepath.Join(dir, ".gitignore"), filepath.Join(dir, ".gitattributes"), filepath.Join(dir, ".gitmodules"))
		}
	}
	for _, name := range names {
		text, _ := gitfile.Read(name)
		out.Write(text)
		out.WriteByte(1)
	}
	return out.String()
}

// indexSignature tells one index from another: by its times and place, and by the
// checksum at its end.
func (r *Checkout) indexSignature() string {
	f, err := os.OpenFile(filepath.Join(r.GitDir, "index"), os.O_RDONLY|gitfile.NonBlocking, 0)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < indexTrailer {
		return "damaged"
	}
	checksum := make([]byte, indexTrailer)
	_, err = f.ReadAt(checksum, info.Size()-indexTrailer)
	changed, inode, _ := identity(info)
	var out strings.Builder
	fmt.Fprint(&out, err, info.ModTime().UnixNano(), info.Size(), changed, inode, checksum)
	return out.String()
}

// answer is all that is known.
func (k *keptStatus) answer(s *status) ([]FileStatus, error) {
	if k.list != nil {
		return k.list, nil
	}
	list, err := s.merge(slices.Clone(k.staged), k.found, k.untracked)
	if err != nil {
		return nil, err
	}
	k.list = list
	return list, nil
}

// part is the answer for a part of what is kept. It is not known of what lies in a
// folder that is untracked as a whole.
func (k *keptStatus) part(s, all *status) (files []FileStatus, known bool, err error) {
	untracked := map[string][]string{}
	for dir, names := range k.untracked {
		for _, name := range names {
			plain := strings.TrimSuffix(name, "/")
			if plain != name && strings.HasPrefix(s.Prefix, name) {
				return nil, false, nil
			}
			if s.wants(plain) {
				untracked[dir] = append(untracked[dir], name)
			}
		}
	}
	found := findings{}
	for at, f := range k.found {
		if s.wants(f.path) {
			found[at] = f
		}
	}
	staged := slices.DeleteFunc(slices.Clone(k.staged), func(c Difference) bool { return !s.wants(c.Path) })
	s.index = all.index
	lo, hi := s.within()
	s.matched = s.matched || lo < hi
	files, err = s.merge(staged, found, untracked)
	return files, true, err
}

// Keeps says what is kept of the repository at top: the same value as long as it has
// not been looked at anew, nil if nothing is.
func (c *Cache) Keeps(top string) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.kept[top]; k != nil && !k.spoilt && k.index != nil {
		return k.index
	}
	return nil
}
