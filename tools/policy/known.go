package policy

import (
	"slices"
	"strings"
)

// known are the programs that Pillion knows, with the names that each reads from a project:
// what it then runs or does is no longer what the user's own settings say. Written as fold
// spells them; a * stands at one end only, a / between a folder and what is in it, a | between names in
// the same place, and a ~ for a dot that need not be there. A test names the agents and editors that are
// missing here.
var known = []struct {
	programs string // as agents/install, the doctor and language servers name them
	effect   string
	names    string
}{
	// What is read from a home counts in any folder: people keep such files in repositories,
	// with and without the folders and dots of a home (see target), and link them.
	{"dotfiles", RunsInShell, `.config/fish|zsh|bash|shell|direnv|tmux|tmuxinator|nushell|elvish|xonsh|powershell|environment.d|kitty|alacritty|ghostty|wezterm|foot|zellij|ranger|lf|yazi|vifm|nnn|xplr|broot|user-dirs.dirs|starship.toml|topgrade.toml .local/share/fish|zsh|zinit|bash-completion fish/config.fish|conf.d|functions|completions|fish_variables|fish_plugins direnv/direnvrc|direnv.toml|lib environment.d
		~bashrc ~bash_profile ~bash_login ~bash_logout ~bash_aliases ~zshrc ~zshenv ~zprofile ~zlogin ~zlogout ~inputrc ~tmux.conf ~direnvrc ~wezterm.lua .screenrc .xonshrc .lesskey .selected_editor .mkshrc .shrc .yashrc .login
		tmux/tmux.conf|plugins elvish/rc.elv xonsh/rc.xsh|rc.d powershell/profile.ps1|microsoft.powershell_profile.ps1 zellij/config.kdl foot/foot.ini terminator|ghostty|jj/config* kitty/kitty.conf alacritty/alacritty.toml gh|lazygit/config.yml
		nushell/config.nu|env.nu|login.nu|autoload powershell/modules lf/lfrc ranger/rc.conf|rifle.conf|commands.py yazi/keymap.toml .ssh ssh/config|rc|config.d gnupg/gpg-agent.conf .zsh .bash .bashrc.d .profile.d .oh-my-zsh .nvm .asdf .sdkman .rvm .zprezto .tmux .byobu .fzf .oh-my-bash .bash_it .zplug .antigen .rbenv .pyenv .nodenv .tmuxifier .ipython .jupyter`},
	{"dotfiles", RunsInDesktop, `.config/systemd|autostart|i3|sway|hypr|mimeapps.list|awesome|qtile|bspwm|sxhkd|openbox|labwc|herbstluftwm|leftwm|xmonad|river|niri|waybar|polybar|eww|plasma-workspace|x11|mpv|qutebrowser|sketchybar|dunst|rofi|swaync|wlogout|aerospace|espanso|wireplumber .local/share/applications|systemd|dbus-1|gnome-shell|cinnamon|plasma|kio|nautilus
		.mozilla/native-messaging-hosts ~xinitrc ~xprofile ~xsession ~xsessionrc ~xserverrc ~xresources ~xdefaults library/launchagents
		plasma-workspace/env bspwm/bspwmrc sxhkd/sxhkdrc herbstluftwm|openbox|labwc/autostart openbox/rc.xml qtile/config.py river/init niri/config.kdl i3|i3blocks|i3status|sway|waybar|polybar/config* hypr/*.conf awesome/rc.lua hammerspoon/init.lua qutebrowser/config.py ~skhdrc ~yabairc xmonad.hs waybar/scripts
		mimeapps.list mpv/scripts systemd/user|*.service|*.timer|*.socket|*.path autostart|applications|desktop/*.desktop launchagents/*.plist sway/*.conf|*.sh|scripts|conf.d .xmonad .i3 .fluxbox .fvwm .icewm .urxvt .hammerspoon .kde`},
	{"dotfiles", RunsInGit, ".config/git|hg|mercurial|tig git/config|attributes|hooks ~gitconfig .githooks .gnupg .subversion"},
	{"dotfiles", RunsInEditor, `.config/nvim|vim|helix|zed|code|vscodium|cursor|emacs|doom|kak|micro|sublime-text .local/share/nvim ~vimrc ~emacs.d .vim .gvimrc .doom.d .spacemacs.d .vim_runtime .spacevim .spacevim.d .ideavimrc .vscode-server .julia kak/kakrc|autoload micro/init.lua emacs|doom|doom.d/init.el|early-init.el|config.el|packages.el
		vim|nvim/*.lua|*.vim|vimrc|after|autoload|colors|compiler|ftdetect|ftplugin|indent|lsp|lua|pack|plugin|syntax helix/config.toml|languages.toml zed/settings.json|tasks.json|keymap.json code|vscodium|cursor/user/settings.json|tasks.json|keybindings.json vscode/settings.json|tasks.json|keybindings.json`},
	{"dotfiles", ReadByPrograms, ".config/*/* .local/*/*"},
	{"git", RunsInGit, ".gitmodules .gitattributes .gitconfig .husky* .lefthook* lefthook.y*|lefthook.toml|lefthook.json*|lefthook-local.* .pre-commit-config.y* .pre-commit-hooks.y* .overcommit.yml .local-overcommit.yml ~hk.pkl hk.local.pkl prek.toml ~rusty-hook.toml whisky.json captainhook*json grumphp.y* ~simple-git-hooks.*"},
	{"hg sl jj bzr pijul darcs fossil repo", runsInOtherVCS, ".hg|.sl/config|hgrc|requires|sharedpath ~hgrc .jj/repo/config.toml .bzr/branch .pijul/config _darcs/prefs .fslckout _fossil_ .fossil-settings .repo"},
	{"vscode code code-server", RunsInEditor, ".vscode *.code-workspace .devcontainer .devcontainer.json .theia .positron .trunk"},
	{"jetbrains", RunsInEditor, ".idea *.iml *.ipr .fleet .run"},
	{"nvim vim", RunsInEditor, ".nvim.lua .nvimrc .exrc .vimrc* _vimrc .lvimrc .local.vimrc .lazy.lua .neoconf.json .nlsp-settings .ycm_extra_conf.py .luarc.json*"},
	{"emacs", RunsInEditor, ".dir-locals.el .dir-locals-2.el .emacs .emacs.el .projectile"},
	{"helix", RunsInEditor, ".helix"},
	{"zed", RunsInEditor, ".zed"},
	{"sourcekit-lsp", RunsInEditor, "buildserver.json"},
	{"rust-analyzer", RunsInEditor, "rust-analyzer.toml .rust-analyzer.toml rust-project.json"},
	{"lite-xl", RunsInEditor, ".lite_project.lua .lite-xl"},
	{"sublime", RunsInEditor, "*.sublime-project *.sublime-workspace"},
	{"other editors", RunsInEditor, "hie.yaml .externaltoolbuilders .vs nbproject .projections.json .vimspector.json .idx .gitpod.y* .gitpod ~latexmkrc .ropeproject"},
	{"shell", RunsInShell, ".envrc .rvmrc .autoenv* .profile .kshrc .cshrc .tcshrc .pam_environment"},
	{"mise asdf", RunsInShell, ".mise.*toml mise.*toml .mise mise/config* .config/mise* .tool-versions .rtx.*toml"},
	{"ci", runsInBuild, ".github/workflows|actions .gitlab-ci.y* .gitlab-ci .gitlab/ci .travis.yml .circleci .buildkite .drone.yml .woodpecker* .cirrus.yml azure-pipelines.y* bitbucket-pipelines.yml jenkinsfile* *.jenkinsfile cloudbuild.y* buildspec.y* netlify.toml vercel.json bitrise.yml codemagic.yaml .appveyor.yml appveyor.yml .gitea .forgejo"},

	{"all agents", SteersAgents, "agents.md agents.override.md agent.md pillion.md .mcp.json mcp.json .agents"},
	{"claude", SteersAgents, "claude.md claude.local.md .claude .claude.json .claude-plugin claude/settings.json"},
	{"codex", SteersAgents, ".codex codex.md codex/config.toml"},
	{"qwen", SteersAgents, ".qwen qwen.md .qwenignore"},
	{"gemini", SteersAgents, ".gemini gemini.md .geminiignore gemini-extension.json"},
	{"opencode", SteersAgents, "opencode.json* .opencode"},
	{"cursor", SteersAgents, ".cursor*"},
	{"windsurf", SteersAgents, ".windsurf*"},
	{"goose", SteersAgents, ".goose*"},
	{"crush", SteersAgents, ".crush* crush.json crush.md"},
	{"cline roo", SteersAgents, ".cline* .roo*"},
	{"aider", SteersAgents, ".aider*"},
	{"copilot", SteersAgents, "copilot-instructions.md .copilot* .github/hooks|copilot|instructions|prompts|agents|skills|chatmodes|lsp.json|plugin"},
	{"continue", SteersAgents, ".continue*"},
	{"others", SteersAgents, ".amazonq .augment* .junie .kiro .trae ~warp.md iflow.md codebuddy.md replit.md firebender.json .factory .amp .replit .agent .rules .kilocode* .kilo .iflow .codebuddy .qoder .pi .openhands .rovodev .vibe .grok .kimi .aiassistant .devin .mux"},

	{"pillion", LoosensPillion, ".pillion pillion/settings.json"},
}

