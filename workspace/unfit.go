package workspace

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
)

// Unfit says why an agent that was started in the folder dir is served nothing there,
// as the end of a sentence that begins with the folder ("is your home folder"), or
// nothing where it may be served. A home, whatever holds homes, and system or private
// places are open to an agent only if a person opens them in an editor: what starts an
// agent there has no project in mind.
//
// Folders are compared by what they are: links and letter case do not matter.
func Unfit(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "cannot be found"
	}
	if real, err = filepath.Abs(real); err != nil {
		return "cannot be found"
	}
	info, err := os.Stat(real)
	if err != nil || !info.IsDir() {
		return "is not a folder"
	}
	own := ownHomes()
	switch {
	case filepath.Dir(real) == real:
		return "is the root of the file system"
	case isAnyOf(info, own):
		return "is your home folder"
	case isHomeOf(real, info):
		return "is another user's home folder"
	case isAnyOf(info, homesOfAll) || slices.ContainsFunc(own, func(home string) bool { return liesBelow(home, info) }):
		return "contains home folders"
	case isAnyOf(info, wholes) || slices.ContainsFunc(own, func(home string) bool { return isAnyOf(info, allIn(home, wholesOfHomes)) }):
		return "holds the files of many programs; start the agent in the folder that it is about"
	case isPrivate(real, own):
		return "is a system or private folder, which is closed to agents"
	}
	return ""
}

// wholes are folders of the system, and wholesOfHomes of a home, that are nobody's project though
// one may lie in them.
var (
	wholes        = []string{"/usr", "/usr/local", "/usr/share", "/usr/lib", "/usr/bin", "/usr/local/bin", "/usr/local/share", "/lib", "/bin", "/sbin", "/var", "/var/lib", "/var/log", "/var/cache", "/opt", "/mnt", "/media", "/srv", "/var/tmp", "/tmp", "/run/user", "/var/lib/dpkg", "/usr/local/lib", "/usr/libexec", "/usr/include", "/usr/src", "/lib64", "/var/mail", "/var/spool", "/var/backups", "/run", "/Library", "/System", "/Applications"}
	wholesOfHomes = []string{".config", ".local", ".local/share", ".local/state", ".local/bin", ".local/lib", ".cache", ".var", ".var/app", "snap", "Library", "Library/Application Support", "AppData", "AppData/Local", "AppData/Roaming"}
)

// othersPlaces are places of a home with what other programs, agents among them, keep for themselves: no
// agent is served there, nor below.
var othersPlaces = []string{
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/gh", ".config/op", ".config/1Password", ".1password", ".config/Bitwarden",
	".bitwarden", ".electrum", ".bitcoin", ".ethereum", ".config/solana", ".config/github-copilot", ".config/opencode", ".config/goose", ".config/rclone", ".config/sops", ".config/doctl", ".config/hub", ".config/configstore", ".config/Signal", ".config/Slack", ".config/discord", ".config/vivaldi",
	".config/opera", ".config/keepassxc", ".config/filezilla", ".config/Yubico", ".config/Code", ".config/Cursor", ".cursor", ".copilot", ".codeium", ".continue", ".aider", ".oci", ".fly", ".terraform.d", ".vault", ".pki", ".m2", ".local/share/opencode",
	".local/share/atuin", ".local/share/TelegramDesktop", ".local/share/evolution", ".cargo", ".npm", ".claude", ".codex", ".qwen", ".gemini", ".config/pillion", ".local/state/pillion", ".local/share/pillion", ".cache/pillion",
}

// checkouts are folders in these in which agents check out the work trees that they work in.
var checkouts = []string{".cursor/worktrees", ".codex/worktrees", ".claude/worktrees"}

func allIn(home string, names []string) (out []string) {
	for _, name := range names {
		out = append(out, filepath.Join(home, filepath.FromSlash(name)))
	}
	return out
}

// ownHomes are the person's home as the environment has it, and as the system does.
func ownHomes() []string {
	homes := spellings(homeDir())
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		homes = append(homes, u.HomeDir)
	}
	return homes
}

// isHomeOf reports that dir is the home of somebody: of its owner, or by its place.
func isHomeOf(dir string, info os.FileInfo) bool {
	if isAnyOf(info, []string{"/root", "/var/root"}) {
		return true
	}
	if parent, err := os.Stat(filepath.Dir(dir)); err == nil && isAnyOf(parent, homesOfAll) {
		return true
	}
	owner, err := user.LookupId(ownerOf(info))
	return err == nil && isAnyOf(info, []string{owner.HomeDir})
}

// isPrivate reports that dir is a system place or lies below one, or is a place of keys
// below a home.
func isPrivate(dir string, own []string) bool {
	for at := dir; filepath.Dir(at) != at; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			continue
		}
		if isAnyOf(info, systemPlaces) {
			return true
		}
		if isAnyOf(info, own) || isHomeOf(at, info) {
			isIn := func(place string) bool {
				return slices.ContainsFunc(spellings(filepath.Join(at, filepath.FromSlash(place))), func(p string) bool { return holds(p, dir) })
			}
			return slices.ContainsFunc(privatePlaces, isIn) || slices.ContainsFunc(othersPlaces, isIn) && !slices.ContainsFunc(checkouts, isIn)
		}
	}
	return false
}

func isAnyOf(info os.FileInfo, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		other, err := os.Stat(name)
		return err == nil && os.SameFile(info, other)
	})
}

// liesBelow reports that name is in the folder that info is about, or further down.
func liesBelow(name string, info os.FileInfo) bool {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false
	}
	for at := filepath.Dir(real); ; at = filepath.Dir(at) {
		if isAnyOf(info, []string{at}) {
			return true
		}
		if filepath.Dir(at) == at {
			return false
		}
	}
}
