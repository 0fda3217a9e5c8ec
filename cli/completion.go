package cli

import (
	"embed"
	"flag"
	"fmt"
	"slices"
	"strings"

	"pillion/agents/install"
	"pillion/terminal"
	"pillion/tools"
	_ "pillion/tools/all"
)

const completionHelp = `usage: pillion completion SHELL

Prints the completion of this command line for a shell: bash, zsh or fish.

  bash    source <(pillion completion bash), in ~/.bashrc
  zsh     source <(pillion completion zsh), in ~/.zshrc, after compinit
  fish    pillion completion fish | source, in ~/.config/fish/config.fish
`

var shells = []string{"bash", "zsh", "fish"}

//go:embed completion
var scripts embed.FS

// printCompletion prints a script that asks `pillion __complete` at each Tab.
func printCompletion(args []string) error {
	operands, err := parse(flag.NewFlagSet("pillion completion", flag.ContinueOnError), completionHelp, [2]int{1, 1}, args)
	if err != nil {
		return err
	}
	if !slices.Contains(shells, operands[0]) {
		return misuse("pillion completion", "the shell must be bash, zsh or fish")
	}
	script, err := scripts.ReadFile("completion/pillion." + operands[0])
	if err != nil {
		return err
	}
	fmt.Fprint(terminal.Stdout, string(script))
	return nil
}

// completer is the command that the shells' scripts run.
const completer = "__complete"

// folders as an answer leaves it to the shell to complete names of folders.
const folders = ":folders"

// complete prints what the last word can be, the others being there already: a line for
// each, with what it means behind a tab.
func complete(words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	for _, c := range candidates(words[:len(words)-1], last) {
		if strings.HasPrefix(c.name, last) || c.name == folders {
			fmt.Fprintln(terminal.Stdout, c.name+"\t"+c.text)
		}
	}
}

func candidates(before []string, last string) (all []item) {
	c, rest, ok := find(before)
	switch {
	case len(before) == 0:
		return commandItems()
	case !ok:
		return nil
	}
	m := c.read()
	operands := 0
	for i, word := range rest {
		o := m.option(word)
		if o != nil && o.value != "" && i == len(rest)-1 {
			return o.values()
		}
		if o == nil && (i == 0 || m.option(rest[i-1]).takesNone()) {
			operands++
		}
	}
	if strings.HasPrefix(last, "-") {
		for _, o := range m.options() {
			for _, name := range o.names {
				all = append(all, item{name, o.text})
			}
		}
		return all
	}
	if operands > 0 {
		return nil
	}
	return append(m.words(c.name), m.operands()...)
}

func commandItems() (all []item) {
	for _, c := range commands() {
		if !strings.Contains(c.name, " ") {
			all = append(all, item{c.name, c.about})
		}
	}
	return all
}

func (m manual) option(word string) *option {
	for _, o := range m.options() {
		if slices.Contains(o.names, word) {
			return &o
		}
	}
	return nil
}

func (o *option) takesNone() bool { return o == nil || o.value == "" }

func (o *option) values() []item {
	switch {
	case o.value == "FOLDER":
		return []item{{folders, ""}}
	case slices.Contains(o.names, "--dialect"):
		return []item{{"coder", ""}, {"qwen", ""}}
	}
	return nil
}

// words are those that can follow the command's name: commands of their own, and those
// that the usage has, such as the journal's revert.
func (m manual) words(name string) (all []item) {
	for _, c := range commands() {
		if word, ok := strings.CutPrefix(c.name, name+" "); ok {
			all = append(all, item{word, c.about})
		}
	}
	for _, line := range m.usage {
		rest, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "pillion "+name)), " ")
		word := strings.Trim(rest, "[]")
		if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
			all = append(all, item{name: word})
		}
	}
	return all
}

// operands are what can stand for the words in capitals.
func (m manual) operands() (all []item) {
	for _, word := range slices.Compact(slices.Sorted(strings.FieldsSeq(strings.Join(m.usage, " ")))) {
		switch strings.Trim(word, "[]") {
		case "TOOL":
			for _, d := range (&tools.Registry{}).Definitions() {
				all = append(all, item{d.Name, firstSentence(d.Description)})
			}
		case "AGENT":
			for _, id := range install.Agents() {
				all = append(all, item{id, install.Name(id)})
			}
		case "SHELL":
			for _, shell := range shells {
				all = append(all, item{name: shell})
			}
		case "COMMAND":
			all = append(all, commandItems()...)
		}
	}
	return all
}
