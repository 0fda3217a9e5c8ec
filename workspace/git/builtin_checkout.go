package git

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
)

// CheckoutFile is what a switch makes of one path.
type CheckoutFile struct {
	Path       string // from the top
	Gone       bool   // something stands there, which goes or is replaced
	Folder     bool   // it is a folder, of which all that git knows goes as well
	New        bool   // there is to be what follows
	Link       bool
	Executable bool
	Data       []byte // the bytes of the file, or where the link leads

	to side
}

// A switch that changes more goes by git, which needs less memory for it.
const (
	mostCheckedOut      = 128 << 20
	mostCheckedOutFiles = 5000
)

// ToCheckOut is what CheckOut would have to write. A switch that only git can make is
// refused.
func ToCheckOut(ctx context.Context, root, dir string, c BranchChange) (files []CheckoutFile, err error) {
	err = withBuiltin(root, dir, func(_ *repository, b *builtin) error {
		files, err = b.checkout(ctx, plumbing.NewHash(c.Hash))
		return err
	})
	return files, err
}

// checkout is what has to be written for another commit to be checked out. Where git
// would leave a file as it is, so is it here.
func (b *builtin) checkout(ctx context.Context, target plumbing.Hash) ([]CheckoutFile, error) {
	c := &comparison{ctx: ctx, repo: b.repository}
	changes, err := c.towards(target)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	index, err := c.index()
	if err != nil {
		return nil, err
	}
	if err := b.isWhole(index.index); err != nil {
		return nil, err
	}
	x := &checkout{builtin: b, attributes: b.attributesThen(index, changes), folders: map[string]string{}, goes: map[string]bool{}}
	for _, ch := range changes {
		x.goes[ch.path] = ch.new.absent()
	}
	for _, ch := range changes {
		if entry := index.files[ch.path]; entry != nil && (side{mode: entry.any().mode, hash: entry.any().hash}).same(ch.new) || entry == nil && ch.new.absent() {
			continue
		}
		if err := x.add(ch); err != nil {
			return nil, err
		}
	}
	return x.files, x.distinct(index)
}

// isWhole refuses an index that says less than what is there.
func (b *builtin) isWhole(read *index) error {
	if read.sparse || b.config.bool("core.sparsecheckout", false) {
		return needsGit("the index is sparse")
	}
	for i := range read.entries {
		if e := &read.entries[i]; e.assumeValid || e.skipWorkTree || e.intentToAdd {
			return needsGit("the index has files that git does not look at, or that are to be added")
		}
	}
	return nil
}

// attributesThen are the attributes as they are for git while it writes the files: what
// is then staged comes before what stands in the work tree.
func (b *builtin) attributesThen(index *stagedFiles, changes []change) *attributes {
	staged := maps.Clone(index.attributes()())
	if staged == nil {
		staged = map[string]plumbing.Hash{}
	}
	a := newAttributes(b.repository)
	a.stagedFirst = true
	for _, ch := range changes {
		if path.Base(ch.path) != ".gitattributes" {
			continue
		}
		staged[ch.path] = ch.new.hash
		if ch.new.absent() || ch.new.mode == modeSymlink { // git follows no link
			staged[ch.path] = emptyBlob
		}
	}
	a.staged = func() map[string]plumbing.Hash { return staged }
	return a
}

// checkout collects what is to be written.
type checkout struct {
	*builtin
	attributes *attributes
	goes       map[string]bool   // the paths of files that are no more then
	folders    map[string]string // why nothing can be written in a folder, "" if it can
	files      []CheckoutFile
	size       int
}

func (x *checkout) add(ch change) error {
	name := fault.Quote(ch.path)
	if ch.old.mode == modeSubmodule || ch.new.mode == modeSubmodule {
		return needsGit(name + " is a submodule")
	}
	if why := x.closed(path.Dir(ch.path)); why != "" {
		return needsGit(why)
	}
	info, err := x.work.lstat(ch.path)
	if err != nil {
		return err
	}
	f := CheckoutFile{Path: ch.path, Gone: info != nil, New: !ch.new.absent(), Link: ch.new.mode == modeSymlink, Executable: ch.new.mode == modeExecutable, to: ch.new}
	switch {
	case info != nil && info.IsDir():
		f.Folder = f.New
		f.Gone = f.New // else the file is not there any more, and its removal is all there is
	case f.Link && !x.work.symlinks:
		return needsGit(name + " is a symbolic link, which this file system has not")
	}
	if f.New {
		if f.Data, err = x.bytes(ch.path, ch.new); err != nil {
			return err
		}
	}
	x.files = append(x.files, f)
	if x.size += len(f.Data); x.size > mostCheckedOut || len(x.files) > mostCheckedOutFiles {
		return needsGit("the switch changes much")
	}
	return nil
}

