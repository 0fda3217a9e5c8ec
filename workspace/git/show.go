package git

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"
	"pillion/workspace/git/worktree"
)

// ShowOptions says what Show shows.
type ShowOptions struct {
	Dir      string // absolute: a folder that the repository lies around, or with File what to show
	File     bool   // show what the commit has at Dir, unless it is the top of the repository, not the commit
	Ref      string // the commit; REF:PATH, from the top of the repository, is File of that path
	Context  int    // lines of context around a change
	MaxDiff  int64  // the longest diff; 0 is no limit
	MaxBytes int64  // the largest file; 0 is no limit
}

// Shown is a commit with what it changed, or what it has at a path.
type Shown struct {
	Commit LogCommit
	Tag    *Tag   // the annotated tag that was asked for
	Parent string // with what Diff compares: the first parent; "" is nothing, before a first commit
	Within string // the folder of the repository, if it is not all, that Diff keeps to
	Diff   DiffResult

	Path    string // relative to the workspace's folder, with slashes; "" if the commit is shown
	Kind    Kind
	Hash    string // of what is at Path
	Content []byte // of a file, or the target of a link
	Entries []ShownEntry
}

// Kind is a kind of thing that a commit can have at a path.
type Kind string

// The kinds.
const (
	KindFile       Kind = "file"
	KindExecutable Kind = "executable"
	KindSymlink    Kind = "symlink"
	KindFolder     Kind = "folder"
	KindSubmodule  Kind = "submodule"
)

// ShownEntry is an entry of a folder.
type ShownEntry struct {
	Name string `json:"name"`
	Kind Kind   `json:"type"`
}

// Tag is an annotated tag.
type Tag struct {
	Name    string `json:"name"`
	Tagger  Person `json:"tagger"`
	Date    string `json:"date,omitempty"`
	Message string `json:"message"`
}

// Show shows a commit, as git show does, or a file, link or folder in it. A merge
// is compared with its first parent alone. Of a repository that begins above the
// workspace's folder root, what lies outside of that is not shown.
//
// Failures are *fault.Error: GIT_NOT_INITIALIZED, GIT_ERROR, FILE_NOT_FOUND for a
// path that the commit has not, FILE_TOO_LARGE over a limit, with the numbers of
// each file in the details if it is the diff.
func Show(ctx context.Context, root string, o ShowOptions) (Shown, error) {
	place, repo, err := at(root, o.Dir)
	if err != nil {
		return Shown{}, err
	}
	defer repo.Close()
	s := &showing{ctx: ctx, place: place, repo: repo, options: o}
	revision, file, inside := strings.Cut(o.Ref, ":")
	if err := s.name(revision); err != nil {
		return Shown{}, err
	}
	switch {
	case inside:
		err = s.file(path.Clean(file))
	case o.File && s.repo.Prefix(s.place.Dir) != "":
		err = s.file(s.repo.Prefix(s.place.Dir))
	default:
		err = s.diff()
	}
	return s.shown, err
}

type showing struct {
	ctx     context.Context
	place   gitdir.Location
	repo    *repository
	options ShowOptions
	commit  plumbing.Hash
	tree    plumbing.Hash
	parents []plumbing.Hash
	shown   Shown
}

// name finds the commit, and the tag that leads to it.
func (s *showing) name(revision string) error {
	if revision == "" {
		return fault.New(fault.GitError, "no commit is given; give a branch, a tag or a hash as ref, such as HEAD")
	}
	commit, err := s.repo.Commit(revision)
	if err != nil {
		return err
	}
	s.commit, s.tree, s.parents = commit.Hash, commit.TreeHash, commit.ParentHashes
	if s.shown.Commit, err = s.repo.describe(commit.Hash); err != nil {
		return err
	}
	if h, ok := s.repo.Named(revision); ok && h != commit.Hash {
		if found, err := s.repo.Objects.Get(h, odb.MaxObject); err == nil && found.Kind == plumbing.TagObject {
			s.shown.Tag = describeTag(found.Data)
		}
	}
	return nil
}

// describeTag reads what people want to know out of a tag's bytes.
func describeTag(data []byte) *Tag {
	tag, _ := odb.ParseTag(decoded(data))
	out := &Tag{Name: tag.Name, Message: strings.TrimRight(skipBlank(string(readable(tag.Text))), "\n")}
	if line := headerOf(data, "tagger "); line != "" {
		out.Tagger, out.Date = whoAndWhen(decoded([]byte(line)))
	}
	return out
}

