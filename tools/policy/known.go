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

// nextCommand are the files by which the user's next ordinary command (npm test, make, cargo
// build, pytest) comes to run something else.
const nextCommand = `package.json conftest.py setup.py setup.cfg pyproject.toml tox.ini pytest.ini noxfile.py sitecustomize.py usercustomize.py manage.py dodo.py tasks.py fabfile.py
	makefile gnumakefile *.mk justfile .justfile taskfile.y* build.rs rakefile gemfile *.gemspec capfile guardfile
	*.gradle *.gradle.kts gradlew gradlew.bat gradle.properties gradle-wrapper.properties pom.xml mvnw mvnw.cmd .mvn build.xml build.sbt build.sc
	cmakelists.txt cmakepresets.json *.cmake meson.build build.zig sconstruct sconscript wscript configure.ac *.bzl build.bazel module.bazel workspace.bazel .bazelrc
	*.csproj *.fsproj *.vbproj *.props *.targets directory.build.* nuget.config mix.exs rebar.config dub.json dub.sdl package.swift
	flake.nix shell.nix default.nix devenv.nix dockerfile containerfile compose.y* docker-compose.y* vagrantfile procfile tiltfile skaffold.yaml
	gulpfile.* gruntfile.* *.config.js *.config.cjs *.config.mjs *.config.ts *.config.mts *.config.cts .eslintrc* .prettierrc* .babelrc* .mocharc* .lintstagedrc* .commitlintrc* .stylelintrc* .pnpmfile.cjs .yarnrc* nx.json turbo.json lerna.json
	deno.json deno.jsonc bunfig.toml composer.json artisan phpunit.xml* go.work .golangci.* .air.toml rust-toolchain rust-toolchain.toml .cargo toolchain.toml`

// Knows says whether the program's own names are protected.
func Knows(program string) bool {
	for _, k := range known {
		if slices.Contains(strings.Fields(k.programs), program) {
			return true
		}
	}
	return false
}

var nextCommandNames = strings.Fields(nextCommand)

// runsNext says whether the user's next ordinary command may run what is in the file.
func runsNext(path string) bool {
	names := elements(path)
	return len(names) > 0 && slices.ContainsFunc(nextCommandNames, func(pattern string) bool {
		return slices.ContainsFunc(names[max(0, len(names)-2):], func(name string) bool { return matchesName(pattern, name) })
	})
}
