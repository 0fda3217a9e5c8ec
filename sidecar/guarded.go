package sidecar

import (
	"context"
	"os"
	"os/exec"
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
	if home, err := os.UserHomeDir(); err == nil {
		out = append(out, homesIn(home)...)
		out = append(out, c.gits.named(c.lookPath, home)...)
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
}

// gitNames are what namedByGit gave a while ago: every plan that writes asks for them.
type gitNames struct {
	mu    sync.Mutex // guards what follows
	names []workspace.Guarded
	until time.Time
}

func (g *gitNames) named(lookPath func(string) (string, error), home string) []workspace.Guarded {
	const again = time.Minute
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now(); now.After(g.until) {
		g.names, g.until = nil, now.Add(again)
		if git, err := lookPath("git"); err == nil { // none of the workspace's
			g.names = namedByGit(git, home)
		}
	}
	return g.names
}

// namedByGit lists the files that the user's own settings of git include, whatever the condition,
// and those in which they have git look for programs: as git itself reads them.
func namedByGit(git, home string) []workspace.Guarded {
	ctx, cancel := context.WithTimeout(context.Background(), gitWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, git, "config", "--global", "--list", "-z", "--show-origin", "--includes")
	cmd.Dir, cmd.WaitDelay = home, gitWithin
	listed, _ := cmd.Output() //nolint:errcheck // without git it reads none of them
	var out []workspace.Guarded
	add := func(path, origin string) {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(home, rest)
		} else if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(origin), path)
		}
		guard := workspace.Guarded{Path: filepath.Clean(path), Effect: policy.RunsInGit}
		if !slices.Contains(out, guard) {
			out = append(out, guard)
		}
	}
	entries := strings.Split(string(listed), "\x00")
	for i := 0; i+1 < len(entries); i += 2 {
		origin, isFile := strings.CutPrefix(entries[i], "file:")
		if !isFile {
			continue
		}
		if !filepath.IsAbs(origin) {
			origin = filepath.Join(home, origin)
		}
		add(origin, origin)
		if key, value, _ := strings.Cut(entries[i+1], "\n"); value != "" && namesFile.MatchString(key) {
			add(value, origin)
		}
	}
	return out
}

var namesFile = regexp.MustCompile(`^(include(if\..*)?\.path|core\.(hookspath|attributesfile)|init\.templatedir)$`)

const gitWithin = 2 * time.Second

// homes are the files and folders that programs read from a home, wherever a link puts them:
// the names are of the home, or below the folder that a variable names, with the home's own
// where it is not set. A ? is a blank.
var homes = []struct{ effect, names string }{
	{policy.RunsInShell, `.profile .bash_profile .bash_login .bash_logout .bash_aliases .bashrc .bash_completion $ZDOTDIR/.zshenv $ZDOTDIR/.zprofile $ZDOTDIR/.zshrc $ZDOTDIR/.zlogin $ZDOTDIR/.zlogout .kshrc .cshrc .tcshrc .login
		.inputrc .screenrc .tmux.conf .xonshrc .pam_environment .ssh .direnvrc .wezterm.lua .oh-my-zsh
		$XDG_CONFIG_HOME/fish $XDG_CONFIG_HOME/zsh $XDG_CONFIG_HOME/direnv $XDG_CONFIG_HOME/tmux $XDG_CONFIG_HOME/nushell $XDG_CONFIG_HOME/environment.d $XDG_CONFIG_HOME/kitty $XDG_CONFIG_HOME/alacritty
		$XDG_CONFIG_HOME/elvish $XDG_CONFIG_HOME/xonsh $XDG_CONFIG_HOME/powershell $XDG_CONFIG_HOME/zellij $XDG_CONFIG_HOME/foot $XDG_CONFIG_HOME/terminator $XDG_CONFIG_HOME/user-dirs.dirs $XDG_CONFIG_HOME/gh $XDG_CONFIG_HOME/jj
		$XDG_CONFIG_HOME/lazygit $XDG_CONFIG_HOME/yazi $XDG_CONFIG_HOME/lf $XDG_CONFIG_HOME/ranger $XDG_CONFIG_HOME/pip $XDG_CONFIG_HOME/uv
		$XDG_CONFIG_HOME/ghostty $XDG_CONFIG_HOME/wezterm $XDG_CONFIG_HOME/starship.toml $XDG_CONFIG_HOME/mise`},
	{policy.RunsInDesktop, `.xinitrc .xprofile .xsession .xsessionrc .xserverrc .Xresources .Xdefaults $XDG_CONFIG_HOME/systemd $XDG_CONFIG_HOME/autostart $XDG_CONFIG_HOME/i3 $XDG_CONFIG_HOME/sway $XDG_CONFIG_HOME/hypr
		$XDG_CONFIG_HOME/plasma-workspace $XDG_CONFIG_HOME/bspwm $XDG_CONFIG_HOME/sxhkd $XDG_CONFIG_HOME/herbstluftwm $XDG_CONFIG_HOME/qtile $XDG_CONFIG_HOME/openbox $XDG_CONFIG_HOME/lxsession $XDG_CONFIG_HOME/river
		$XDG_CONFIG_HOME/labwc $XDG_CONFIG_HOME/niri $XDG_CONFIG_HOME/waybar $XDG_CONFIG_HOME/polybar $XDG_CONFIG_HOME/mimeapps.list $XDG_CONFIG_HOME/mpv
		$XDG_CONFIG_HOME/awesome $XDG_CONFIG_HOME/xmonad $XDG_DATA_HOME/applications $XDG_DATA_HOME/systemd Library/LaunchAgents`},
	{policy.RunsInGit, ".gitconfig $XDG_CONFIG_HOME/git .config/git"},
	{policy.RunsInEditor, `.vimrc .vim .gvimrc .exrc .ideavimrc .emacs .emacs.d .doom.d .vscode .vscode-server $XDG_CONFIG_HOME/kak $XDG_CONFIG_HOME/micro $XDG_CONFIG_HOME/nvim $XDG_CONFIG_HOME/vim $XDG_CONFIG_HOME/emacs $XDG_CONFIG_HOME/doom $XDG_CONFIG_HOME/helix $XDG_CONFIG_HOME/zed
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
				if at = os.Getenv(variable); !filepath.IsAbs(at) {
					at = filepath.Join(home, homesOf[variable])
				}
			}
			out = append(out, workspace.Guarded{Path: filepath.Join(at, filepath.FromSlash(name)), Effect: h.effect})
		}
	}
	return out
}

func cutVariable(name string) (variable, below string, isVariable bool) {
	rest, isVariable := strings.CutPrefix(name, "$")
	variable, below, _ = strings.Cut(rest, "/")
	return variable, below, isVariable
}
