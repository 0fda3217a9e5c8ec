package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace"
)

// Layers are the settings of a window: the user's own, and for each folder the
// project's file as far as it counts and the rules that were remembered.
type Layers struct {
	book *Consent

	mu   sync.Mutex // guards all below
	own  Settings
	seen []sighting // of each folder, at the last look
	view *View      // what came of it; nil: look anew
}

// View is what the layers come to. It never changes.
type View struct {
	// Settings hold for the window. Their rules are the user's own, and hold in every
	// folder.
	Settings Settings
	Own      Settings // the user's
	Folders  []Folder
}

// Folder is what is said of one folder beyond the user's own settings.
type Folder struct {
	Root     string // its real path
	File     string // the project's settings file
	Hash     string // of its text, "" where there is none that can be read
	Trusted  bool   // this very text is
	Ignored  bool   // the user said no to this very text
	Linked   bool   // it can never be
	Loosens  []string
	Problems []string
	// Ineffective are those of the project's file, without its name.
	Ineffective []string

	Project    Permissions // the rules of the project that count
	Remembered []Remembered
	Rules      policy.Rules // both of them

	Counts Settings // what counts of the project's file

	LanguageServers LanguageServers // the user's own, with what counts of the project's
}

// sighting is what a look at a folder found.
type sighting struct {
	root    string
	project projectText
	page    []byte
	problem string // with the page
}

func (s sighting) equal(other sighting) bool {
	return s.root == other.root && s.problem == other.problem && s.project.equal(other.project) && bytes.Equal(s.page, other.page)
}

// NewLayers starts with the user's own settings. Without a book nothing is trusted
// and nothing remembered.
func NewLayers(own Settings, book *Consent) *Layers { return &Layers{own: own, book: book} }

// SetOwn takes other settings of the user.
func (l *Layers) SetOwn(own Settings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own, l.view = own, nil
}

// Look reads what is on disk now. It gives the same View again as long as nothing
// has changed, and is cheap then.
func (l *Layers) Look(roots []workspace.Path) *View {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := make([]sighting, 0, len(roots))
	for _, root := range roots {
		var before projectText
		if i := slices.IndexFunc(l.seen, func(s sighting) bool { return s.root == root.RootDir() }); i >= 0 {
			before = l.seen[i].project
		}
		seen = append(seen, l.sight(root, before))
	}
	if l.view != nil && slices.EqualFunc(seen, l.seen, sighting.equal) {
		return l.view
	}
	l.seen, l.view = seen, l.makeView(roots, seen)
	return l.view
}

func (l *Layers) sight(root workspace.Path, before projectText) sighting {
	s := sighting{root: root.RootDir(), project: readProject(root, before)}
	if l.book != nil {
		page, err := l.book.Bytes(s.root)
		if s.page = page; err != nil {
			s.problem = err.Error()
		}
	}
	return s
}

// makeView needs the lock.
func (l *Layers) makeView(roots []workspace.Path, seen []sighting) *View {
	v := &View{Settings: l.own, Own: l.own}
	for i, s := range seen {
		folder, settings := l.layer(projectPath(roots[i]), s)
		v.Folders = append(v.Folders, folder)
		if i == 0 {
			v.Settings = settings
		} else {
			v.Settings = strictest(v.Settings, settings)
		}
	}
	v.Settings.Permissions = l.own.Permissions
	return v
}

