package policy

import (
	"strings"
	"testing"
	"unicode"
)

func TestProtected(t *testing.T) {
	for _, path := range []string{
		".gitmodules", "sub/.gitmodules", ".gitattributes", "a/.gitattributes",
		".vscode/settings.json", "sub/.vscode/tasks.json", ".VSCode/x", ".vscode", ".v\u200bscode/x", ".vſcode/x",
		".idea/x", "my.code-workspace", "a/B.CODE-WORKSPACE", ".devcontainer/devcontainer.json", ".devcontainer",
		".nvim.lua", ".nvimrc", ".exrc", ".envrc", "a/.envrc",
		".husky/pre-commit", ".github/workflows/ci.yml", ".github/workflows", ".GitHub/Workflows/x", ".github", "sub/.github/workflows/x",
		"AGENTS.md", "agents.md", "sub/CLAUDE.md", ".mcp.json", ".cursorrules", ".cursor/rules/x", ".claude/settings.json",
		".codex/config.toml", ".agents/x", ".pillion/settings.json", ".qwen/settings.json", "QWEN.md", "GEMINI.md", "sub/CLAUDE.local.md", "AGENTS.override.md", ".helix/languages.toml",
		".zed/settings.json", ".dir-locals.el", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".pre-commit-config.yaml", "opencode.json", "opencode.jsonc", ".windsurfrules", ".clinerules", ".gemini/settings.json", "PILLION.md",
		".vscode./settings.json", ".vscode /settings.json", ".vscode::$INDEX_ALLOCATION/settings.json", "AGENTS.md::$DATA", "AGENTS.md.",
		"VSCODE~1/settings.json", "vscod~12/x", "NVIM~1.LUA", "PILLIO~1/x", "DEVCON~1/x", "MCP~1.JSO", "MY~1.COD", "GITHUB~1/WORKFL~1/x",
		"x/HEAD", "HEAD",
		".config/git/config", "nvim/.config/nvim/lua/x.lua", ".config/fish/conf.d/x.fish", ".config/systemd/user/x.service", ".config/autostart/x", ".config/environment.d/x", ".config", ".config/nvim",
		"git/config", "fish/fish_plugins", "xonsh/rc.d/a.py", "nushell/autoload/x.nu", "emacs/init.el", "qutebrowser/config.py", "skhdrc", "ssh/config.d/x", "sub/nvim/init.lua", "nvim/plugin/x.vim", "fish/config.fish", "zsh/.zshrc", "systemd/user/x.timer", "autostart/x.desktop", "direnv/direnvrc", ".ssh/config", "ssh/.ssh/rc", ".tmux.conf", ".Xresources",
		`.vscode\settings.json`,
		"dot_zshrc", "dot_zshrc.tmpl", "private_dot_ssh/config", "private_executable_dot_bashrc", "dot_config/private_fish/config.fish", "dot_config/eww/eww.yuck", "dot-zshrc", "bash/dot-bashrc", "zsh/zshrc.symlink", "vim.symlink/x", ".zshrc.local", "gitconfig.local", ".bashrc##os.Linux",
		"zsh/.zsh/x.zsh", "zlogin", "bash_login", "inputrc", "xsession", "wezterm.lua", "emacs.d/init.el", "doom/config.el", "i3/config", "sway/config", "hypr/hyprland.conf", "awesome/rc.lua", "helix/languages.toml", "zed/settings.json", "Code/User/settings.json",
		"ghostty/config", "nushell/config.nu", "fish/completions/x.fish", "nvim/filetype.lua", "nvim/ftdetect/x.vim", "nvim/syntax/x.vim", "nvim/lsp/x.lua", "nvim/pack/x/start/y/plugin/z.lua", "vim/plugin/x.vim", "vim/indent/x.vim",
		".config/swaync/config.json", "x/.config/Code - Insiders/User/settings.json", ".local/share/thumbnailers/x.thumbnailer", ".local/bin/env", ".config/mise.toml",
		"mise.local.toml", ".mise.local.toml", "mise.dev.toml", "mise/config.toml", ".config/mise/config.toml", "rust-analyzer.toml", "buildServer.json", ".ycm_extra_conf.py", ".luarc.json", ".autoenv", ".autoenv.zsh", ".local.vimrc", ".lite_project.lua",
		".hg/hgrc", "sub/.hg/requires", ".hgrc", "hgrc", ".sl/config", ".jj/repo/config.toml", ".bzr/branch/branch.conf", ".pijul/config", "_darcs/prefs/defaults", ".fslckout", ".fossil-settings/x", ".repo/manifest.xml", ".rvmrc",
		".github/hooks/x.json", ".github/copilot/settings.json", ".github/instructions/x.md", ".github/prompts/x.md", ".github/agents/x.md", "sub/.github/skills/x/SKILL.md", ".github/chatmodes/x.md",
		".agent/x", ".rules", ".kilocodemodes", ".kilo/x", ".iflow/x", ".codebuddy/x", ".qoder/x", ".pi/x", ".openhands/x", ".rovodev/x", ".vibe/x", ".grok/x", ".kimi/x", ".aiassistant/rules/x", ".devin/x", ".mux/x",
		".externalToolBuilders/x.launch", ".vs/tasks.vs.json", "nbproject/project.xml", ".projections.json", ".vimspector.json", ".idx/dev.nix", ".gitpod.yml", ".gitpod/x", ".latexmkrc", "paper/latexmkrc", ".ropeproject/config.py",
		"WARP.md", ".warp.md", "AGENT.md", "IFLOW.md", "CODEBUDDY.md", "replit.md", "firebender.json", ".github/lsp.json", ".github/plugin/plugin.json", "claude/settings.json", "codex/config.toml", "pillion/settings.json", "dot_x/pillion/settings.json",
		"hk.pkl", ".hk.pkl", "hk.local.pkl", "prek.toml", "captainhook.json", "captainhook.config.json", "lefthook.toml", "lefthook.jsonc", "lefthook-local.yml", "lefthook-local.json", ".lefthook-local.toml", ".huskyrc.json", ".local-overcommit.yml", ".rusty-hook.toml", "whisky.json", ".config/awesome/x.lua", ".local/share/fish/vendor_conf.d/x.fish", "grumphp.yml", "grumphp.yml.dist", "simple-git-hooks.json", ".simple-git-hooks.cjs", "simple-git-hooks.js", "hie.yaml", "rust-project.json",
		".github/actions/x/action.yml", ".gitlab/ci/x.yml", "cloudbuild.yaml", "buildspec.yml", "Jenkinsfile.release", "x.jenkinsfile", "netlify.toml", "vercel.json", "bitrise.yml", "codemagic.yaml",
		"vscode/settings.json", "Cursor/User/settings.json", "VSCodium/User/tasks.json", "powershell/Modules/x/x.psm1", "systemd/x.service", "systemd/x.timer", "applications/x.desktop", "Desktop/x.desktop", "LaunchAgents/x.plist", "sway/autostart.conf", "sway/scripts/x.sh",
	} {
		reason, denied := Protected(path)
		if reason == "" || denied {
			t.Errorf("%q: reason %q, denied %v, want it to ask", path, reason, denied)
		}
	}
	for _, path := range []string{
		".git", "a/.git", "a/.git/x", ".GIT/config", "git~1", "GIT~2/config", "gi7eb4~1/config", ".git./x", ".git . ./x", ".git::$INDEX_ALLOCATION/x",
		".git:stream", ".gi\u200ct/x", ".\u200dg\ufeffit", ".g\u0131t/x", ".G\u0130T/x", ".ｇｉｔ/x", ".git／config", `a\.git\config`, `.git\hooks`,
		"repo.git/hooks/x", "repo.git/config", "a/repo.GIT/HEAD", ".vscode/.git/x", ".g\xffit/x", "./.git/x", ".git/../src/x",
	} {
		if reason, denied := Protected(path); reason == "" || !denied {
			t.Errorf("%q: reason %q, denied %v, want it denied", path, reason, denied)
		}
	}
	for _, path := range []string{
		"", ".", "src/app.py", ".gitignore", ".gitkeep", ".git-blame-ignore-revs", "git", "git/x", ".config/nextest.toml", ".config/dotnet-tools.json", "nvim/readme.md", "src/nvim/main.c", "crates/vim/src/vim.rs", "private_key.go", "create_user.py", "remove_all.sh", "dot_product.py", "dot-graph.js", "empty_test.go", "profile/views.py", "config.local", "i3/x.go", "hypr/x.go", "code/user/x.go", "page.tmpl", "docs/bash.md", "symlink_test.go", "a.symlink", "autostart/x.go", "systemd/x.go", "fish/x", "digit", "x.git", "x.git/readme.md", "gitty~x",
		".github/CODEOWNERS", ".github/ISSUE_TEMPLATE/x", "workflows/x", "vscode/x", "a.vscode", ".vscode-test/x", "agents.mdx", "AGENTS", "cursor/x",
		"head.go", "HEAD/x", "nvim.lua", "code-workspace", "x~1", "src/a~1.py", "~1", "…/ü.txt", ".ideas/x", "backup~1.lua",
		"deploy/x.service", "x.desktop", "x.plist", "sway/main.c", "sway/readme.md", "pillion/x.json", "vscode/package.json", "systemd/readme.md", "ci/x.yml", "actions/x.ts", "agent.go", "warp.rs", "docs/lefthook.md", "hk.go", "captainhook.md",
	} {
		if reason, denied := Protected(path); reason != "" || denied {
			t.Errorf("%q: reason %q, denied %v, want it free", path, reason, denied)
		}
	}
}