// closed is why nothing can be written in a folder: something else than a folder is on
// the way to it, and stays, or another repository begins there.
func (x *checkout) closed(dir string) string {
	if dir == "." {
		return ""
	}
	why, known := x.folders[dir]
	if known {
		return why
	}
	if why = x.closed(path.Dir(dir)); why == "" && !x.makesWay(path.Dir(dir)) {
		info, err := os.Lstat(x.work.abs(dir))
		switch {
		case err == nil && !info.IsDir() && x.goes[dir]: // a folder comes in its place
		case err == nil && !info.IsDir():
			why = fault.Quote(dir) + " is no folder, and becomes one"
		case err == nil && lexists(filepath.Join(x.work.abs(dir), ".git")):
			why = fault.Quote(dir) + " is a repository of its own"
		}
	}
	x.folders[dir] = why
	return why
}

// makesWay says whether a file or link goes so that there can be the folder.
func (x *checkout) makesWay(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if x.goes[dir] {
			return true
		}
	}
	return false
}

// distinct refuses names that a file system may take for one another.
func (x *checkout) distinct(index *stagedFiles) error {
	if !x.config.bool("core.ignorecase", false) && !x.config.bool("core.precomposeunicode", false) {
		return nil
	}
	names := map[string]string{}
	note := func(name string) error {
		for ; name != "."; name = path.Dir(name) {
			folded := strings.ToLower(name)
			if other, known := names[folded]; known && other != name {
				return needsGit(fault.Quote(name) + " and " + fault.Quote(other) + " are one name here")
			}
			names[folded] = name
		}
		return nil
	}
	for _, name := range index.paths {
		if err := note(name); err != nil {
			return err
		}
	}
	for _, f := range x.files {
		if strings.ContainsFunc(f.Path, func(r rune) bool { return r > '~' }) {
			return needsGit("this file system may write " + fault.Quote(f.Path) + " otherwise")
		}
		if err := note(f.Path); err != nil {
			return err
		}
	}
	return nil
}

// bytes are those that git would write of a file.
func (x *checkout) bytes(name string, s side) ([]byte, error) {
	data, err := x.objects.blob(s.hash, maxFile)
	if err != nil {
		return nil, err
	}
	if plumbing.ComputeHash(plumbing.BlobObject, data) != s.hash && len(x.objects.replaced) == 0 {
		return nil, fault.New(fault.GitError, "the object %s is damaged; git fsck says more", s.hash)
	}
	if s.mode == modeSymlink {
		if len(data) == 0 || bytes.IndexByte(data, 0) >= 0 {
			return nil, fault.New(fault.GitError, "the link %s leads nowhere; git fsck says more", fault.Quote(name))
		}
		return data, nil
	}
	attributes := x.attributes.of(name)
	for _, key := range []string{"filter", "working-tree-encoding", "ident"} {
		if v := attributes[key]; v != attrUnset && v != attrUnspecified {
			return nil, needsGit(fault.Quote(name) + " has another form in the work tree (" + key + ")")
		}
	}
	if guess, crlf := x.work.conversion.endsThen(attributes); crlf && getsCRLF(data, guess) {
		return bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n")), nil
	}
	return data, nil
}

// endsThen says whether lines end with CRLF in the work tree, and whether of text alone
// that git takes for such. It is the other way of lineEnds.
func (c conversion) endsThen(attributes map[string]string) (guess, crlf bool) {
	text := attributes["text"]
	if !slices.Contains([]string{attrSet, attrUnset, "auto", "input"}, text) {
		text = attributes["crlf"]
	}
	auto := c.config.get("core.autocrlf")
	always := auto != "input" && c.config.bool("core.autocrlf", false)
	eol := strings.ToLower(c.config.get("core.eol"))
	native := always || auto != "input" && (eol == "crlf" || eol != "lf" && runtime.GOOS == "windows")
	switch ends := attributes["eol"]; {
	case text == attrUnset || text == "input":
		return false, false
	case ends == "lf" || ends == "crlf":
		return text == "auto", ends == "crlf"
	case text == "auto":
		return true, native
	case text == attrSet:
		return false, native
	}
	return true, always
}

// getsCRLF says whether git gives the lines of a stored file other ends.
func getsCRLF(data []byte, guess bool) bool {
	pairs := bytes.Count(data, []byte("\r\n"))
	if bytes.Count(data, []byte("\n")) == pairs {
		return false
	}
	return !guess || pairs == 0 && !looksBinary(data)
}

// Mode is that of the entry, but for what the system takes off it.
func (f CheckoutFile) Mode() fs.FileMode {
	switch {
	case f.Link:
		return fs.ModeSymlink | 0o777
	case f.Executable:
		return 0o777
	}
	return 0o666
}
