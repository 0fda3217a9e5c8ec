package approval

import (
	"path"
	"slices"
	"strings"
)

// risk is what a command does that is hard to undo or to foresee, as it completes "a command
// that". It says what the line says; it decides nothing.
func risk(parts []CommandPart) string {
	var all []string
	first := ""
	for _, p := range parts {
		if len(p.Argv) == 0 {
			continue
		}
		program := path.Base(p.Argv[0])
		all = append(all, program)
		if first == "" {
			first = riskOf(program, p.Argv[1:])
		}
	}
	if slices.ContainsFunc(all, of("curl", "wget")) && slices.ContainsFunc(all, of("sh", "bash", "zsh", "dash", "fish", "python", "python3", "node", "perl", "ruby", "php", "eval", "source")) {
		return "downloads and runs code"
	}
	return first
}

func of(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func riskOf(program string, words []string) string {
	has := func(names ...string) bool { return slices.ContainsFunc(words, of(names...)) }
	first := ""
	if len(words) > 0 {
		first = words[0]
	}
	switch {
	case program == "sudo" || program == "su" || program == "doas":
		return "asks for an administrator's rights"
	case program == "rm" && slices.ContainsFunc(words, recursive):
		return "deletes folders"
	case program == "rm" || program == "unlink" || program == "shred" || program == "find" && has("-delete"):
		return "deletes files"
	case program == "dd" || strings.HasPrefix(program, "mkfs"):
		return "writes to a device or file as a whole"
	case program == "git" && first == "push" && has("-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d"):
		return "overwrites or deletes what was pushed"
	case program == "git" && (first == "clean" || first == "reset" && has("--hard") || first == "checkout" && has("--", "-f", "--force") || first == "restore" || first == "stash" && has("drop", "clear")):
		return "discards changes"
	case slices.Contains(installers[program], first):
		return "installs packages, which may run code of their own"
	case program == "npx" || program == "uvx" || program == "pipx" && first == "run":
		return "may download a program, and runs it"
	}
	return ""
}

func recursive(word string) bool {
	return word == "--recursive" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.ContainsAny(word, "rR")
}

var installers = map[string][]string{
	"npm": {"install", "i", "ci", "add", "update"}, "pnpm": {"install", "i", "add", "update"}, "yarn": {"install", "add", "upgrade"}, "bun": {"install", "add"},
	"pip": {"install"}, "pip3": {"install"}, "uv": {"add", "sync"}, "poetry": {"install", "add"}, "gem": {"install"}, "bundle": {"install"}, "cargo": {"install"},
	"go": {"install"}, "apt": {"install"}, "apt-get": {"install"}, "brew": {"install"}, "composer": {"install", "require"},
}