// nextCommands are the files by which the user's own next command comes to run something
// else, with a word for that command. Written as fold spells them; one that ends in a slash
// is a folder with all that is in it. A / stands between a folder and what is in it.
var nextCommands = []struct{ use, names string }{
	{"npm", `package.json nx.json turbo.json lerna.json .pnpmfile.cjs .yarnrc* gulpfile.* gruntfile.* *.config.js *.config.cjs *.config.mjs *.config.ts *.config.mts *.config.cts
		.eslintrc* .prettierrc* .babelrc* .mocharc* .lintstagedrc* .commitlintrc* .stylelintrc* *.config.babel.js webpack.mix.js *.conf.js *.conf.ts vitest.workspace.* project.json angular.json ember-cli-build.js node_modules/ .yarn/ .pnp.* babel.config.* nodemon.json pnpm-workspace.yaml tslint.json binding.gyp`},
	{"bun", "bunfig.toml"},
	{"deno", "deno.json deno.jsonc"},
	{"make", "makefile gnumakefile *.mk makefile.am"},
	{"cargo make", "makefile.toml"},
	{"dune", "dune dune-project"},
	{"lein", "project.clj"},
	{"clj", "deps.edn bb.edn user.clj"},
	{"nimble", "config.nims *.nimble"},
	{"trunk", "trunk.toml"},
	{"tup", "tupfile*"},
	{"rackup", "config.ru"},
	{"thor", "thorfile"},
	{"dvc", "dvc.yaml"},
	{"premake5", "premake5.lua"},
	{"truffle", "truffle-config.js"},
	{"lake", "lakefile.lean lakefile.toml"},
	{"jake", "jakefile*"},
	{"forge", "foundry.toml"},
	{"terragrunt", "terragrunt.hcl"},
	{"ansible", "ansible.cfg"},
	{"cdk", "cdk.json"},
	{"wrangler", "wrangler.toml wrangler.json*"},
	{"ninja", "build.ninja"},
	{"xmake", "xmake.lua"},
	{"conan", "conanfile.py"},
	{"perl", "makefile.pl build.pl"},
	{"vim -S", "session.vim"},
	{"just", "justfile .justfile"},
	{"task", "taskfile.y*"},
	{"cmake", "cmakelists.txt cmakepresets.json *.cmake toolchain.toml cmakeuserpresets.json"},
	{"meson", "meson.build"},
	{"bazel", "*.bzl build.bazel module.bazel workspace.bazel workspace.bzlmod .bazelrc"},
	{"scons", "sconstruct sconscript"},
	{"waf", "wscript"},
	{"autoconf", "configure.ac configure"},
	{"cargo", "build.rs rust-toolchain rust-toolchain.toml .cargo/ cargo.toml tauri.conf.json"},
	{"go", "go.work .golangci.* .air.toml magefile.go magefiles/"},
	{"zig", "build.zig"},
	{"pytest", "conftest.py pytest.ini pytest.toml"},
	{"pip", "setup.py setup.cfg pyproject.toml requirements*.txt pipfile pixi.toml *.pth"},
	{"tox", "tox.ini tox.toml"},
	{"nox", "noxfile.py"},
	{"python", "sitecustomize.py usercustomize.py manage.py .pdbrc .pylintrc pylintrc pythonrc.py mypy.ini .mypy.ini .flake8 .coveragerc site-packages/ dist-packages/ .venv/ venv/ pyvenv.cfg"},
	{"a virtual environment", "activate activate.csh activate.fish activate.nu activate.ps1 activate.bat activate_this.py"},
	{"jupyter", "jupyter_config.py jupyter_notebook_config.py jupyter_server_config.py jupyter_lab_config.py jupyter_console_config.py ipython_config.py"},
	{"doit", "dodo.py"},
	{"invoke", "tasks.py"},
	{"duty", "duties.py"},
	{"paver", "pavement.py"},
	{"gunicorn", "gunicorn.conf.py"},
	{"sphinx", "docs/conf.py docs/source/conf.py"},
	{"fab", "fabfile.py"},
	{"ruby", ".irbrc .pryrc .rspec .rubocop*"},
	{"rake", "rakefile* *.rake"},
	{"fastlane", "fastfile"},
	{"pod", "podfile"},
	{"danger", "dangerfile*"},
	{"brew", "brewfile"},
	{"Rscript", ".rprofile"},
	{"ghci", ".ghci setup.hs"},
	{"gdb", ".gdbinit .lldbinit gdbinit lldbinit"},
	{"chezmoi", "run_once_* run_onchange_* run_before_* run_after_* modify_dot_* modify_private_*"},
	{"snakemake", "snakefile"},
	{"earthly", "earthfile"},
	{"bundle", "gemfile gems.rb *.gemspec"},
	{"cap", "capfile"},
	{"guard", "guardfile"},
	{"gradle", "*.gradle *.gradle.kts gradlew gradlew.bat gradle.properties gradle-wrapper.properties"},
	{"mvn", "pom.xml mvnw mvnw.cmd .mvn/"},
	{"ant", "build.xml"},
	{"sbt", "*.sbt"},
	{"mill", "build.sc build.mill*"},
	{"dotnet", "*.csproj *.fsproj *.vbproj *.vcxproj *.pyproj *.esproj *.proj *.props *.targets directory.build.* nuget.config global.json"},
	{"mix", "mix.exs .formatter.exs .credo.exs"},
	{"rebar3", "rebar.config"},
	{"dub", "dub.json dub.sdl"},
	{"swift", "package.swift"},
	{"xcodebuild", "*.xcscheme project.pbxproj"},
	{"composer", "composer.json artisan"},
	{"phpunit", "phpunit.xml*"},
	{"phpstan", "phpstan.neon*"},
	{"psalm", "psalm.xml*"},
	{"nix", "flake.nix shell.nix default.nix devenv.nix devenv.yaml home.nix configuration.nix"},
	{"devbox", "devbox.json"},
	{"flox", ".flox/"},
	{"docker", "dockerfile* *.dockerfile containerfile* compose.y* docker-compose.y*"},
	{"vagrant", "vagrantfile"},
	{"foreman", "procfile*"},
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
	patterns []string
	use      string
	folder   bool
}

