package git

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/pattern"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
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
	// Reaches says that something of it may speak to another repository; Network is what the repository's own settings say of
	// how, where git itself does.
	Reaches bool
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

// where is the repository, and what is checked out.
func (r *repository) where() (out Repository, err error) {
	out = Repository{Top: r.Top, Dir: r.GitDir}
	if out.Branch, err = r.branch(); err == nil {
		out.Head, err = r.head()
	}
	return out, err
}

// about is the repository, for a write at which these hooks run.
func (r *repository) about(hooks []string) (out Repository, err error) {
	if err := r.isFound(); err != nil {
		return out, err
	}
	if err := r.writable("HEAD"); err != nil {
		return out, err
	}
	if message := filepath.Join(r.GitDir, "COMMIT_EDITMSG"); gitfile.Exists(message) && !gitfile.IsAlone(message) { // git writes through it
		return out, fault.New(fault.GitError, "%s is another file too, and git would write the message to it", fault.Quote(message)).WithHint("ask the user about it")
	}
	if out, err = r.where(); err != nil {
		return out, err
	}
	if err := r.fetchers(&out); err != nil {
		return out, err
	}
	out.Hooks, err = hooksOf(r.Place, r.Config, hooks)
	out.Reaches = out.Reaches || len(out.Hooks) > 0 // which are programs of their own
	return out, err
}

// isFound refuses a work tree in which git, which finds the repository by its own rules when it writes, would take another one.
func (r *repository) isFound() error {
	out, err := r.Output(r.ctx, program.Call{Args: []string{"rev-parse", "--show-toplevel", "--absolute-git-dir"}, Finds: true})
	if err != nil {
		if e := fault.From(err); strings.Contains(e.Message, "dubious ownership") {
			return e.WithHint("the repository is another user's; ask the user, who can allow it with git config --global --add safe.directory %s", fault.Quote(r.Top))
		}
		return err
	}
	top, gitDir, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\n")
	if !gitfile.IsSame(top, r.Top) || !gitfile.IsSame(gitDir, r.GitDir) {
		return fault.New(fault.GitError, "git itself takes another folder for the work tree of this repository, %s", fault.Quote(top)).
			WithHint("ask the user about its settings (core.worktree)")
	}
	return nil
}

// reaches are the settings that say how a remote is reached and what it is told.
var reaches = pattern.New(`^(?s:http\..*|remote\..*\.(proxy|proxyauthmethod)|ssh\.variant|push\.pushoption)$`)

// network is what the repository's own settings say of that, but where it saves cookies, which is off.
func (r *repository) network() []string {
	var out []string
	for key, values := range r.Own {
		if !reaches().MatchString(key) || strings.HasSuffix(key, ".cookiefile") || strings.HasSuffix(key, ".savecookies") {
			continue
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

// writing sets the settings of a write that was looked at. drivers are the filters that are shown; nil where git itself runs none,
// so that its hooks find them as they are.
func (r *repository) writing(about *Repository, drivers map[string]bool, sign Signing) {
	configured := slices.ContainsFunc(about.Hooks, func(h Hook) bool { return h.Path == "" })
	about.Settings = r.Writing(func(key string) bool {
		section, rest, _ := strings.Cut(key, ".")
		switch at := strings.LastIndexByte(rest, '.'); {
		case section == "filter":
			return drivers == nil || at > 0 && drivers[rest[:at]]
		case section == "hook":
			return configured
		case section == "credential", key == "core.sshcommand": // of a remote that is shown, or for hooks and filters
			return about.Reaches
		}
		return slices.Contains(r.fetching, key)
	})
	set := func(key, value string) { about.Settings = append(about.Settings, Setting{Key: key, Value: value}) }
	if len(about.Hooks) == 0 {
		set("core.hooksPath", os.DevNull)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Config)) {
		switch name, ok := strings.CutPrefix(key, "hook."); {
		case about.HooksChange && ok && strings.HasSuffix(name, ".event"):
			set(key, "")
		case strings.HasPrefix(key, "submodule.") && strings.HasSuffix(key, ".ignore"): // it outweighs diff.ignoreSubmodules
			set(key, "dirty")
		}
	}
	for _, name := range r.submodules() {
		set("submodule."+name+".ignore", "dirty")
	}
	set(cmp.Or(sign.Setting.Key, "commit.gpgSign"), cmp.Or(sign.Setting.Value, "false"))
	if sign.On {
		set("gpg.format", sign.Format)
		set("gpg."+sign.Format+".program", sign.Program)
		set("gpg.ssh.defaultKeyCommand", sign.Asked)
	}
}

// submodules are the names in .gitmodules: what that says of one outweighs the settings for all.
func (r *repository) submodules() []string {
	if !gitfile.Exists(filepath.Join(r.Top, ".gitmodules")) {
		return nil
	}
	listed, _ := r.output("config", "--file", ".gitmodules", "-z", "--name-only", "--get-regexp", `^submodule\..*\.ignore$`) //nolint:errcheck // what git cannot read it does not obey
	var out []string
	for _, key := range fields(listed) {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".ignore"))
	}
	return out
}

