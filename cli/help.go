package cli

import (
	"flag"
	"fmt"
	"regexp"
	"strings"

	"pillion/terminal"
)

const helpHelp = `usage: pillion help [--man] [COMMAND]

Explains a command, or lists the commands.

  --man    print the manual page, for man
`

// explain is `pillion help`.
func explain(args []string) error {
	flags := flag.NewFlagSet("pillion help", flag.ContinueOnError)
	man := flags.Bool("man", false, "")
	words, err := parse(flags, helpHelp, [2]int{0, 3}, args)
	if err != nil {
		return err
	}
	switch c, _, known := find(words); {
	case *man:
		printManual()
	case len(words) == 0:
		printUsage()
	case known:
		fmt.Fprint(terminal.Stdout, c.help)
	default:
		return unknown(strings.Join(words, " "))
	}
	return nil
}

func printUsage() {
	fmt.Fprint(terminal.Stdout, "pillion lets coding agents work in your project through your editor.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(terminal.Stdout, "  %-30s %s\n", strings.TrimSpace("pillion "+c.name+" "+c.operands), c.about)
	}
	fmt.Fprint(terminal.Stdout, "\nRun a command with --help for more.\n")
}

// manual is a help, read. Its usage comes first, then paragraphs, and items such as
// options, which are indented by two spaces.
type manual struct {
	usage []string
	parts []item
}

// item is an option, a word or an example with what is said of it; a paragraph has no
// name.
type item struct{ name, text string }

var itemLine = regexp.MustCompile(`^  (\S+(?: \S+)*)(?:  +(\S.*))?$`)

// read reads the help of a command.
func (c command) read() (m manual) {
	head, body, _ := strings.Cut(c.help, "\n\n")
	for line := range strings.Lines(strings.TrimPrefix(head, "usage: ")) {
		m.usage = append(m.usage, strings.TrimSpace(line))
	}
	for block := range strings.SplitSeq(body, "\n\n") {
		open := false // an item or a paragraph that goes on
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			if at := itemLine.FindStringSubmatch(line); at != nil {
				m.parts = append(m.parts, item{at[1], at[2]})
			} else if open {
				last := &m.parts[len(m.parts)-1]
				last.text = strings.TrimSpace(last.text + " " + strings.TrimSpace(line))
			} else {
				m.parts = append(m.parts, item{text: line})
			}
			open = true
		}
	}
	return m
}

// option is a flag: its spellings, the word for its value if it has one, and what the
// help says of it.
type option struct {
	names       []string
	value, text string
}

func (m manual) options() (all []option) {
	for _, p := range m.parts {
		if !strings.HasPrefix(p.name, "-") {
			continue
		}
		o := option{text: p.text}
		for _, word := range strings.FieldsFunc(p.name, func(r rune) bool { return r == ' ' || r == ',' }) {
			if strings.HasPrefix(word, "-") {
				o.names = append(o.names, word)
			} else {
				o.value = word
			}
		}
		all = append(all, o)
	}
	return all
}

// printManual prints pillion(1), of the table and the helps.
func printManual() {
	escape := strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace
	fmt.Fprintf(terminal.Stdout, ".TH PILLION 1 %q %q \"User Commands\"\n.SH NAME\npillion \\- lets coding agents work in your project through your editor\n", build.known().Date, "pillion "+version)
	fmt.Fprint(terminal.Stdout, ".SH SYNOPSIS\n.nf\n")
	for _, c := range commands() {
		fmt.Fprintln(terminal.Stdout, escape(strings.TrimSpace("pillion "+c.name+" "+c.operands)))
	}
	fmt.Fprint(terminal.Stdout, ".fi\n.SH COMMANDS\n")
	for _, c := range commands() {
		m := c.read()
		fmt.Fprintf(terminal.Stdout, ".SS pillion %s\n.nf\n%s\n.fi\n", c.name, escape(strings.Join(m.usage, "\n")))
		for _, p := range m.parts {
			if p.name == "" {
				fmt.Fprintf(terminal.Stdout, ".PP\n%s\n", escape(p.text))
			} else {
				fmt.Fprintf(terminal.Stdout, ".TP\n.B %s\n%s\n", escape(p.name), escape(p.text))
			}
		}
	}
}