// diff compares the commit with its first parent, inside the workspace.
func (s *showing) diff() error {
	before := plumbing.ZeroHash
	if len(s.parents) > 0 {
		parent, err := s.repo.Objects.Commit(s.parents[0])
		if err != nil {
			return err
		}
		s.shown.Parent, before = s.parents[0].String(), parent.TreeHash
	}
	after := s.tree
	if gitdir.Inside(s.repo.Top, s.place.Root) {
		s.shown.Within = s.repo.Prefix(s.place.Root)
	}
	if s.shown.Within != "" {
		var err error
		if before, err = s.repo.folderAt(before, s.shown.Within); err != nil {
			return err
		}
		if after, err = s.repo.folderAt(after, s.shown.Within); err != nil {
			return err
		}
	}
	c := &worktree.Comparison{Ctx: s.ctx, Repo: s.repo.Checkout}
	changes, err := c.Trees(before, after, s.shown.Within)
	if err != nil {
		return err
	}
	if changes, err = c.Renames(changes); err != nil {
		return err
	}
	slices.SortStableFunc(changes, func(a, b worktree.Difference) int { return cmp.Compare(a.Path, b.Path) })
	s.shown.Diff, err = (&printer{ctx: s.ctx, repo: s.repo.Checkout, context: s.options.Context, limit: s.options.MaxDiff}).print(changes)
	return err
}

// folderAt is the tree of a folder below tree, or the zero hash.
func (r *repository) folderAt(tree plumbing.Hash, name string) (plumbing.Hash, error) {
	if tree.IsZero() {
		return tree, nil
	}
	at, err := r.Objects.At(tree, name)
	if err != nil || at.Mode != odb.ModeDir {
		return plumbing.ZeroHash, err
	}
	return at.Hash, nil
}

// file shows what the commit has at a path of the repository.
func (s *showing) file(name string) error {
	if name != "." && name != "" && !odb.SafePath(name) {
		return fault.New(fault.PathOutsideWorkspace, "%s is no path of the repository; give it from the top of the repository, without \"..\"", fault.Quote(name))
	}
	rel, err := filepath.Rel(s.place.Root, filepath.Join(s.repo.Top, filepath.FromSlash(name)))
	if err != nil || !filepath.IsLocal(rel) {
		return fault.New(fault.PathOutsideWorkspace, "%s of the repository is outside the workspace; give a path inside it", fault.Quote(name))
	}
	s.shown.Path = filepath.ToSlash(rel)
	at, err := s.repo.Objects.At(s.tree, name)
	if err != nil {
		return err
	}
	if at.Mode == odb.ModeAbsent {
		return fault.New(fault.FileNotFound, "%s is not in the commit %s", fault.Quote(name), s.shown.Commit.Short).
			WithHint("git.log with this path lists the commits that changed it; paths count from the top of the repository and are case-sensitive")
	}
	s.shown.Kind, s.shown.Hash = kindOf(at.Mode), at.Hash.String()
	switch s.shown.Kind {
	case KindFolder:
		return s.folder(at.Hash)
	case KindSubmodule:
		return nil
	}
	return s.content(at.Hash)
}

func (s *showing) folder(h plumbing.Hash) error {
	entries, err := s.repo.Objects.Tree(h)
	s.shown.Entries = []ShownEntry{}
	for _, e := range entries {
		mode := uint32(e.Mode)
		if mode != odb.ModeDir {
			mode = odb.Canonical(mode)
		}
		s.shown.Entries = append(s.shown.Entries, ShownEntry{e.Name, kindOf(mode)})
	}
	return err
}

func (s *showing) content(h plumbing.Hash) error {
	limit := s.options.MaxBytes
	if limit == 0 || limit > odb.MaxFile {
		limit = odb.MaxFile
	}
	data, err := s.repo.Objects.Blob(h, limit)
	if errors.Is(err, gitfile.ErrBig) {
		return fault.New(fault.FileTooLarge, "%s has more than %d bytes in the commit %s", fault.Quote(s.shown.Path), limit, s.shown.Commit.Short).
			With("limit", limit).WithHint("git.diff with base shows what changed in it since")
	}
	s.shown.Content = data
	return err
}

func kindOf(mode uint32) Kind {
	switch mode {
	case odb.ModeDir:
		return KindFolder
	case odb.ModeExecutable:
		return KindExecutable
	case odb.ModeSymlink:
		return KindSymlink
	case odb.ModeSubmodule:
		return KindSubmodule
	}
	return KindFile
}