func TestProtectedReasonEscapesTheName(t *testing.T) {
	reason, _ := Protected(".vscode/a\u202eb")
	if !strings.HasPrefix(reason, `".vscode/a\u202eb" `) {
		t.Errorf("reason %s", reason)
	}
}

// TestTheMostIsSaid: of several names the one of which more is known.
func TestTheMostIsSaid(t *testing.T) {
	for path, want := range map[string]string{
		".config/x/y": ReadByPrograms, ".config/x/CLAUDE.md": SteersAgents, ".config/pillion/settings.json": LoosensPillion, ".local/state/pillion/x": LoosensPillion,
		".config/fish/x": RunsInShell, "dot_config/nvim/x": RunsInEditor, ".local/share/applications/x": RunsInDesktop,
	} {
		if got := Effect(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestAnOpenFolderIsPartOfTheName: it makes no difference which folder is open, but that one by itself may be a project.
func TestAnOpenFolderIsPartOfTheName(t *testing.T) {
	for _, c := range []struct {
		root, top, path string
		effect          string
	}{
		{"/h/.config/awesome2", "", "rc.lua", ""},
		{"/h/x/awesome", "", "rc.lua", RunsInDesktop},
		{"/h/x/awesome", "", "notes", ""},
		{"/h/x/nvim", "/h/x/nvim", "init.lua", RunsInEditor},
		{"/h/x/fish", "/h/x/fish", "conf.d/x.fish", RunsInShell},
		{"/h/x/.vscode", "/h/x/.vscode", "tasks.json", RunsInEditor},
		{"/h/x/.github", "/h/x/.github", "workflows/x.yml", runsInBuild},
		{"/h/x/.github", "/h/x/.github", "readme.md", ""},
		{"/h/x/.github", "/h/x/.github", ".", ""},
		{"/h/x/.github/workflows", "/h/x", "notes", runsInBuild},
		{"/h/x/.github/workflows", "", "notes", runsInBuild},
		{"/h/.claude/worktrees/x", "/h/.claude/worktrees/x", "notes", ""},
		{"/h/.claude/worktrees/x/y", "/h/.claude/worktrees/x", "notes", ""},
		{"/h/git/hooks", "/h/git/hooks", "notes", ""},
		{"/h/git", "/h/git", "config", RunsInGit},
		{"/h/.config/eww2", "/h/.config/eww2", "x/y", ""},
		{"/h/.config/eww2/x", "", "y", ""},
		{"/h/.config", "", "eww2/x", ReadByPrograms},
		{"/h/x/.git/y", "/h/x/.git/y", "notes", ""},
		{"/h/x/.git", "/h/x", "notes", isRepository},
		{"/h/.config", "", "pillion/x", LoosensPillion},
		{"/h/local/pillion", "/h/local/pillion", "notes", ""},
	} {
		if got := EffectAt(c.root, c.top, c.path); got != c.effect {
			t.Errorf("%s in %s (top %q): %q, want %q", c.path, c.root, c.top, got, c.effect)
		}
	}
	read := Request{Tool: "read_file", Access: Read, Mode: AutoEdit, Paths: []PathFact{{Path: "x", LinkTarget: "cli.toml", Root: "/h/.config/hcloud"}}}
	if d := Decide(read); d.Verdict != Ask {
		t.Errorf("reading a secret whose folder is open: %s", d.Verdict)
	}
}

func TestSecret(t *testing.T) {
	for _, path := range []string{
		".git-credentials", ".pypirc", ".pgpass", ".htpasswd", "x.p12", "x.pfx", "a.jks", "x.tfstate", "prod.tfvars", ".aws/credentials", "home/.kube/config", ".docker/config.json", "gcloud/access_tokens.db", ".aws/credentials.1", "deploy_ed25519", ".kube/config-prod", "clouds.yaml",
		"service-account-1.json", "kubeconfig.yaml", ".cargo/credentials.toml", "keys.kdbx", ".vault-token",
		".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".dev.vars", "deploy/prod.env", "rclone.conf", "rclone/rclone.conf", "a.keychain-db", ".bash_history", ".local/share/fish/fish_history", ".psql_history", ".config/gh/hosts.yml",
		".aws/sso/cache/x.json", "wg1.conf", "x.kubeconfig", ".terraform.d/credentials.tfrc.json", ".password-store/mail.gpg",
		".env", "a/.env.local", ".ENV", ".env.example", "server.pem", "x/id_rsa", "id_ed25519.pub", "tls.key", ".netrc", ".npmrc",
		".config/git/credentials", ".config/sops/age/keys.txt", "krb5cc_1000", "Default/Login Data", ".zhistory", ".m2/settings.xml", "x.keytab", "local.settings.json", "prod.env.bak", "env.production", "#.env#", ".#prod.env", "id_rsa.old",
		"private_dot_netrc", "dot_pgpass", "dot_npmrc", "private_dot_docker/config.json", "dot_kube/config", "private_dot_config/gh/private_hosts.yml", "dot-netrc", "netrc.symlink", "encrypted_dot_netrc.age", ".git-credentials.local",
		"credentials.json.~1~", ".bash_history-01234.tmp", "cookies.sqlite-wal", "key4.db-journal", "terraform.tfstate.1700000000.backup", "credentials (1).json", "credentials copy.json", "credentials copy 2.json", "Copy of credentials.json",
		".auth.json.swp", ".passwords.txt.swp", ".netrc.swp", ".id_rsa.un~", ".netrc.rpmsave", ".netrc.dpkg-old", ".netrc.rej", ".git-credentials.lock", ".netrc.gz", ".netrc.2024-01-01", ".netrc-backup", ".netrc_bak", ".pgpass.orig.bak", "main.shada.tmp", ".zsh_history.LOCK", ".credentials.json.tmp.123",
		"helm/repositories.yaml", "playwright/.auth/user.json", "Login Data For Account", "secrets.prod.yaml", "db-secret.yaml", ".duckdb/stored_secrets/x.duckdb_secret", "msal_token_cache.bin", "x.creds", "/etc/shadow", "gitlab-runner/config.toml",
		".env.", ".env::$DATA", ".e\u200bnv", "ENV~1.LOC", "a\\.env",
	} {
		if !Secret(path) {
			t.Errorf("%q is not taken for a secret", path)
		}
	}
	for _, path := range []string{"", ".", "config", "src/config", "docker/config.json", "aws/credentials.go", "kube/config", "config.json", "env", "environment.py", ".env/lib/python3/site.py", "key", "monkey", "pem", "grid_rsa.py", "a.keys", "netrc", "env.py", "src/hub/x.go", "history.md", "shadow.css", "keys.go", "config/nuget.go", "cookies", "nuget.config", "SHASUMS256.txt.asc", "gradle.properties", "settings.xml.go", "a.bak", "~", "~~", "-", "_1", "#", ".#", " copy", "Cargo.lock", "key.lock", "config.json.bak", "dot_config/x.json", "private_x.go", "auth (1).go", "environment.tmp"} {
		if Secret(path) {
			t.Errorf("%q is taken for a secret", path)
		}
	}
}

// ignorables are Unicode's default ignorable code points, typed from
// DerivedCoreProperties.txt, which HFS+ and ext4 with casefold leave out of names.
var ignorables = []rune{
	0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180E, 0x180F,
	0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E,
	0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x2065, 0x2066, 0x2067, 0x2068, 0x2069,
	0x206A, 0x206B, 0x206C, 0x206D, 0x206E, 0x206F, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0, 0xFFF8,
	0x1BCA0, 0x1BCA3, 0x1D173, 0x1D17A, 0xE0000, 0xE0001, 0xE0020, 0xE007F, 0xE0100, 0xE01EF, 0xE0FFF,
}

func TestEveryIgnorableIsIgnored(t *testing.T) {
	for _, r := range ignorables {
		path := ".g" + string(r) + "it/config"
		if _, denied := Protected(path); !denied {
			t.Errorf("%+q escapes", path)
		}
	}
}

// vary spells name the way choices say: letter case and equal letters, runs of
// ignorable characters between, and what Windows drops from the end.
func vary(name string, choices []byte) string {
	next := func() byte {
		if len(choices) == 0 {
			return 0
		}
		b := choices[0]
		choices = choices[1:]
		return b
	}
	var out strings.Builder
	pad := func() {
		for range next() % 4 {
			out.WriteRune(ignorables[int(next())%len(ignorables)])
		}
	}
	for _, r := range name {
		pad()
		for range next() % 4 {
			r = unicode.SimpleFold(r)
		}
		out.WriteRune(r)
	}
	pad()
	endings := []string{"", ".", " ", ". .", "::$INDEX_ALLOCATION", ":x", " ::$DATA"}
	out.WriteString(endings[int(next())%len(endings)])
	return out.String()
}

func FuzzNoSpellingOfGitEscapes(f *testing.F) {
	f.Add([]byte{}, "", "")
	f.Add([]byte{1, 2, 1, 3, 9, 9, 9, 1, 0, 1, 2, 1, 1}, "a/b", "config")
	f.Add([]byte{0, 1, 0, 1, 0, 1, 0, 1, 0, 4}, "x\xff", "hooks/pre-commit")
	f.Fuzz(func(t *testing.T, choices []byte, before, after string) {
		name := vary(".git", choices)
		for _, path := range []string{name, before + "/" + name, name + "/" + after, before + "/" + name + "/" + after} {
			if _, denied := Protected(path); !denied {
				t.Errorf("%+q escapes", path)
			}
			r := edit(path)
			r.Mode = FullAccess
			if d := Decide(r); d.Verdict != Refuse {
				t.Errorf("%+q: %s", path, d.Verdict)
			}
		}
		other := before + "/" + vary(".vscode", choices) + "/" + after
		if reason, _ := Protected(other); reason == "" {
			t.Errorf("%+q escapes", other)
		}
	})
}

func FuzzPathsNeverPanic(f *testing.F) {
	f.Add(".~1.x")
	f.Add("~")
	f.Add(":")
	f.Add("*~1.code-workspace")
	f.Fuzz(func(_ *testing.T, path string) {
		Protected(path)
		Secret(path)
		r := edit(path)
		r.Rules.Deny = []Rule{{Tool: "edit_file", Specifier: path, pattern: true}}
		Decide(r)
	})
}

// TestRunsNext: what programs run or load from where they are started, or read what to run from.
func TestRunsNext(t *testing.T) {
	for path, want := range map[string]string{
		"package.json": "npm", "tests/conftest.py": "pytest", "Makefile": "make", "Makefile.toml": "cargo make", "config.ru": "rackup", "magefiles/a.go": "go", "Procfile.dev": "foreman", "dune": "dune", "GNUmakefile": "make", "build.rs": "cargo", "app/build.gradle": "gradle",
		"build.gradle.kts": "gradle", "vite.config.ts": "npm", "sub/pyproject.toml": "pip", ".cargo/config.toml": "cargo", "x/.mvn/wrapper/a/b": "mvn", "PACKAG~1.JSO": "npm",
	} {
		if got := runsNext(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{
		"Cargo.toml", "crates/x/Cargo.toml", ".pdbrc", ".pylintrc", "mypy.ini", ".flake8", ".coveragerc", "requirements.txt", "requirements-dev.txt", "Pipfile", "pixi.toml", "x.pth",
		".Rprofile", ".irbrc", ".pryrc", ".rspec", ".ghci", "Setup.hs", ".gdbinit", ".lldbinit", "karma.conf.js", "wdio.conf.ts", "webpack.config.babel.js", "vitest.workspace.ts",
		".venv/bin/activate", "env/bin/activate.fish", ".venv/lib/python3.11/site-packages/x.py", ".venv/lib/python3.11/site-packages/x.pth", "py/pyvenv.cfg", "node_modules/eslint/lib/api.js", "web/node_modules/typescript/lib/tsserver.js", ".yarn/releases/x.cjs", ".pnp.cjs",
		"devbox.json", "devenv.yaml", ".flox/env/manifest.toml", "home.nix", "configuration.nix", ".rubocop.yml", ".credo.exs", ".formatter.exs", ".mypy.ini",
		"binding.gyp", "app/x.vcxproj", "x.pyproj", "x.xcodeproj/project.pbxproj", "x.xcscheme", "jupyter_server_config.py", "ipython_config.py", "dev/user.clj", ".clj-kondo/hooks/x.clj", "project.json", "angular.json", "ember-cli-build.js", "magefile.go", "Makefile.am", "configure", "CMakeUserPresets.json",
		".storybook/main.js", "a/.new-tool/x.toml", ".hg/store/x", ".toolrc", // nobody knows what reads these
		"Session.vim", "Snakefile", "Dangerfile", "Fastfile", "Podfile", "Brewfile", "Earthfile", "global.json",
		"Rakefile.rb", "lib/tasks/x.rake", "gems.rb", "BUILD", "a/WORKSPACE", "build.ninja", "project/plugins.sbt", "build.mill", "build.mill.scala", "conanfile.py", "xmake.lua", "Makefile.PL", "gunicorn.conf.py", "nodemon.json", "src-tauri/tauri.conf.json", "pnpm-workspace.yaml",
		"Dockerfile.dev", "dev.Dockerfile", "Containerfile.x", "babel.config.json", "docs/conf.py", "sub/docs/conf.py", "Dangerfile.js", "pylintrc", "phpstan.neon", "phpstan.neon.dist", "psalm.xml", "tslint.json", "gdbinit", "lldbinit", "pythonrc.py", "run_once_x.sh", "run_onchange_x.sh.tmpl", "modify_dot_foo",
	} {
		if RunsNext(path) == "" {
			t.Errorf("%s is written unasked", path)
		}
	}
	for _, path := range []string{
		"", "src/app.py", "src/main.go", "README.md", "package-lock.json", "makefile.md", "config.ts", "tsconfig.json", "build.md", "gradle/x.txt", "Makefile/notes.txt",
		"src/activate.go", "activate.ts", "modules/x.js", "packages/site/x.py", "venv.py", "rubocop.rb",
		"workspace.go", "configure.go", "build", "project.go", "private_", "src/private_/x",
		".gitignore", "a/.dockerignore", "conf.py", "src/conf.py", "docs/conf.txt", "build/x", "workspace", "buck", "run_tests.py", "modify_user.py", "mill.go", ".github/ISSUE_TEMPLATE/bug.md", ".changeset/x.md", ".editorconfig", ".env.example", ".nvmrc", ".python-version",
	} {
		if RunsNext(path) != "" {
			t.Errorf("%s asks", path)
		}
	}
}

// TestProgramsHaveTheirFiles: what policy knows of a program that builds or tests, it knows
// of the files too by which that runs something.
func TestProgramsHaveTheirFiles(t *testing.T) {
	uses := map[string]bool{
		"git":  true,               // its files always ask
		"pnpm": true, "yarn": true, // npm's
		"gmake":  true,                            // make's
		"poetry": true, "uv": true, "conda": true, // pip's
		"rustup": true, // cargo's
	}
	for _, next := range nextCommands {
		uses[next.use] = true
	}
	for program := range subcommands {
		if !uses[program] {
			t.Errorf("no file is known by which %s runs something: add it to nextCommands", program)
		}
	}
	for program, names := range recipes {
		for _, name := range names {
			if runsNext(name) == "" {
				t.Errorf("%s runs %s, which is not in nextCommands", program, name)
			}
		}
	}
}
