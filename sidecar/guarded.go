package sidecar

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"pillion/config"
	"pillion/internal/state"
	"pillion/tools/policy"
	"pillion/workspace"
)

// makeSettingsFolder makes the folder of the user's settings: one that is there can be closed to
// commands.
func makeSettingsFolder() {
	settings, err := config.UserFile()
	if err != nil {
		return
	}
	if folder := filepath.Dir(settings); !exists(folder) {
		_ = state.MakePrivate(folder) // a home that cannot be written needs none
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// guarded lists what on this machine decides what agents may do and what the user's programs run:
// Pillion's own files, and what others read from the home.
func (c *Sidecar) guarded() []workspace.Guarded {
	var out []workspace.Guarded
	own := func(path string, err error) {
		if err == nil {
			out = append(out, workspace.Guarded{Path: path, Effect: policy.LoosensPillion})
		}
	}
	settings, err := config.UserFile()
	own(settings, err)
	own(filepath.Dir(settings), err)
	own(state.Folder(""))
	own(os.Executable())
	home, err := os.UserHomeDir()
	if err == nil {
		all := homesIn(home)
		out = append(append(out, all...), c.alsoGuarded.list(c.lookPath, home, all)...)
	}
	if name := os.Getenv("NVIM_APPNAME"); filepath.IsLocal(name) {
		for _, place := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
			out = append(out, workspace.Guarded{Path: filepath.Join(placeOf(place, home), name), Effect: policy.RunsInEditor})
		}
	}
	for variable, effect := range variables {
		if path := os.Getenv(variable); filepath.IsAbs(path) {
			out = append(out, workspace.Guarded{Path: path, Effect: effect})
		}
	}
	return out
}

// variables name a file that programs run or obey.
var variables = map[string]string{
	"BASH_ENV": policy.RunsInShell, "ENV": policy.RunsInShell, "INPUTRC": policy.RunsInShell, "PYTHONSTARTUP": policy.RunsInShell, "GIT_CONFIG_GLOBAL": policy.RunsInGit,
	"KITTY_CONFIG_DIRECTORY": policy.RunsInShell, "RIPGREP_CONFIG_PATH": policy.RunsInShell, "STARSHIP_CONFIG": policy.RunsInShell, "PSQLRC": policy.RunsInShell, "DOOMDIR": policy.RunsInEditor,
}

// alsoGuarded are what list found a while ago: every plan that writes asks for them.
type alsoGuarded struct {
	mu    sync.Mutex // guards what follows
	links []workspace.Guarded
	gits  []workspace.Guarded
	until time.Time
}

// list gives the links in guarded folders, by which files elsewhere are read from there, their files
// that have other names, and the files that git reads and runs.
func (g *alsoGuarded) list(lookPath func(string) (string, error), home string, all []workspace.Guarded) []workspace.Guarded {
	const again = time.Minute
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now(); now.After(g.until) {
		g.links = linksIn(all)
		if git, err := lookPath("git"); err != nil { // none of the workspace's; without git nobody reads what it would
			g.gits = nil
		} else if named, err := namedByGit(git, home); err == nil {
			g.gits = named
		} else if g.gits == nil { // it is not known yet what it reads: it can be anything of the home
			g.gits = []workspace.Guarded{{Path: home, Effect: policy.RunsInGit}}
		}
		g.until = time.Now().Add(again)
	}
	return slices.Concat(g.links, g.gits)
}

// How much of a guarded folder is looked through for links.
const (
	deepestLink = 4
	mostEntries = 1000 // of each folder
	mostFolders = 300  // of all below one
)

// linksIn follows links to folders as well.
func linksIn(all []workspace.Guarded) (out []workspace.Guarded) {
	for _, one := range all {
		folders, looked := []string{one.Path}, 0
		for depth := 0; depth < deepestLink && len(folders) > 0; depth++ {
			var deeper []string
			for _, folder := range folders {
				if looked++; looked > mostFolders {
					break
				}
				listed, _ := os.ReadDir(folder) //nolint:errcheck // it is no folder, or not there
				for _, e := range listed[:min(len(listed), mostEntries)] {
					path := filepath.Join(folder, e.Name())
					isLink := e.Type()&fs.ModeSymlink != 0
					if isLink || hasSeveralNames(e) {
						out = append(out, workspace.Guarded{Path: path, Effect: one.Effect})
					}
					isFolder := e.IsDir()
					if isLink {
						info, err := os.Stat(path)
						isFolder = err == nil && info.IsDir()
					}
					if isFolder {
						deeper = append(deeper, path)
					}
				}
			}
			folders = deeper
		}
	}
	return out
}

func hasSeveralNames(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && info.Mode().IsRegular() && workspace.HardLinks(info) > 1
}

// mostIncluded bounds the files that settings of git include.
const mostIncluded = 100

// namedByGit lists the files that the user's own settings of git include, whatever the condition,
// and those in which they have git look for programs: as git itself reads each of them.
func namedByGit(git, home string) ([]workspace.Guarded, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitWithin)
	defer cancel()
	files := []string{"/etc/gitconfig", filepath.Join(home, ".gitconfig"), filepath.Join(placeOf("XDG_CONFIG_HOME", home), "git", "config")}
	if named := os.Getenv("GIT_CONFIG_GLOBAL"); filepath.IsAbs(named) {
		files = append(files, named)
	}
	var out []workspace.Guarded
	for i := 0; i < len(files) && i < mostIncluded; i++ {
		file := files[i]
		out = append(out, workspace.Guarded{Path: file, Effect: policy.RunsInGit})
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		cmd := exec.CommandContext(ctx, git, "config", "--file", file, "--no-includes", "--list", "-z")
		cmd.Dir, cmd.WaitDelay = home, gitWithin
		listed, err := cmd.Output()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		} // what git cannot read it does not obey either
		for entry := range strings.SplitSeq(string(listed), "\x00") {
			key, path, _ := strings.Cut(entry, "\n")
			if err != nil || path == "" || !namesFile.MatchString(key) {
				continue
			}
			if name, rest, ok := strings.Cut(path, "/"); ok && strings.HasPrefix(name, "~") {
				path = filepath.Join(homeOf(name[1:], home), rest)
			} else if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(file), path)
			}
			if path = filepath.Clean(path); !strings.HasPrefix(key, "include") {
				out = append(out, workspace.Guarded{Path: path, Effect: policy.RunsInGit})
			} else if !slices.Contains(files, path) {
				files = append(files, path)
			}
		}
	}
	return out, nil
}