// layer lays one folder's file over the user's own settings. The rules are apart.
func (l *Layers) layer(file string, s sighting) (Folder, Settings) {
	f := Folder{Root: s.root, File: file, Linked: s.project.linked}
	var page FolderConsent
	if l.book != nil && s.problem == "" {
		var err error
		if page, err = l.book.Read(s.root, s.page); err != nil {
			s.problem = err.Error()
		}
	}
	if s.problem != "" {
		f.Problems = []string{s.problem}
	}
	f.Remembered = page.Rules
	var project Settings
	if s.project.raw != nil {
		var problems []string
		project, problems = parseProject(s.project.raw)
		if !s.project.kept {
			f.Hash = Hash(s.project.raw)
		}
		f.Trusted = f.Hash != "" && f.Hash == page.Trusted && !f.Linked
		f.Ignored = f.Hash != "" && f.Hash == page.Ignored
		f.report(problems...)
	}
	if s.project.problem != "" {
		f.report(s.project.problem)
	}
	h := hold(project, l.own, f.Trusted)
	f.report(h.never...)
	f.Loosens = h.loosens
	f.Project = h.counts.Permissions
	f.Rules = f.Project.Rules()
	for _, r := range f.Remembered {
		if rule, err := policy.ParseRule(r.Rule); err == nil {
			f.Rules.Allow = append(f.Rules.Allow, rule)
		}
	}
	own := l.own
	own.Permissions, h.counts.Permissions = Permissions{}, Permissions{}
	f.Counts = h.counts
	out := h.counts.Over(own)
	f.LanguageServers = out.LanguageServers
	return f, out
}

// report adds problems with the project's file.
func (f *Folder) report(problems ...string) {
	f.Ineffective = append(f.Ineffective, problems...)
	for _, p := range problems {
		f.Problems = append(f.Problems, fault.Escape(f.File)+": "+p)
	}
}

// Untrusted says that the user has not trusted what the project would loosen, and could.
func (f Folder) Untrusted() bool {
	return len(f.Loosens) > 0 && !f.Trusted && !f.Linked && f.Hash != ""
}

// Asks says that they have not said no to it either.
func (f Folder) Asks() bool { return f.Untrusted() && !f.Ignored }

// ErrMoved is why a text is not trusted that is no longer the file's.
var ErrMoved = errors.New("the settings file has changed since it was shown; review it again")

// Trust has exactly the text of that hash trusted, if it is what the file holds now.
func (l *Layers) Trust(roots []workspace.Path, file, hash string) error {
	return l.answer(roots, file, hash, l.book.Trust)
}

// Ignore has nobody asked about exactly that text.
func (l *Layers) Ignore(roots []workspace.Path, file, hash string) error {
	return l.answer(roots, file, hash, l.book.Ignore)
}

// answer keeps what the user said to the text of that hash, if it is what the file holds now.
func (l *Layers) answer(roots []workspace.Path, file, hash string, keep func(folder, hash string) error) error {
	f, err := l.find(roots, func(f Folder) bool { return f.File == file })
	switch {
	case err != nil:
		return err
	case f.Linked:
		return fmt.Errorf("%s is reached through a link; replace it with the file itself", fault.Quote(file))
	case f.Hash == "" || f.Hash != hash:
		return ErrMoved
	default:
		return keep(f.Root, hash)
	}
}

// Forget drops a rule that was remembered for a folder.
func (l *Layers) Forget(roots []workspace.Path, folder, rule string) error {
	if _, err := l.find(roots, func(f Folder) bool { return f.Root == folder }); err != nil {
		return err
	}
	n, err := l.book.Forget(folder, rule)
	if err == nil && n == 0 {
		return fmt.Errorf("no rule %s is remembered for this folder", fault.Quote(rule))
	}
	return err
}

// find is an open folder about which something can be kept.
func (l *Layers) find(roots []workspace.Path, is func(Folder) bool) (Folder, error) {
	if l.book == nil {
		return Folder{}, errors.New("nothing can be saved: the home folder is unknown")
	}
	folders := l.Look(roots).Folders
	if i := slices.IndexFunc(folders, is); i >= 0 {
		return folders[i], nil
	}
	return Folder{}, errors.New("this belongs to no open folder")
}

// Remember keeps a rule for a folder, written as if that were open by itself.
func (l *Layers) Remember(root string, rule policy.Rule) error {
	if l.book == nil {
		return errors.New("the rule cannot be saved: the home folder is unknown")
	}
	return l.book.Remember(root, rule.String())
}
