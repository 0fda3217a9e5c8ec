package cli

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestHelpHasTheFlags: completion and the manual page offer what a command's help says,
// so the help must have each flag that the command takes, and no other.
func TestHelpHasTheFlags(t *testing.T) {
	was := showHelp
	t.Cleanup(func() { showHelp = was })
	for _, c := range commands() {
		taken := map[string]bool{}
		showHelp = func(flags *flag.FlagSet, help string) {
			if help != c.help {
				t.Errorf("%s --help shows another command's help", c.name)
			}
			flags.VisitAll(func(f *flag.Flag) { taken[f.Name] = true })
		}
		m := c.read()
		c.run([]string{"--help"})
		for _, word := range m.words(c.name) {
			if _, _, other := find([]string{c.name, word.name}); !other {
				t.Fatalf("%s %s", c.name, word.name)
			}
			if sub, _, _ := find(append(strings.Fields(c.name), word.name)); sub.name == c.name {
				c.run([]string{word.name, "--help"})
			}
		}
		said := map[string]bool{}
		for _, o := range m.options() {
			for _, name := range o.names {
				said[strings.TrimLeft(name, "-")] = true
			}
			if o.text == "" {
				t.Errorf("%s: nothing is said of %v", c.name, o.names)
			}
		}
		if !maps.Equal(taken, said) {
			t.Errorf("%s takes %q, and its help has %q", c.name, slices.Sorted(maps.Keys(taken)), slices.Sorted(maps.Keys(said)))
		}
	}
}

func TestCandidates(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "serve mcp watch", // and so on
		"mcp ":                            "install",
		"mcp install ":                    "claude codex gemini opencode qwen",
		"mcp install --":                  "--project --uninstall --yes --print",
		"journal ":                        "list show revert clear",
		"rules ":                          "forget",
		"watch -C ":                       folders,
		"call --dialect ":                 "coder qwen",
		"call -C . ":                      "apply_patch apply_patch_review",
		"call read_file ":                 "",
		"completion ":                     "bash zsh fish",
		"nonsense ":                       "",
		"session --forget ":               "",
		"help ":                           "serve mcp",
		"call --yes --json read_file -C ": folders,
	} {
		words := strings.Split(line, " ")
		var names []string
		for _, c := range candidates(words[:len(words)-1], words[len(words)-1]) {
			names = append(names, c.name)
		}
		if got := strings.Join(names, " "); got != want && (want == "" || !strings.HasPrefix(got, want+" ")) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
