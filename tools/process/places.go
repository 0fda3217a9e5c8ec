package process

import (
	"os"
	"path/filepath"
	"strings"

	"pillion/internal/state"
)

// private is what of a home no command may write under bubblewrap, even where the
// home itself is the workspace: keys, and what shells and programs read when they
// start. With what Pillion keeps it is privatePlaces.
var private = strings.Fields(`
	.ssh .gnupg .aws .azure .kube .docker .config .local/bin .local/share/pillion .local/share/keyrings .local/share/systemd
	.profile .bash_profile .bash_login .bash_logout .bashrc .bash_aliases .zshenv .zprofile .zshrc .zlogin .kshrc .cshrc .tcshrc .login
	.gitconfig .netrc .npmrc .pypirc .pam_environment .xprofile .xinitrc .xsession .xsessionrc .inputrc .vimrc .vim .emacs .emacs.d .tmux.conf .screenrc
	.vscode .vscode-server .cursor .cargo .rustup go/bin go/pkg .cache .npm .gradle .m2 .nuget .bun .deno .yarn .local/share/pnpm
`)

// privatePlaces are the private places of a home, and what Pillion keeps.
func privatePlaces(home string) []string {
	var out []string
	for _, name := range private {
		out = append(out, filepath.Join(Resolve(filepath.Join(home, filepath.Dir(name))), filepath.Base(name)))
	}
	if own, err := state.Folder(""); err == nil {
		out = append(out, Resolve(own))
	}
	return out
}

// temporary are the folders for temporary files.
func temporary(env []string) []string {
	var out []string
	for _, dir := range []string{"/tmp", valueOf(env, "TMPDIR")} {
		home := valueOf(env, "HOME")
		if !filepath.IsAbs(dir) || !isFolder(dir) {
			continue
		}
		if dir = Resolve(dir); dir != "/" && (home == "" || !within(dir, Resolve(home)) || dir == "/tmp") {
			out = append(out, dir)
		}
	}
	return outermost(out)
}

// look finds a program on the PATH of env.
func look(name string, env []string) string {
	for _, dir := range filepath.SplitList(valueOf(env, "PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
