package policy

import (
	"slices"
	"strings"
)

// known are the programs that Pillion knows, with the names that each reads from a project:
// what it then runs or does is no longer what the user's own settings say. Written as fold
// spells them; a * stands at one end only, and a / between a folder and what is in it. A test
// names the agents and editors that are missing here.
var known = []struct {
	programs string // as agents/install, the doctor and language servers name them
	effect   string
	names    string
}{
	// What is read from a home counts in any folder: people keep such files in repositories,
	// with and without the folders and dots of a home, and link them.
	{"dotfiles", RunsInShell, `.config/fish .config/zsh .config/direnv .config/tmux .config/nushell .config/environment.d .config/kitty .config/alacritty .config/ghostty .config/wezterm
		fish/config.fish fish/conf.d fish/functions direnv/direnvrc direnv/direnv.toml direnv/lib .direnvrc direnvrc tmux/tmux.conf environment.d
		bashrc bash_profile zshrc zshenv zprofile tmux.conf .tmux.conf.local .screenrc .xonshrc .wezterm.lua .config/elvish .config/xonsh .config/powershell .config/zellij .config/foot .config/terminator .config/user-dirs.dirs .lesskey .selected_editor .mkshrc .shrc .yashrc .config/lesskey .config/readline
		elvish/rc.elv xonsh/rc.xsh powershell/profile.ps1 powershell/microsoft.powershell_profile.ps1 zellij/config.kdl foot/foot.ini terminator/config kitty/kitty.conf alacritty/alacritty.toml .config/gh .config/jj .config/lazygit
		.config/yazi .config/lf .config/ranger gh/config.yml jj/config.toml lazygit/config.yml lf/lfrc ranger/rc.conf ranger/rifle.conf ranger/commands.py yazi/keymap.toml .login .cshrc.local .ssh ssh/config ssh/rc`},
	{"dotfiles", RunsInDesktop, `.config/systemd .config/autostart .config/i3 .config/sway .config/hypr .config/awesome .config/xmonad .local/share/applications .local/share/systemd
		.config/plasma-workspace .config/bspwm .config/sxhkd .config/herbstluftwm .config/qtile .config/openbox .config/lxsession .config/river .config/labwc .config/niri .config/waybar .config/polybar .config/mimeapps.list .config/xfce4 .config/mako .mozilla/native-messaging-hosts .config/google-chrome/nativemessaginghosts .config/chromium/nativemessaginghosts
		plasma-workspace/env bspwm/bspwmrc sxhkd/sxhkdrc herbstluftwm/autostart qtile/config.py openbox/autostart openbox/rc.xml river/init labwc/autostart niri/config.kdl waybar/config* polybar/config* mimeapps.list
		mpv/scripts .config/mpv systemd/user autostart/*.desktop .xinitrc .xprofile .xsession .xsessionrc .xserverrc .xresources .xdefaults xresources xinitrc xprofile library/launchagents`},
	{"dotfiles", RunsInGit, ".config/git .config/hg .config/mercurial .gitconfig.local git/config git/attributes git/hooks gitconfig .githooks"},
	{"dotfiles", RunsInEditor, `.config/nvim .config/vim .config/helix .config/zed .config/code .config/emacs .config/doom .config/kak .config/micro kak/kakrc micro/init.lua nvim/init.lua nvim/init.vim nvim/lua nvim/plugin nvim/after nvim/ftplugin nvim/autoload
		.vim .gvimrc vimrc .doom.d .ideavimrc`},
	{"git", RunsInGit, ".gitmodules .gitattributes .gitconfig .husky .lefthook* lefthook.y* .pre-commit-config.y* .pre-commit-hooks.y* .overcommit.yml"},
	{"vscode code code-server", RunsInEditor, ".vscode *.code-workspace .devcontainer .devcontainer.json"},
	{"jetbrains", RunsInEditor, ".idea *.iml *.ipr .fleet .run"},
	{"nvim vim", RunsInEditor, ".nvim.lua .nvimrc .exrc .vimrc .lvimrc .lazy.lua .neoconf.json .nlsp-settings"},
	{"emacs", RunsInEditor, ".dir-locals.el .dir-locals-2.el .emacs.d .emacs .emacs.el .projectile"},
	{"helix", RunsInEditor, ".helix"},
	{"zed", RunsInEditor, ".zed"},
	{"sublime", RunsInEditor, "*.sublime-project *.sublime-workspace"},
	{"shell", RunsInShell, ".envrc .profile .bash_profile .bash_login .bash_logout .bash_aliases .bashrc .zshenv .zprofile .zlogin .zlogout .zshrc .kshrc .cshrc .tcshrc .inputrc .pam_environment .tmux.conf"},
	{"mise asdf", RunsInShell, ".mise.toml mise.toml .mise .tool-versions .rtx.toml"},
	{"ci", runsInBuild, ".github/workflows .gitlab-ci.y* .gitlab-ci .travis.yml .circleci .buildkite .drone.yml .woodpecker* .cirrus.yml azure-pipelines.y* bitbucket-pipelines.yml jenkinsfile .appveyor.yml appveyor.yml .gitea .forgejo"},

	{"all agents", SteersAgents, "agents.md agents.override.md pillion.md .mcp.json mcp.json .agents"},
	{"claude", SteersAgents, "claude.md claude.local.md .claude .claude.json .claude-plugin"},
	{"codex", SteersAgents, ".codex codex.md"},
	{"qwen", SteersAgents, ".qwen qwen.md .qwenignore"},
	{"gemini", SteersAgents, ".gemini gemini.md .geminiignore gemini-extension.json"},
	{"opencode", SteersAgents, "opencode.json* .opencode"},
	{"cursor", SteersAgents, ".cursor*"},
	{"windsurf", SteersAgents, ".windsurf*"},
	{"goose", SteersAgents, ".goose*"},
	{"crush", SteersAgents, ".crush* crush.json crush.md"},
	{"cline roo", SteersAgents, ".cline* .roo*"},
	{"aider", SteersAgents, ".aider*"},
	{"copilot", SteersAgents, "copilot-instructions.md .copilot*"},
	{"continue", SteersAgents, ".continue*"},
	{"others", SteersAgents, ".amazonq .augment* .junie .kiro .trae .warp.md .factory .amp .replit"},

	{"pillion", LoosensPillion, ".pillion"},
}

