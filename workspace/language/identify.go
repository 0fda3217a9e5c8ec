package language

import (
	"path"
	"strings"
)

// Of is the language of a file, as an LSP identifier, or "". The editor's word counts
// (languageId, "" if nobody gave one); then what the file is called; then, where the
// name tells nothing, the first line of its text. Of the text only its beginning is
// needed.
func Of(editor, name, text string) string {
	if id := editors(editor); id != "" {
		return id
	}
	if id := ByName(name); id != "" {
		return id
	}
	return byShebang(text)
}

// editors is what an editor calls a language in the words of LSP. One that it does not
// know it calls plain text.
func editors(id string) string {
	id = strings.ToLower(id)
	switch id {
	case "plaintext", "text", "txt", "fundamental", "conf", "unknown":
		return ""
	}
	if known, ok := editorsOwn[id]; ok {
		return known
	}
	return id
}

// editorsOwn are identifiers of editors that LSP has other words for.
var editorsOwn = map[string]string{
	"sh": "shellscript", "bash": "shellscript", "ksh": "shellscript", "zsh": "shellscript", "shell-script": "shellscript", "shell": "shellscript",
	"python3": "python", "golang": "go", "gomod": "go.mod", "c++": "cpp", "objc": "objective-c", "objcpp": "objective-cpp",
	"typescript.tsx": "typescriptreact", "tsx": "typescriptreact", "javascript.jsx": "javascriptreact", "jsx": "javascriptreact",
	"yml": "yaml", "yaml.docker-compose": "yaml", "dockercompose": "yaml", "make": "makefile", "cs": "csharp", "tex": "latex",
}

// ByName is the language that a file name suggests, or "".
func ByName(name string) string {
	name = strings.ToLower(name)
	if id, ok := byName[name]; ok {
		return id
	}
	return byExtension[strings.TrimPrefix(path.Ext(name), ".")]
}

var byName = map[string]string{
	"makefile": "makefile", "gnumakefile": "makefile", "dockerfile": "dockerfile", "go.mod": "go.mod", "go.sum": "go.sum", "go.work": "go.work",
	".bashrc": "shellscript", ".bash_profile": "shellscript", ".bash_aliases": "shellscript", ".bash_logout": "shellscript",
	".profile": "shellscript", ".zshrc": "shellscript", ".zshenv": "shellscript", ".zprofile": "shellscript", ".envrc": "shellscript", "pkgbuild": "shellscript",
	"sconstruct": "python", "sconscript": "python", "wscript": "python", "gemfile": "ruby", "rakefile": "ruby", "cmakelists.txt": "cmake",
	"tsconfig.json": "jsonc", "jsconfig.json": "jsonc", ".eslintrc": "jsonc", ".babelrc": "json", "composer.lock": "json", ".luarc.json": "jsonc",
	"cargo.lock": "toml", "poetry.lock": "toml", "pipfile": "toml", ".clangd": "yaml", ".clang-format": "yaml", ".clang-tidy": "yaml",
}

var byExtension = map[string]string{
	"bash": "shellscript", "c": "c", "cc": "cpp", "cjs": "javascript", "clj": "clojure", "cmake": "cmake", "cpp": "cpp", "cs": "csharp",
	"css": "css", "cts": "typescript", "cxx": "cpp", "dart": "dart", "ex": "elixir", "exs": "elixir", "go": "go", "h": "c", "hh": "cpp",
	"hpp": "cpp", "hs": "haskell", "html": "html", "hxx": "cpp", "java": "java", "js": "javascript", "json": "json", "jsonc": "jsonc",
	"jsx": "javascriptreact", "ksh": "shellscript", "kt": "kotlin", "lua": "lua", "m": "objective-c", "md": "markdown", "mjs": "javascript",
	"mm": "objective-cpp", "mts": "typescript", "php": "php", "pl": "perl", "py": "python", "pyi": "python", "pyw": "python", "r": "r",
	"rb": "ruby", "rs": "rust", "scala": "scala", "scss": "scss", "sh": "shellscript", "sql": "sql", "swift": "swift", "tex": "latex",
	"toml": "toml", "ts": "typescript", "tsx": "typescriptreact", "vue": "vue", "xml": "xml", "yaml": "yaml", "yml": "yaml", "zig": "zig",
	"zsh": "shellscript",
}

// ShebangBytes is how much of a text its first line is looked for in.
const ShebangBytes = 256

// byShebang goes by the program that a script's first line names.
func byShebang(text string) string {
	text = strings.TrimPrefix(text[:min(len(text), ShebangBytes)], "\ufeff")
	line, isScript := strings.CutPrefix(text, "#!")
	if !isScript {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	for i, word := range strings.Fields(line) {
		program := path.Base(word)
		if i > 0 && (strings.HasPrefix(word, "-") || strings.Contains(word, "=")) || program == "env" {
			continue // env, what it is told, and what it sets
		}
		return byProgram[strings.TrimRight(program, "0123456789.")]
	}
	return ""
}

var byProgram = map[string]string{
	"sh": "shellscript", "bash": "shellscript", "dash": "shellscript", "ash": "shellscript", "ksh": "shellscript", "mksh": "shellscript", "zsh": "shellscript",
	"python": "python", "pypy": "python", "uv": "python", "node": "javascript", "nodejs": "javascript", "bun": "typescript", "deno": "typescript",
	"tsx": "typescript", "ts-node": "typescript", "lua": "lua", "luajit": "lua", "perl": "perl", "ruby": "ruby", "php": "php", "rscript": "r", "make": "makefile",
}
