package sidecar

import (
	"os"
	"path/filepath"
	"strings"

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
func guarded() []workspace.Guarded {
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
	}
	return out
}

// homes are the files and folders that programs read from a home, wherever a link puts them:
// the names are of the home, or below the folder that a variable names, with the home's own
// where it is not set. A ? is a blank.
var homes = []struct{ effect, names string }{
	{policy.RunsInShell, `.profile .bash_profile .bash_login .bash_logout .bash_aliases .bashrc .bash_completion $ZDOTDIR/.zshenv $ZDOTDIR/.zprofile $ZDOTDIR/.zshrc $ZDOTDIR/.zlogin $ZDOTDIR/.zlogout .kshrc .cshrc .tcshrc .login
		.inputrc .screenrc .tmux.conf .xonshrc .pam_environment .ssh .direnvrc .wezterm.lua .oh-my-zsh
		$XDG_CONFIG_HOME/fish $XDG_CONFIG_HOME/zsh $XDG_CONFIG_HOME/direnv $XDG_CONFIG_HOME/tmux $XDG_CONFIG_HOME/nushell $XDG_CONFIG_HOME/environment.d $XDG_CONFIG_HOME/kitty $XDG_CONFIG_HOME/alacritty
		$XDG_CONFIG_HOME/ghostty $XDG_CONFIG_HOME/wezterm $XDG_CONFIG_HOME/starship.toml $XDG_CONFIG_HOME/mise`},
	{policy.RunsInDesktop, `.xinitrc .xprofile .xsession .xsessionrc .xserverrc .Xresources .Xdefaults $XDG_CONFIG_HOME/systemd $XDG_CONFIG_HOME/autostart $XDG_CONFIG_HOME/i3 $XDG_CONFIG_HOME/sway $XDG_CONFIG_HOME/hypr
		$XDG_CONFIG_HOME/awesome $XDG_CONFIG_HOME/xmonad $XDG_DATA_HOME/applications $XDG_DATA_HOME/systemd Library/LaunchAgents`},
	{policy.RunsInGit, ".gitconfig $XDG_CONFIG_HOME/git .config/git"},
	{policy.RunsInEditor, `.vimrc .vim .gvimrc .exrc .ideavimrc .emacs .emacs.d .doom.d .vscode .vscode-server $XDG_CONFIG_HOME/nvim $XDG_CONFIG_HOME/vim $XDG_CONFIG_HOME/emacs $XDG_CONFIG_HOME/doom $XDG_CONFIG_HOME/helix $XDG_CONFIG_HOME/zed
		$XDG_CONFIG_HOME/Code $XDG_CONFIG_HOME/VSCodium $XDG_CONFIG_HOME/Cursor $XDG_CONFIG_HOME/sublime-text $XDG_DATA_HOME/nvim $XDG_DATA_HOME/code-server Library/Application?Support/Code`},
	{policy.SteersAgents, `$CLAUDE_CONFIG_DIR .claude .claude.json $CODEX_HOME .codex $QWEN_HOME .qwen $GEMINI_CLI_HOME/.gemini $XDG_CONFIG_HOME/opencode $XDG_CONFIG_HOME/goose $XDG_CONFIG_HOME/crush
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