// bazelNames are those of files without an ending: in small letters they are any folder's.
var bazelNames = []string{"BUILD", "WORKSPACE", "BUCK"}

var nextNames = func() (out []nextName) {
	for _, next := range nextCommands {
		for _, name := range strings.Fields(next.names) {
			pattern, folder := strings.CutSuffix(name, "/")
			out = append(out, nextName{strings.Split(pattern, "/"), next.use, folder})
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
		if next.folder && slices.ContainsFunc(names, func(name string) bool { return matchesName(next.patterns[0], name) }) {
			return next.use
		}
		if n := len(names) - len(next.patterns); !next.folder && n >= 0 && slices.EqualFunc(next.patterns, names[n:], matchesName) {
			return next.use
		}
	}
	if slices.Contains(bazelNames, path[strings.LastIndexAny(path, `/\`)+1:]) {
		return "bazel"
	}
	return ""
}

// RunsNext says in a clause that the file decides what a command of the user's runs, ""
// where it does not. What is hidden is, as a rule, what some program looks for.
func RunsNext(path string) string {
	if use := runsNext(path); use != "" {
		return "runs when you next use " + use
	}
	for _, name := range elements(path) {
		if strings.HasPrefix(name, ".") && !slices.ContainsFunc(ordinary, func(pattern string) bool { return matchesName(pattern, name) }) && Effect(path) == "" {
			return "has a hidden name, by which a program may look for it"
		}
	}
	return ""
}

// ordinary are hidden names of files and folders by which no program comes to run another, or whose parts that do are known.
var ordinary = strings.Fields(`*ignore .gitkeep .keep .editorconfig .env* .nvmrc *-version .java-version .browserslistrc .clang-format .clang-tidy .markdownlint* .yamllint* .mailmap .nojekyll .well-known
	.codecov.y* .github .gitlab .changeset .all-contributorsrc .swiftformat .swiftlint.y* .rustfmt.toml .typos.toml .gitattributes .npmrc .netrc .htaccess .htpasswd .pypirc .s3cfg .pgpass`)
