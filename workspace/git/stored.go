package git

import (
	"bytes"
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pillion/workspace/git/program"
)

// Stored finds what of the files in a folder the folder's repository holds byte for byte, so
// that it need not be copied. It asks git when it is first asked for something,
// and again after Close. Not for several goroutines at once.
type Stored struct {
	reader *Reader
	folder string
	ctx    context.Context // of the look that goes on

	known map[string]storedFile // by the name in the folder; nil: git was not asked
	asked time.Time             // just before git looked at the files
	err   error                 // why nothing is known
	repo  *repository
	blobs *program.Objects // nil: none was asked for
}

// storedFile is what the index has of a file that is as it is stored.
type storedFile struct {
	hash string
	size int64
}

// NewStored is about the folder with this absolute name.
func (g *Reader) NewStored(folder string) *Stored {
	return &Stored{reader: g, folder: folder, ctx: context.Background()}
}

// Within has what is asked from here on end with ctx.
func (s *Stored) Within(ctx context.Context) { s.ctx = ctx }

// Open says why there is no repository that can be read, if there is none.
func (s *Stored) Open() error {
	if s.known == nil && s.err == nil {
		s.known, s.err = s.ask()
	}
	return s.err
}

// Close forgets what git said, and ends it.
func (s *Stored) Close() {
	if s.blobs != nil {
		s.blobs.Close()
	}
	s.known, s.err, s.repo, s.blobs = nil, nil, nil, nil
}

func (s *Stored) openRepository() (err error) {
	if s.repo != nil {
		return nil
	}
	if s.repo, err = s.reader.open(s.ctx, s.folder, s.folder); err == nil && s.repo == nil {
		err = NeedsGit("a repository is asked what it holds")
	}
	return err
}

// ask has git list the files that are as the index has them, and as they are stored.
func (s *Stored) ask() (map[string]storedFile, error) {
	if err := s.openRepository(); err != nil {
		return nil, err
	}
	r := s.repo
	s.asked = time.Now()
	entries, err := r.output(append([]string{"ls-files", "-z", "--stage", "-v"}, pathspec(r.prefix)...)...)
	if err != nil {
		return nil, err
	}
	differ, err := r.diff(comparison{path: r.prefix, quiet: true})
	if err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	for _, line := range fields(entries) {
		head, name, _ := strings.Cut(line, "\t")
		// Another letter than H: git was told not to look at it, or it is in conflict.
		if part := strings.Fields(head); len(part) == 4 && part[0] == "H" && strings.HasPrefix(part[1], "100") && part[3] == "0" {
			hashes[name] = part[2]
		}
	}
	for _, f := range differ.Files {
		delete(hashes, f.Path)
	}
	if err := s.leaveConverted(hashes); err != nil {
		return nil, err
	}
	return s.sized(hashes)
}

// leaveConverted leaves out what git may have written in another form than it stores. What it does to line ends makes that
// longer.
func (s *Stored) leaveConverted(hashes map[string]string) error {
	return s.repo.attributes(slices.Collect(maps.Keys(hashes)), func(path, value string) {
		if value != "unspecified" && value != "unset" {
			delete(hashes, path)
		}
	}, "filter", "ident", "working-tree-encoding")
}

// sized looks up how long the objects are.
func (s *Stored) sized(hashes map[string]string) (map[string]storedFile, error) {
	names := make([]string, 0, len(hashes))
	var in strings.Builder
	for name, hash := range hashes {
		names = append(names, name)
		in.WriteString(hash + "\n")
	}
	out, err := s.repo.Output(s.ctx, program.Call{Args: []string{"cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"}, Stdin: in.String(), Stored: true})
	known := map[string]storedFile{}
	i := 0
	for line := range strings.Lines(out) {
		hash, size, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, sizeErr := strconv.ParseInt(size, 10, 64)
		if i < len(names) && sizeErr == nil && hash == hashes[names[i]] {
			if rel, err := filepath.Rel(s.repo.location.Dir, filepath.Join(s.repo.Top, filepath.FromSlash(names[i]))); err == nil {
				known[filepath.ToSlash(rel)] = storedFile{hash, n}
			}
		}
		i++
	}
	return known, err
}

// Blob is what the repository holds of a file. Those of the same content are equal.
type Blob struct {
	in   *Stored
	hash string
}

// Find gives what is in a file of this size, which at a time was settled or not: a change after it would show in its times. It is
// false where git has not seen what is in the file now, or that may differ from what is stored.
func (s *Stored) Find(name string, size int64, settled func(at time.Time) bool) (Blob, bool) {
	if s.Open() != nil || size == 0 {
		return Blob{}, false
	}
	found, is := s.known[filepath.ToSlash(name)]
	return Blob{s, found.hash}, is && found.size == size && settled(s.asked)
}

// Read gives the content. It fails where the repository has lost it since.
func (b Blob) Read() ([]byte, error) {
	if err := b.in.openRepository(); err != nil {
		return nil, err
	}
	if b.in.blobs == nil {
		b.in.blobs = b.in.repo.Objects()
	}
	return b.in.blobs.Blob(b.hash)
}

// Open is Read.
func (b Blob) Open() (io.ReadCloser, error) {
	data, err := b.Read()
	return io.NopCloser(bytes.NewReader(data)), err
}