// nextCommands are the files by which the user's own next command comes to run something
// else, with a word for that command. Written as fold spells them; one that ends in a slash
// is a folder with all that is in it.
var nextCommands = []struct{ use, names string }{
	{"npm", `package.json nx.json turbo.json lerna.json .pnpmfile.cjs .yarnrc* gulpfile.* gruntfile.* *.config.js *.config.cjs *.config.mjs *.config.ts *.config.mts *.config.cts
		.eslintrc* .prettierrc* .babelrc* .mocharc* .lintstagedrc* .commitlintrc* .stylelintrc* *.config.babel.js *.conf.js *.conf.ts vitest.workspace.* project.json angular.json ember-cli-build.js`},
	{"bun", "bunfig.toml"},
	{"deno", "deno.json deno.jsonc"},
	{"make", "makefile gnumakefile *.mk makefile.am"},
	{"just", "justfile .justfile"},
	{"task", "taskfile.y*"},
	{"cmake", "cmakelists.txt cmakepresets.json *.cmake toolchain.toml cmakeuserpresets.json"},
	{"meson", "meson.build"},
	{"bazel", "*.bzl build.bazel module.bazel workspace.bazel .bazelrc"},
	{"scons", "sconstruct sconscript"},
	{"waf", "wscript"},
	{"autoconf", "configure.ac configure"},
	{"cargo", "build.rs rust-toolchain rust-toolchain.toml .cargo/ cargo.toml"},
	{"go", "go.work .golangci.* .air.toml magefile.go"},
	{"zig", "build.zig"},
	{"pytest", "conftest.py pytest.ini"},
	{"pip", "setup.py setup.cfg pyproject.toml requirements*.txt pipfile pixi.toml *.pth"},
	{"tox", "tox.ini"},
	{"nox", "noxfile.py"},
	{"python", "sitecustomize.py usercustomize.py manage.py .pdbrc .pylintrc mypy.ini .flake8 .coveragerc"},
	{"doit", "dodo.py"},
	{"invoke", "tasks.py"},
	{"fab", "fabfile.py"},
	{"ruby", ".irbrc .pryrc .rspec"},
	{"rake", "rakefile"},
	{"fastlane", "fastfile"},
	{"pod", "podfile"},
	{"danger", "dangerfile"},
	{"brew", "brewfile"},
	{"Rscript", ".rprofile"},
	{"ghci", ".ghci setup.hs"},
	{"gdb", ".gdbinit .lldbinit"},
	{"snakemake", "snakefile"},
	{"earthly", "earthfile"},
	{"bundle", "gemfile *.gemspec"},
	{"cap", "capfile"},
	{"guard", "guardfile"},
	{"gradle", "*.gradle *.gradle.kts gradlew gradlew.bat gradle.properties gradle-wrapper.properties"},
	{"mvn", "pom.xml mvnw mvnw.cmd .mvn/"},
	{"ant", "build.xml"},
	{"sbt", "build.sbt"},
	{"mill", "build.sc"},
	{"dotnet", "*.csproj *.fsproj *.vbproj *.props *.targets directory.build.* nuget.config global.json"},
	{"mix", "mix.exs"},
	{"rebar3", "rebar.config"},
	{"dub", "dub.json dub.sdl"},
	{"swift", "package.swift"},
	{"composer", "composer.json artisan"},
	{"phpunit", "phpunit.xml*"},
	{"nix", "flake.nix shell.nix default.nix devenv.nix"},
	{"docker", "dockerfile containerfile compose.y* docker-compose.y*"},
	{"vagrant", "vagrantfile"},
	{"foreman", "procfile"},
	{"tilt", "tiltfile"},
	{"skaffold", "skaffold.yaml"},
}

// Knows says whether the program's own names are protected.
func Knows(program string) bool {
	for _, k := range known {
		if slices.Contains(strings.Fields(k.programs), program) {
			return true
		}
	}
	return false
}

type nextName struct {
	pattern, use string
	folder       bool
}

var nextNames = func() (out []nextName) {
	for _, next := range nextCommands {
		for _, name := range strings.Fields(next.names) {
			pattern, folder := strings.CutSuffix(name, "/")
			out = append(out, nextName{pattern, next.use, folder})
		}
	}
	return out
}()

// runsNext is the command of the user's that runs what is in the file when they use it
// next, "" if none is known.
func runsNext(path string) string {
	names := elements(path)
	if len(names) == 0 {
		return ""
	}
	for _, next := range nextNames {
		in := names
		if !next.folder {
			in = names[len(names)-1:]
		}
		if slices.ContainsFunc(in, func(name string) bool { return matchesName(next.pattern, name) }) {
			return next.use
		}
	}
	return ""
}

// RunsNext says in a clause that the file decides what a command of the user's runs, ""
// where it does not.
func RunsNext(path string) string {
	if use := runsNext(path); use != "" {
		return "runs when you next use " + use
	}
	return ""
}
