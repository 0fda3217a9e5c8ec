package lspbridge

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Settings are what is set about language servers.
type Settings struct {
	Servers []Server // the first that fits is taken
	// PreferOwn has questions of navigation go to our own servers first, not to the
	// editor's; EditorDiagnostics has diagnostics taken from the editor.
	PreferOwn         bool
	EditorDiagnostics bool
	EditWait          time.Duration // how long Caused waits
	Idle              time.Duration // after which a server is stopped; 0: never
}

// Server is a program that knows languages.
type Server struct {
	Name      string
	Command   []string
	Languages []string // LSP's language ids
	// Settings are what it is told when it asks for its configuration: an object of
	// sections. Options are its initializationOptions.
	Settings    json.RawMessage
	Options     json.RawMessage
	RootMarkers []string // names of files of which one lies in the root of a project
	Env         map[string]string
	Install     string // how people install it
	// Characters are what it counts when it names no position encoding, if that is not
	// LSP's default.
	Characters encoding
	// StartInBytes are the sources of diagnostics that begin at a byte of their line: they
	// hand on what Python's parser says.
	StartInBytes []string
	// AsksFirst says that it takes documents seriously only once it has got the
	// configuration that it asks for.
	AsksFirst bool
	// First are notifications that it gets before any document.
	First []string
	// Linter is a program without which it finds no errors. LinterSetting is the setting
	// that names it, by its dotted name.
	Linter, LinterSetting, LinterInstall string
	// Faulty is a text in which any of its linters finds a fault: a server that finds none
	// there has no linter, and finds nothing anywhere. LinterInstall is what to do then.
	Faulty string
	// VersionArgs have it print its version; nil: --version, empty: nothing does.
	VersionArgs []string
	// Held is why it does not start unless the user's own settings enable it: it runs
	// what the workspace brings along, and cannot be told not to.
	Held string
	// Data says that its languages are not programs: most folders have some, and nobody
	// needs to hear that it is missing.
	Data bool
	// Debounce is how long it is known to wait after a change before it looks at a text,
	// which another change has it put off; 0: nobody knows. Barrier is a request that it
	// answers in its turn and at once.
	Debounce time.Duration
	Barrier  string
	// Single: it reports once for each text.
	Single bool
	// Alone: what it finds in a file depends on no other file.
	Alone bool
	// TypeScript: what is wrong is asked of the tsserver behind it. It names no versions,
	// reports in parts, and says nothing of a text that is as clean as the one before.
	TypeScript bool
}

func (s Server) same(t Server) bool { return reflect.DeepEqual(s, t) }

// Override is what is set about a server. What is not set stays as it is known.
type Override struct {
	Enabled     *bool
	Command     []string
	Languages   []string
	RootMarkers []string
	Env         map[string]string
	// Settings and InitializationOptions are objects, laid over what is known key by key.
	Settings              json.RawMessage
	InitializationOptions json.RawMessage
	Install               string
}

// Servers are the known ones with what is set laid over them. Those that are set come
// first. Problems are for the user.
func Servers(set map[string]Override) (servers []Server, problems []string) {
	known := Known()
	var named, others []Server
	for _, s := range known {
		o, isSet := set[s.Name]
		switch {
		case !isSet:
			others = append(others, s)
		case o.Enabled == nil || *o.Enabled:
			named = append(named, o.over(s))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		o := set[name]
		if slices.ContainsFunc(known, func(s Server) bool { return s.Name == name }) || o.Enabled != nil && !*o.Enabled {
			continue
		}
		if len(o.Command) == 0 || len(o.Languages) == 0 {
			problems = append(problems, fmt.Sprintf("languageServers.servers.%s is ignored: a server that is not known needs command and languages", name))
			continue
		}
		named = append(named, o.over(Server{Name: name}))
	}
	return append(named, others...), problems
}

func (o Override) over(s Server) Server {
	replace(&s.Command, o.Command)
	replace(&s.Languages, o.Languages)
	replace(&s.RootMarkers, o.RootMarkers)
	s.Settings, s.Options = laid(o.Settings, s.Settings), laid(o.InitializationOptions, s.Options)
	if o.Env != nil {
		s.Env = o.Env
	}
	if o.Install != "" {
		s.Install = o.Install
	}
	if o.Enabled != nil && *o.Enabled {
		s.Held = ""
	}
	return s
}

func replace(list *[]string, with []string) {
	if len(with) > 0 {
		*list = with
	}
}

// laid lays one JSON object over another, key by key. What is no object replaces.
func laid(over, under json.RawMessage) json.RawMessage {
	var above, below map[string]json.RawMessage
	switch {
	case over == nil:
		return under
	case json.Unmarshal(over, &above) != nil || above == nil || json.Unmarshal(under, &below) != nil || below == nil:
		return over
	}
	for key, value := range above {
		below[key] = laid(value, below[key])
	}
	out, err := json.Marshal(below)
	if err != nil {
		return over
	}
	return out
}

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
