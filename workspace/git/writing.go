package git

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/program"
)

// Setting is program.Setting.
type Setting = program.Setting

// Repository is where a write happens.
type Repository struct {
	Top    string // of its work tree, absolute
	Dir    string // of git itself, absolute; that of a linked work tree
	Branch string // "" where none is checked out
	Head   string // the commit that is checked out; "" before the first
	// Sources are the addresses from which git fetches objects that a partial clone has not, when it comes upon them, and
	// Fetched the programs by which it does.
	Sources, Fetched []string
	Hooks            []Hook // that run when it is done
	HooksChange      bool   // none do, because what is done brings or changes them
	// Network is what the repository's own settings say of how remotes are reached, where any is.
	Network []string
	// Settings are those with which git makes the write, so that what the repository's own say counts only as far as all of
	// this shows it.
	Settings []Setting
}

// openToWrite is open for what the user is shown of a write: what git writes it takes from the objects themselves, whatever replaces
// them.
func (g *Reader) openToWrite(ctx context.Context, root, dir string) (*repository, error) {
	r, err := g.open(ctx, root, dir)
	if err == nil && r != nil {
		r.IgnoreReplacements()
	}
	return r, err
}

// about is the repository, for a write at which these hooks run.
func (r *repository) about(hooks []string) (out Repository, err error) {
	out = Repository{Top: r.Top, Dir: r.GitDir}
	if err := r.isFound(); err != nil {
		return out, err
	}
	if err := r.writable("HEAD"); err != nil {
		return out, err
	}
	if out.Branch, err = r.branch(); err != nil {
		return out, err
	}
	if out.Head, err = r.head(); err != nil {
		return out, err
	}
	if out.Sources, out.Fetched, err = r.fetchers(); err != nil {
		return out, err
	}
	if len(out.Sources) > 0 {
		out.Network = r.network()
	}
	out.Hooks, err = hooksOf(r.Place, r.Config, hooks)
	return out, err
}

// isFound refuses a work tree in which git, which finds the repository by its own rules when it writes, would take another one.
func (r *repository) isFound() error {
	out, err := r.Output(r.ctx, program.Call{Args: []string{"rev-parse", "--show-toplevel", "--absolute-git-dir"}, Finds: true})
	if err != nil {
		return err
	}
	top, gitDir, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\n")
	if !sameFolder(top, r.Top) || !sameFolder(gitDir, r.GitDir) {
		return fault.New(fault.GitError, "git itself takes another folder for the work tree of this repository, %s", fault.Quote(top)).
			WithHint("ask the user about its settings (core.worktree)")
	}
	return nil
}

// reaches are the settings that say how a remote is reached and what it is told.
var reaches = regexp.MustCompile(`^(?s:http\..*|remote\..*\.(proxy|proxyauthmethod)|ssh\.variant|push\.pushoption)$`)

func (r *repository) network() []string {
	var out []string
	for key, values := range r.Own {
		if harmless := strings.HasSuffix(key, ".cookiefile") || strings.HasSuffix(key, ".savecookies"); !reaches.MatchString(key) || harmless {
			continue // these are off
		}
		for _, value := range values {
			if strings.HasSuffix(key, ".extraheader") { // which may be a password
				name, _, _ := strings.Cut(value, ":")
				value = name + ": …"
			}
			out = append(out, key+" "+Address(value))
		}
	}
	slices.Sort(out)
	return out
}

// writing sets the settings of a write that was looked at. drivers are the filters that are shown, signing the key by which git is
// told whether to sign and its value.
func (r *repository) writing(about *Repository, drivers map[string]bool, sign Signing, signing Setting, pushes bool) {
	hookNames := slices.ContainsFunc(about.Hooks, func(h Hook) bool { return h.Path == "" })
	about.Settings = r.Writing(func(key string) bool {
		section, rest, _ := strings.Cut(key, ".")
		switch at := strings.LastIndexByte(rest, '.'); {
		case section == "filter":
			return at > 0 && drivers[rest[:at]]
		case section == "hook":
			return hookNames
		case section == "credential", key == "core.sshcommand":
			return pushes || len(about.Sources) > 0
		case section == "remote":
			return strings.HasSuffix(key, ".uploadpack") && len(about.Sources) > 0
		}
		return false
	})
	set := func(key, value string) { about.Settings = append(about.Settings, Setting{Key: key, Value: value}) }
	set("core.hooksPath", os.DevNull)
	for _, h := range about.Hooks {
		if h.Path != "" {
			set("core.hooksPath", filepath.Dir(h.Path))
			break
		}
	}
	set(signing.Key, signing.Value)
	if sign.On {
		set("gpg.format", sign.Format)
		set("gpg."+sign.Format+".program", sign.Program)
		set("gpg.ssh.defaultKeyCommand", sign.Asked)
	}
}

// Environment is that in which git makes the write.
func (r Repository) Environment() map[string]string {
	env := program.Environment(r.Settings)
	env["GIT_NO_REPLACE_OBJECTS"] = "1"
	if len(r.Sources) == 0 {
		env["GIT_NO_LAZY_FETCH"] = "1"
	}
	return env
}

// hooksFolder is where git looks for hooks.
func hooksFolder(place gitdir.Place, config gitdir.Config) string {
	if set := config.Get("core.hookspath"); set != "" {
		return gitdir.ExpandPath(set, place.Top)
	}
	return filepath.Join(place.CommonDir, "hooks")
}

// withoutChangedHooks leaves out all hooks where a switch changes one of them, or brings one: what they do then nobody has seen.
func (r *repository) withoutChangedHooks(about *Repository, names []string, changes DiffResult) {
	folder := hooksFolder(r.Place, r.Config)
	at := []string{folder}
	for _, name := range names {
		at = append(at, filepath.Join(folder, name))
	}
	for _, path := range slices.Clone(at) {
		if target, err := os.Readlink(path); err == nil { // it need not lead anywhere yet
			at = append(at, gitdir.ExpandPath(target, filepath.Dir(path)))
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			at = append(at, real)
		}
	}
	for _, f := range changes.Files {
		for _, changed := range []string{f.Path, f.OldPath} {
			file := filepath.Join(r.Top, filepath.FromSlash(changed))
			if changed != "" && slices.ContainsFunc(at, func(path string) bool { return gitdir.Inside(path, file) || gitdir.Inside(file, path) }) {
				about.Hooks, about.HooksChange = nil, true
				return
			}
		}
	}
}