// Environment is that in which git makes the write: nobody can be asked by an editor, and it is this repository or none.
func (r Repository) Environment() map[string]string {
	env := program.Environment(r.Settings)
	env["GIT_EDITOR"], env["GIT_SEQUENCE_EDITOR"] = ":", ":"
	env["GIT_CEILING_DIRECTORIES"] = filepath.Dir(r.Top)
	env["GIT_ALLOW_PROTOCOL"] = "none"
	if r.Reaches {
		env["GIT_ALLOW_PROTOCOL"] = Protocols
	}
	if len(r.Sources) == 0 {
		env["GIT_NO_LAZY_FETCH"] = "1"
	}
	return env
}

func stateOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// operationInProgress is what git is in the middle of, "" for nothing, by what the repository has.
func operationInProgress(has func(file string) bool) string {
	for _, one := range []struct{ file, what string }{
		{"MERGE_HEAD", "a merge"},
		{"CHERRY_PICK_HEAD", "a cherry-pick, whose author the commit gets"},
		{"REVERT_HEAD", "a revert"},
		{"rebase-merge", "a rebase"},
		{"rebase-apply", "a rebase or git am"},
		{"BISECT_LOG", "a bisection"},
	} {
		if has(one.file) {
			return one.what
		}
	}
	return ""
}

// unmerged refuses what git refuses, and says which files it is about.
func (r *repository) unmerged() error {
	out, err := r.output("diff", "--name-only", "-z", "--diff-filter=U", "--no-relative", "--ignore-submodules=dirty", "--")
	names := fields(out)
	slices.Sort(names)
	if names = slices.Compact(names); err != nil || len(names) == 0 {
		return err
	}
	return unmerged(names)
}

func unmerged(names []string) error {
	const most = 20
	return fault.New(fault.GitError, "there are conflicts that nobody has resolved: %s", listed(names, most)).
		WithHint("resolve them and stage the files with git add; then commit")
}

// Identity is whom git names in a commit. Both are empty where neither the
// environment nor the configuration says so: then git asks the system, or refuses.
type Identity struct{ Name, Email string }

// String is the identity as commits have it.
func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// identityOf is who the author or the committer is, as git finds it.
func identityOf(c gitdir.Config, role string) Identity {
	env := "GIT_" + strings.ToUpper(role) + "_"
	return Identity{
		Name:  cmp.Or(os.Getenv(env+"NAME"), c.Get(role+".name"), c.Get("user.name")),
		Email: cmp.Or(os.Getenv(env+"EMAIL"), c.Get(role+".email"), c.Get("user.email"), os.Getenv("EMAIL")),
	}
}

// IdentityVariables are what of the environment git takes an identity from, and its
// configuration.
var IdentityVariables = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

// Signing says how commits are signed.
type Signing struct {
	On      bool
	Format  string // openpgp, x509 or ssh
	Program string // that signs
	Key     string // "": the program's choice
	Asked   string // the program that is asked for the key

	Setting Setting // what git is told: whether it signs
}

// signs is how what a setting is about is signed, if it is: commits, or pushes where the remote asks for it.
func signs(c gitdir.Config, key string) Signing {
	s := Signing{On: c.Bool(key, false)}
	s.Setting = Setting{Key: key, Value: strconv.FormatBool(s.On)}
	if strings.EqualFold(c.Get(key), "if-asked") {
		s.On, s.Setting.Value = true, "if-asked"
	}
	if !s.On {
		return s
	}
	s.Format = cmp.Or(strings.ToLower(c.Get("gpg.format")), "openpgp")
	usual := map[string]string{"openpgp": "gpg", "x509": "gpgsm", "ssh": "ssh-keygen"}[s.Format]
	s.Program = c.Get("gpg." + s.Format + ".program")
	if s.Format == "openpgp" {
		s.Program = cmp.Or(s.Program, c.Get("gpg.program"))
	}
	s.Program, s.Key = cmp.Or(s.Program, usual), c.Get("user.signingkey")
	if s.Format == "ssh" && s.Key == "" {
		s.Asked = c.Get("gpg.ssh.defaultkeycommand")
	}
	return s
}
