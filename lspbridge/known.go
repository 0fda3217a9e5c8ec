package lspbridge

import (
	"encoding/json"
	"time"
)

// Known are the servers that need no settings, in the order in which they are asked
// about their languages. What a server would run of what the workspace brings along is
// switched off here; one in which that cannot be done is Held. adapt.go adds what is
// known only once a server is started.
func Known() []Server {
	return []Server{
		{
			Name: "pylsp", Command: []string{"pylsp"}, Languages: []string{"python"},
			RootMarkers: pythonMarkers, Characters: utf32, StartInBytes: []string{"pyflakes", "mccabe", "flake8", "pylint"},
			Debounce: 500 * time.Millisecond, Barrier: "textDocument/codeLens", Single: true, Alone: true,
			Settings: raw(pylspSettings),
			Faulty:   "(\n", LinterInstall: "apt install python3-pyflakes python3-pycodestyle (Debian), or pip install 'python-lsp-server[all]'",
			Install: "apt install python3-pylsp python3-pyflakes python3-pycodestyle (Debian), or pip install 'python-lsp-server[all]'",
		},
		{
			Name: "basedpyright", Command: []string{"basedpyright-langserver", "--stdio"}, Languages: []string{"python"},
			RootMarkers: append([]string{"pyrightconfig.json"}, pythonMarkers...),
			Settings:    raw(`{"python": {}, "basedpyright": {"analysis": {"diagnosticMode": "openFilesOnly"}}}`),
			Install:     "pip install basedpyright",
			VersionArgs: []string{},
		},
		{
			Name: "pyright", Command: []string{"pyright-langserver", "--stdio"}, Languages: []string{"python"},
			RootMarkers: append([]string{"pyrightconfig.json"}, pythonMarkers...),
			Settings:    raw(`{"python": {"analysis": {"diagnosticMode": "openFilesOnly"}}, "pyright": {}}`),
			Install:     "npm install -g pyright",
			VersionArgs: []string{},
		},
		{
			Name: "bash-language-server", Command: []string{"bash-language-server", "start"}, Languages: []string{"shellscript"},
			Settings:  raw(`{"bashIde": {"explainshellEndpoint": "", "shfmt": {"path": ""}}}`),
			Install:   "npm install -g bash-language-server",
			AsksFirst: true, Single: true,
			Linter: "shellcheck", LinterSetting: "bashIde.shellcheckPath", LinterInstall: "apt install shellcheck, or brew install shellcheck",
		},
		{
			// Of TypeScript 7, which has no tsserver, and is its own server.
			Name: "typescript", Command: []string{"tsc", "--lsp", "--stdio"},
			Languages:   []string{"typescript", "typescriptreact", "javascript", "javascriptreact"},
			RootMarkers: []string{"tsconfig.json", "jsconfig.json", "package.json"},
			Settings:    raw(`{"typescript": {"preferences": {"useAliasesForRenames": false}}, "javascript": {"preferences": {"useAliasesForRenames": false}}}`),
			Install:     "npm install -g typescript",
		},
		{
			Name: "typescript-language-server", Command: []string{"typescript-language-server", "--stdio"},
			Languages:   []string{"typescript", "typescriptreact", "javascript", "javascriptreact"},
			RootMarkers: []string{"tsconfig.json", "jsconfig.json", "package.json"},
			// Without the syntax server nothing is answered before the project is read, and then rightly.
			Options: raw(`{"hostInfo": "pillion", "disableAutomaticTypingAcquisition": true, "tsserver": {"useSyntaxServer": "never"},
				"preferences": {"providePrefixAndSuffixTextForRename": false}}`), // a new name everywhere, and no alias
			Install:    "npm install -g typescript-language-server typescript@5",
			TypeScript: true,
		},
		{
			Name: "lua-language-server", Command: []string{"lua-language-server"}, Languages: []string{"lua"}, RootMarkers: []string{".luarc.json", ".luarc.jsonc"},
			Settings: raw(`{"Lua": {"runtime": {"plugin": ""}, "workspace": {"checkThirdParty": false}, "telemetry": {"enable": false}}}`),
			Install:  "brew install lua-language-server, or see luals.github.io",
		},
		{
			Name: "gopls", Command: []string{"gopls"}, Languages: []string{"go", "go.mod", "go.work"},
			RootMarkers: []string{"go.work", "go.mod"},
			// A build that is stamped runs git, which obeys the repository's own configuration.
			Settings: raw(`{"gopls": {"buildFlags": ["-buildvcs=false"], "telemetryPrompt": false, "vulncheck": "Off"}}`),
			Options:  raw(`{"pullDiagnostics": true}`), // it reports in parts, and answers in one
			Install:  "go install golang.org/x/tools/gopls@latest",

			VersionArgs: []string{"version"},
		},
		{
			Name: "rust-analyzer", Command: []string{"rust-analyzer"}, Languages: []string{"rust"}, RootMarkers: []string{"Cargo.toml", "rust-project.json"},
			Options: raw(`{` + rustSettings + `}`), Settings: raw(`{"rust-analyzer": {` + rustSettings + `}}`),
			Install: "rustup component add rust-analyzer",
			Held:    "it runs cargo and rustc as the repository's .cargo/config.toml and rust-toolchain.toml say",
		},
		{
			Name: "clangd", Command: []string{"clangd"}, Languages: []string{"c", "cpp", "objective-c", "objective-cpp"},
			RootMarkers: []string{"compile_commands.json", "compile_flags.txt", ".clangd"},
			Install:     "apt install clangd (Debian), or brew install llvm",
		},
		{
			Name: "jdtls", Command: []string{"jdtls"}, Languages: []string{"java"}, RootMarkers: []string{"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle"},
			Settings: raw(javaSettings), Options: raw(`{"settings": ` + javaSettings + `}`),
			Install:     "brew install jdtls, or see github.com/eclipse-jdtls/eclipse.jdt.ls",
			VersionArgs: []string{},
			Held:        "it compiles the project with the annotation processors that the repository brings along",
		},
		{
			Name: "yaml-language-server", Command: []string{"yaml-language-server", "--stdio"}, Languages: []string{"yaml"},
			Settings: raw(`{"yaml": {"schemaStore": {"enable": false}}, "redhat": {"telemetry": {"enabled": false}}}`),
			Install:  "npm install -g yaml-language-server",
			First:    []string{"yaml/registerContentRequest"}, // schemas of the network are asked of us, who have none
			Data:     true,
		},
		{
			Name: "vscode-json-language-server", Command: []string{"vscode-json-language-server", "--stdio"}, Languages: []string{"json", "jsonc"},
			Settings: raw(`{"json": {"validate": {"enable": true}}}`),
			Options:  raw(`{"handledSchemaProtocols": ["file"]}`), // none from the network, which a file could name
			Install:  "npm install -g vscode-langservers-extracted",

			VersionArgs: []string{},
			Data:        true,
		},
	}
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

var pythonMarkers = []string{"pyproject.toml", "setup.py", "setup.cfg"}

// pylspSettings leave out every plugin that runs what lies in the workspace: rope runs
// .ropeproject/config.py, pylint what its configuration says at its start, flake8 and
// mypy load plugins by path.
const pylspSettings = `{"pylsp": {"configurationSources": ["pycodestyle"], "plugins": {
	"jedi_rename": {"enabled": true},
	"rope_rename": {"enabled": false}, "rope_completion": {"enabled": false}, "rope_autoimport": {"enabled": false}, "pylsp_rope": {"enabled": false},
	"pylint": {"enabled": false}, "flake8": {"enabled": false}, "pylsp_mypy": {"enabled": false}, "mypy": {"enabled": false}, "mypy-ls": {"enabled": false}
}}}`

const rustSettings = `"cargo": {"buildScripts": {"enable": false}}, "procMacro": {"enable": false}, "checkOnSave": false`

const javaSettings = `{"java": {"autobuild": {"enabled": false}, "import": {"gradle": {"enabled": false}, "maven": {"enabled": false}}}}`
