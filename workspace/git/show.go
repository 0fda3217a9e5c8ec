package git

import (
	"context"
	"errors"
	"io"
	"path"
	"path/filepath"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/program"
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

var kinds = map[string]Kind{"100755": KindExecutable, "120000": KindSymlink, "040000": KindFolder, "160000": KindSubmodule}

func kindOf(mode string) Kind {
	if kind, known := kinds[mode]; known {
		return kind
	}
	return KindFile
}

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

// mostFile is the largest file of a commit that is shown.
const mostFile = 64 << 20

// Show shows a commit, as git show does, or a file, link or folder in it. A merge
// is compared with its first parent alone. Of a repository that begins above the
// workspace's folder root, what lies outside of that is not shown.
//
// Failures are *fault.Error: GIT_NOT_INITIALIZED, GIT_ERROR, FILE_NOT_FOUND for a
// path that the commit has not, FILE_TOO_LARGE over a limit, with the numbers of
// each file in the details if it is the diff.
func (g *Reader) Show(ctx context.Context, root string, o ShowOptions) (Shown, error) {
	r, err := g.open(ctx, root, o.Dir)
	if err != nil {
		return Shown{}, err
	}
	if r == nil {
		return builtinShow(ctx, root, o)
	}
	revision, file, inside := cutFile(o.Ref)
	if revision == "" {
		return Shown{}, noRevision()
	}
	hash, err := r.commit(revision)
	if err != nil {
		return Shown{}, err
	}
	found, err := r.commits("--max-count=1", hash, "--")
	if err != nil || len(found) == 0 {
		return Shown{}, errors.Join(err, r.unknown(revision))
	}
	shown := Shown{Commit: found[0], Tag: r.tag(revision, hash)}
	switch {
	case inside:
		err = r.showFile(&shown, path.Clean(file), o.MaxBytes)
	case o.File && r.prefix != "":
		err = r.showFile(&shown, r.prefix, o.MaxBytes)
	default:
		err = r.showCommit(&shown, o)
	}
	return shown, err
}

// cutFile parts REF:PATH. A colon in braces is of the revision, as in HEAD@{2030-01-01 10:00}.
func cutFile(ref string) (revision, file string, inside bool) {
	depth := 0
	for at, c := range ref {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case ':':
			if depth == 0 {
				return ref[:at], ref[at+1:], true
			}
		}
	}
	return ref, "", false
}

func noRevision() error {
	return fault.New(fault.GitError, "no commit is given; give a branch, a tag or a hash as ref, such as HEAD")
}

// tag is the annotated tag that a revision names and that leads to a commit.
func (r *repository) tag(revision, commit string) *Tag {
	h, err := r.reference(revision)
	if err != nil || h == "" || h == commit || r.line("cat-file", "-t", h) != "tag" {
		return nil
	}
	text, err := r.output("cat-file", "tag", h)
	if err != nil {
		return nil
	}
	return readTag(text)
}

// readTag reads what people want to know out of a tag's bytes.
func readTag(text string) *Tag {
	head, message, _ := strings.Cut(text, "\n\n")
	message, _, _ = strings.Cut(message, "-----BEGIN ") // its signature
	out := &Tag{Message: strings.Trim(readable(message), "\n")}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tag":
			out.Name = name(value)
		case "tagger":
			out.Tagger, out.Date = whoAndWhen(value)
		}
	}
	return out
}

// showCommit compares the commit with its first parent, inside the workspace.
func (r *repository) showCommit(shown *Shown, o ShowOptions) error {
	if gitdir.Inside(r.Top, r.location.Root) {
		shown.Within = r.Prefix(r.location.Root)
	}
	if len(shown.Commit.Parents) > 0 {
		shown.Parent = shown.Commit.Parents[0]
	}
	before, err := r.orEmptyTree(shown.Parent)
	if err == nil {
		shown.Diff, err = r.diff(comparison{between: []string{before, shown.Commit.Hash}, path: shown.Within, context: o.Context, limit: o.MaxDiff})
	}
	return err
}

// within is a path of the repository as one of the workspace's folder.
func within(location gitdir.Location, top, name string) (string, error) {
	if name != "." && name != "" && !gitdir.SafePath(name) {
		return "", fault.New(fault.PathOutsideWorkspace, "%s is no path of the repository; give it from the top of the repository, without \"..\"", fault.Quote(name))
	}
	rel, err := filepath.Rel(location.Root, filepath.Join(top, filepath.FromSlash(name)))
	if err != nil || !filepath.IsLocal(rel) {
		return "", fault.New(fault.PathOutsideWorkspace, "%s of the repository is outside the workspace; give a path inside it", fault.Quote(name))
	}
	return filepath.ToSlash(rel), nil
}

// showFile shows what the commit has at a path of the repository.
func (r *repository) showFile(shown *Shown, name string, most int64) (err error) {
	if shown.Path, err = within(r.location, r.Top, name); err != nil {
		return err
	}
	kind, hash := KindFolder, ""
	if hash, err = r.reference(shown.Commit.Hash + "^{tree}"); err != nil {
		return err
	}
	if name != "." && name != "" {
		out, err := r.output(append([]string{"ls-tree", "-z", "--full-tree", shown.Commit.Hash}, pathspec(name)...)...)
		if err != nil {
			return err
		}
		if kind, hash = entryAt(fields(out), name); hash == "" {
			return notInCommit(name, shown.Commit)
		}
	}
	shown.Kind, shown.Hash = kind, hash
	switch kind {
	case KindFolder:
		out, err := r.output("ls-tree", "-z", "--full-tree", hash)
		shown.Entries = []ShownEntry{}
		for _, line := range fields(out) {
			head, entry, _ := strings.Cut(line, "\t")
			mode, _, _ := strings.Cut(head, " ")
			shown.Entries = append(shown.Entries, ShownEntry{entry, kindOf(mode)})
		}
		return err
	case KindSubmodule:
		return nil
	}
	if most == 0 || most > mostFile {
		most = mostFile
	}
	return r.Stream(r.ctx, program.Call{Args: []string{"cat-file", "blob", hash}}, func(in io.Reader) (err error) {
		shown.Content, err = io.ReadAll(io.LimitReader(in, most+1))
		if int64(len(shown.Content)) > most {
			return tooLargeInCommit(shown.Path, shown.Commit, most)
		}
		return err
	})
}

// entryAt finds the entry of a path in what git ls-tree -z printed.
func entryAt(lines []string, name string) (Kind, string) {
	for _, line := range lines {
		head, entry, _ := strings.Cut(line, "\t")
		if part := strings.Fields(head); entry == name && len(part) == 3 {
			return kindOf(part[0]), part[2]
		}
	}
	return "", ""
}

func notInCommit(name string, c LogCommit) error {
	return fault.New(fault.FileNotFound, "%s is not in the commit %s", fault.Quote(name), c.Short).
		WithHint("git.log with this path lists the commits that changed it; paths count from the top of the repository and are case-sensitive")
}

func tooLargeInCommit(name string, c LogCommit, most int64) error {
	return fault.New(fault.FileTooLarge, "%s has more than %d bytes in the commit %s", fault.Quote(name), most, c.Short).
		With("limit", most).WithHint("git.diff with base shows what changed in it since")
}
