package sample

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

const branch = plumbing.ReferenceName("refs/heads/main")

// commit is one step of the project's history: the files that it wrote, with
// the text they have now unless history/ holds an older one.
type commit struct {
	author, email string
	date          string // RFC 3339, with the author's own time zone
	message       string
	files         []string
}

var commits = []commit{
	{"Mira Okafor", "mira@example.org", "2024-03-02T16:20:00+01:00", "Steep times for four teas\n", []string{"README.md", "data/teas.csv"}},
	{"Jonas Lindqvist", "jonas@example.org", "2024-03-03T09:41:00+01:00", "Read the table of teas\n", []string{".editorconfig", ".gitignore", "kettle/__init__.py", "kettle/teas.py"}},
	{"Mira Okafor", "mira@example.org", "2024-03-09T15:02:00+01:00", "The second cup takes longer\n\nOolong is good for five, and nobody wants to do the sum with wet hands.\n", []string{"data/teas.csv", "kettle/teas.py", "run-tests.sh", "tests/__init__.py", "tests/test_teas.py"}},
	{"Priya Raman", "priya@example.org", "2024-04-14T19:30:00+05:30", "Show the time like a kitchen timer does\n", []string{"brew.sh", "kettle.ini", "kettle/__main__.py", "kettle/clock.py"}},
	{"Jonas Lindqvist", "jonas@example.org", "2024-04-20T11:15:00+02:00", "README: how to ask for the second cup\n", []string{"README.md"}},
	{"Mira Okafor", "mira@example.org", "2024-05-01T08:05:00+02:00", "Test the clock\n\nWhite tea came out at 4:5 this morning. The test says what it should be.\n", []string{"tests/test_clock.py"}},
}

// Write makes the project in dir, which must be empty or absent, with its
// history on branch main. The commit at its head is the same every time.
func Write(dir string) error {
	if err := vacant(dir); err != nil {
		return err
	}
	repo, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: branch}})
	if err != nil {
		return fmt.Errorf("creating the sample's repository: %w", err)
	}
	head, err := writeHistory(repo.Storer)
	if err != nil {
		return fmt.Errorf("writing the sample's history: %w", err)
	}
	if err := repo.Storer.SetReference(plumbing.NewHashReference(branch, head)); err != nil {
		return fmt.Errorf("writing the sample's history: %w", err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		return fmt.Errorf("checking the sample out: %w", err)
	}
	if err := tree.Reset(&git.ResetOptions{Commit: head, Mode: git.HardReset}); err != nil {
		return fmt.Errorf("checking the sample out: %w", err)
	}
	return nil
}

func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot create the sample there: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty; name a folder that is empty or does not exist yet", dir)
	}
	return nil
}

func writeHistory(store storer.EncodedObjectStorer) (head plumbing.Hash, err error) {
	now := map[string]string{}
	for i, c := range commits {
		for _, name := range c.files {
			if now[name], err = textAt(i+1, name); err != nil {
				return head, err
			}
		}
		tree, err := writeTree(store, now)
		if err != nil {
			return head, err
		}
		when, err := time.Parse(time.RFC3339, c.date)
		if err != nil {
			return head, err
		}
		who := object.Signature{Name: c.author, Email: c.email, When: when}
		o := &object.Commit{Author: who, Committer: who, Message: c.message, TreeHash: tree}
		if i > 0 {
			o.ParentHashes = []plumbing.Hash{head}
		}
		if head, err = put(store, o); err != nil {
			return head, err
		}
	}
	return head, nil
}

// textAt is a file's text as of the numbered commit.
func textAt(number int, name string) (string, error) {
	b, err := fs.ReadFile(history, path.Join("history", fmt.Sprint(number), name))
	if errors.Is(err, fs.ErrNotExist) {
		b, err = fs.ReadFile(Files, name)
	}
	return string(b), err
}

// writeTree stores the files of one folder, and the folders in it, as git
// objects. The modes are fixed here: embedding drops them, and a hash must not
// depend on the machine.
func writeTree(store storer.EncodedObjectStorer, files map[string]string) (plumbing.Hash, error) {
	tree, folders := &object.Tree{}, map[string]map[string]string{}
	for name, text := range files {
		if folder, rest, ok := strings.Cut(name, "/"); ok {
			if folders[folder] == nil {
				folders[folder] = map[string]string{}
			}
			folders[folder][rest] = text
			continue
		}
		hash, err := putBlob(store, text)
		if err != nil {
			return hash, err
		}
		mode := filemode.Regular
		if strings.HasSuffix(name, ".sh") {
			mode = filemode.Executable
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: mode, Hash: hash})
	}
	for name, files := range folders {
		hash, err := writeTree(store, files)
		if err != nil {
			return hash, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries)) // in git's own order
	return put(store, tree)
}

func putBlob(store storer.EncodedObjectStorer, text string) (plumbing.Hash, error) {
	o := store.NewEncodedObject()
	o.SetType(plumbing.BlobObject)
	w, err := o.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return plumbing.ZeroHash, err
	}
	if err := w.Close(); err != nil {
		return plumbing.ZeroHash, err
	}
	return store.SetEncodedObject(o)
}

func put(store storer.EncodedObjectStorer, what object.Object) (plumbing.Hash, error) {
	o := store.NewEncodedObject()
	if err := what.Encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	return store.SetEncodedObject(o)
}