// homeOf is the home of a user by name, of the own one by none.
func homeOf(name, own string) string {
	if u, err := user.Lookup(name); err == nil && name != "" {
		return u.HomeDir
	}
	return own
}

var namesFile = regexp.MustCompile(`^(include(if\..*)?\.path|core\.(hookspath|attributesfile)|init\.templatedir)$`)

const gitWithin = 2 * time.Second

// homes are the files and folders that programs read from a home, wherever a link puts them:
// the names are of the home, or below the folder that a variable names, with the home's own
// where it is not set. A ? is a blank.
var homes = []struct{ effect, names string }{
	{policy.RunsInShell, `.profile .bash_profile .bash_login .bash_logout .bash_aliases .bashrc .bash_completion $ZDOTDIR/.zshenv $ZDOTDIR/.zprofile $ZDOTDIR/.zshrc $ZDOTDIR/.zlogin $ZDOTDIR/.zlogout .kshrc .cshrc .tcshrc .login
		.inputrc .screenrc .tmux.conf .xonshrc .zsh .bash .zsh_plugins.txt .cargo/env .oh-my-zsh-custom .profile.d .curlrc .lldbinit $XDG_CONFIG_HOME/atuin .bashrc.d .bashrc.local .zshrc.local .aliases .functions .exports .p10k.zsh .zimrc .zpreztorc .antigenrc .nvm .fzf.bash .fzf.zsh .asdf .sdkman .tmux .byobu .tmuxinator .nanorc .gdbinit .psqlrc .sqliterc .ipython .jupyter .mailcap .forward .procmailrc .mavenrc .ansible.cfg .lesskey .less .selected_editor .mkshrc .shrc .yashrc $XDG_CONFIG_HOME/lesskey $XDG_CONFIG_HOME/readline $XDG_CONFIG_HOME/yash .wgetrc .pam_environment .ssh .direnvrc .wezterm.lua .oh-my-zsh
		$XDG_CONFIG_HOME/fish $XDG_CONFIG_HOME/zsh $XDG_CONFIG_HOME/direnv $XDG_CONFIG_HOME/tmux $XDG_CONFIG_HOME/nushell $XDG_CONFIG_HOME/environment.d $XDG_CONFIG_HOME/kitty $XDG_CONFIG_HOME/alacritty
		$XDG_CONFIG_HOME/elvish $XDG_CONFIG_HOME/xonsh $XDG_CONFIG_HOME/powershell $XDG_CONFIG_HOME/zellij $XDG_CONFIG_HOME/foot $XDG_CONFIG_HOME/terminator $XDG_CONFIG_HOME/user-dirs.dirs $XDG_CONFIG_HOME/gh $XDG_CONFIG_HOME/jj
		$XDG_CONFIG_HOME/lazygit $XDG_CONFIG_HOME/yazi $XDG_CONFIG_HOME/lf $XDG_CONFIG_HOME/ranger $XDG_CONFIG_HOME/pip $XDG_CONFIG_HOME/uv
		$XDG_DATA_HOME/fish $XDG_DATA_HOME/bash-completion $XDG_DATA_HOME/zinit $XDG_DATA_HOME/zsh $XDG_CONFIG_HOME/gdb $XDG_CONFIG_HOME/nano $XDG_CONFIG_HOME/bat $XDG_CONFIG_HOME/yt-dlp $XDG_CONFIG_HOME/sheldon $XDG_CONFIG_HOME/xplr $XDG_CONFIG_HOME/aerc
		$XDG_CONFIG_HOME/vifm $XDG_CONFIG_HOME/topgrade.toml $XDG_CONFIG_HOME/nix $XDG_CONFIG_HOME/nixpkgs $XDG_CONFIG_HOME/home-manager
		$XDG_CONFIG_HOME/ghostty $XDG_CONFIG_HOME/wezterm $XDG_CONFIG_HOME/starship.toml $XDG_CONFIG_HOME/mise`},
	{policy.RunsInDesktop, `.xinitrc .xprofile .xsession .xsessionrc .xserverrc .Xresources .Xdefaults $XDG_CONFIG_HOME/systemd $XDG_CONFIG_HOME/autostart $XDG_CONFIG_HOME/i3 $XDG_CONFIG_HOME/sway $XDG_CONFIG_HOME/hypr
		$XDG_CONFIG_HOME/plasma-workspace $XDG_CONFIG_HOME/bspwm $XDG_CONFIG_HOME/sxhkd $XDG_CONFIG_HOME/herbstluftwm $XDG_CONFIG_HOME/qtile $XDG_CONFIG_HOME/openbox $XDG_CONFIG_HOME/lxsession $XDG_CONFIG_HOME/river
		$XDG_CONFIG_HOME/labwc $XDG_CONFIG_HOME/niri $XDG_CONFIG_HOME/waybar $XDG_CONFIG_HOME/polybar $XDG_CONFIG_HOME/mimeapps.list $XDG_CONFIG_HOME/mpv
		$XDG_CONFIG_HOME/awesome $XDG_CONFIG_HOME/xmonad $XDG_DATA_HOME/applications $XDG_DATA_HOME/systemd $XDG_DATA_HOME/gnome-shell $XDG_DATA_HOME/dbus-1 .hammerspoon .yabairc .skhdrc .kde $XDG_CONFIG_HOME/wireplumber $XDG_CONFIG_HOME/pipewire $XDG_CONFIG_HOME/yabai $XDG_CONFIG_HOME/skhd $XDG_CONFIG_HOME/karabiner $XDG_CONFIG_HOME/khotkeysrc $XDG_CONFIG_HOME/kglobalshortcutsrc $XDG_CONFIG_HOME/leftwm $XDG_CONFIG_HOME/spectrwm
		$XDG_CONFIG_HOME/autorandr $XDG_CONFIG_HOME/espanso $XDG_DATA_HOME/cinnamon $XDG_DATA_HOME/plasma $XDG_DATA_HOME/nautilus-python .xmonad .i3 .fluxbox .xbindkeysrc $XDG_CONFIG_HOME/xfce4 .mozilla/native-messaging-hosts $XDG_CONFIG_HOME/google-chrome/NativeMessagingHosts $XDG_CONFIG_HOME/chromium/NativeMessagingHosts $XDG_CONFIG_HOME/mako $XDG_CONFIG_HOME/kanshi $XDG_CONFIG_HOME/swayidle $XDG_CONFIG_HOME/dunst $XDG_CONFIG_HOME/rofi
		$XDG_CONFIG_HOME/qutebrowser $XDG_CONFIG_HOME/Thunar Library/LaunchAgents`},
	{policy.RunsInGit, ".gitconfig $XDG_CONFIG_HOME/git .config/git .gitconfig.local .hgrc $XDG_CONFIG_HOME/hg $XDG_CONFIG_HOME/mercurial .jjconfig.toml .tigrc .subversion .gnupg"},
	{policy.RunsInEditor, `.vimrc .vim .gvimrc .exrc .ideavimrc .emacs .emacs.el .emacs.elc .julia/config .latexmkrc $XDG_CONFIG_HOME/latexmk .emacs.d .doom.d .spacemacs .spacemacs.d .vscode .vscode-server $XDG_CONFIG_HOME/lvim $XDG_CONFIG_HOME/JetBrains $XDG_CONFIG_HOME/Windsurf $XDG_CONFIG_HOME/Trae $XDG_CONFIG_HOME/kak $XDG_CONFIG_HOME/micro $XDG_CONFIG_HOME/nvim $XDG_CONFIG_HOME/vim $XDG_CONFIG_HOME/emacs $XDG_CONFIG_HOME/doom $XDG_CONFIG_HOME/helix $XDG_CONFIG_HOME/zed
		$XDG_CONFIG_HOME/Code $XDG_CONFIG_HOME/VSCodium $XDG_CONFIG_HOME/Cursor $XDG_CONFIG_HOME/sublime-text $XDG_DATA_HOME/nvim $XDG_DATA_HOME/code-server Library/Application?Support/Code`},
	{policy.SteersAgents, `$CLAUDE_CONFIG_DIR .claude .claude.json $CODEX_HOME .codex $QWEN_HOME .qwen $GEMINI_CLI_HOME/.gemini $XDG_CONFIG_HOME/Claude $XDG_CONFIG_HOME/opencode $XDG_CONFIG_HOME/goose $XDG_CONFIG_HOME/crush
		.cursor .codeium .aider.conf.yml .continue .copilot $XDG_CONFIG_HOME/github-copilot .agents AGENTS.md CLAUDE.md`},
}

// homesOf are the defaults of the variables of homes, below the home.
var homesOf = map[string]string{
	"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "ZDOTDIR": "", "CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex", "QWEN_HOME": ".qwen", "GEMINI_CLI_HOME": "",
}

// homesIn lists what programs read from a home of this path, with the variables that say where
// else they look.
func homesIn(home string) []workspace.Guarded {
	var out []workspace.Guarded
	for _, h := range homes {
		for _, name := range strings.Fields(h.names) {
			name = strings.ReplaceAll(name, "?", " ")
			at := home
			if variable, below, isVariable := cutVariable(name); isVariable {
				name = below
				at = placeOf(variable, home)
			}
			out = append(out, workspace.Guarded{Path: filepath.Join(at, filepath.FromSlash(name)), Effect: h.effect})
		}
	}
	return out
}

// placeOf is where a variable of homes leads.
func placeOf(variable, home string) string {
	if at := os.Getenv(variable); filepath.IsAbs(at) {
		return at
	}
	return filepath.Join(home, homesOf[variable])
}

func cutVariable(name string) (variable, below string, isVariable bool) {
	rest, isVariable := strings.CutPrefix(name, "$")
	variable, below, _ = strings.Cut(rest, "/")
	return variable, below, isVariable
}
