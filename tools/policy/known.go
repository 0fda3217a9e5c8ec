package policy

import (
	"slices"
	"strings"
)

// known are the programs that Pillion knows, with the names that each reads from a project:
// what it then runs or does is no longer what the user's own settings say. Written as fold
// spells them; a * stands at one end only. A test names the agents and editors that are
// missing here.
var known = []struct {
	programs string // as agents/install, the doctor and language servers name them
	effect   string
	names    string
}{
	{"git", runsInGit, ".gitmodules .gitattributes .gitconfig .husky .lefthook* lefthook.y* .pre-commit-config.y* .pre-commit-hooks.y* .overcommit.yml"},
	{"vscode code code-server", runsInEditor, ".vscode *.code-workspace .devcontainer .devcontainer.json"},
	{"jetbrains", runsInEditor, ".idea *.iml *.ipr .fleet .run"},
	{"nvim vim", runsInEditor, ".nvim.lua .nvimrc .exrc .vimrc .lvimrc .lazy.lua .neoconf.json .nlsp-settings"},
	{"emacs", runsInEditor, ".dir-locals.el .dir-locals-2.el .emacs.d .emacs .projectile"},
	{"helix", runsInEditor, ".helix"},
	{"zed", runsInEditor, ".zed"},
	{"sublime", runsInEditor, "*.sublime-project *.sublime-workspace"},
	{"shell", runsInShell, ".envrc .profile .bash_profile .bash_login .bash_logout .bash_aliases .bashrc .zshenv .zprofile .zlogin .zlogout .zshrc .kshrc .cshrc .tcshrc .inputrc .pam_environment .tmux.conf"},
	{"mise asdf", runsInShell, ".mise.toml mise.toml .mise .tool-versions .rtx.toml"},
	{"ci", runsInBuild, ".gitlab-ci.y* .gitlab-ci .travis.yml .circleci .buildkite .drone.yml .woodpecker* .cirrus.yml azure-pipelines.y* bitbucket-pipelines.yml jenkinsfile .appveyor.yml appveyor.yml .gitea .forgejo"},

	{"all agents", steersAgents, "agents.md agents.override.md pillion.md .mcp.json mcp.json .agents"},
	{"claude", steersAgents, "claude.md claude.local.md .claude .claude.json .claude-plugin"},
	{"codex", steersAgents, ".codex codex.md"},
	{"qwen", steersAgents, ".qwen qwen.md .qwenignore"},
	{"gemini", steersAgents, ".gemini gemini.md .geminiignore gemini-extension.json"},
	{"opencode", steersAgents, "opencode.json* .opencode"},
	{"cursor", steersAgents, ".cursor*"},
	{"windsurf", steersAgents, ".windsurf*"},
	{"goose", steersAgents, ".goose*"},
	{"crush", steersAgents, ".crush* crush.json crush.md"},
	{"cline roo", steersAgents, ".cline* .roo*"},
	{"aider", steersAgents, ".aider*"},
	{"copilot", steersAgents, "copilot-instructions.md .copilot*"},
	{"continue", steersAgents, ".continue*"},
	{"others", steersAgents, ".amazonq .augment* .junie .kiro .trae .warp.md .factory .amp .replit"},

	{"pillion", loosensPillion, ".pillion"},
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
