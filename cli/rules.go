package cli

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"time"

	"pillion/config"
	"pillion/internal/fault"
	"pillion/terminal"
)

const rulesHelp = `usage: pillion rules [--json] [-C FOLDER]
       pillion rules forget [-C FOLDER] NUMBER|RULE|--all

Lists the rules of a folder, in the order in which they apply, and where each comes
from: your own settings, the project's, or an approval that you had remembered for this
workspace. The rules in your editor's settings are known only to the editor.

  forget       forget a remembered rule, by its number in the list or its text
  --all        forget all remembered rules of the folder
  -C FOLDER    the folder, instead of the current one
  --json       print the list as JSON, for programs
`

// rules lists the rules of a folder, or forgets some.
func rules(args []string) error {
	forgets := len(args) > 0 && args[0] == "forget"
	if forgets {
		args = args[1:]
	}
	flags := flag.NewFlagSet("pillion rules", flag.ContinueOnError)
	dir := flags.String("C", ".", "")
	asJSON, all := new(bool), new(bool)
	most := 0
	if forgets {
		flags.BoolVar(all, "all", false, "")
		most = 1
	} else {
		flags.BoolVar(asJSON, "json", false, "")
	}
	operands, err := parse(flags, rulesHelp, [2]int{0, most}, args)
	if err != nil {
		return err
	}
	if forgets && *all == (len(operands) == 1) {
		return misuse("pillion rules forget", "name one rule, or give --all")
	}
	at, err := settingsAt(*dir)
	if err != nil {
		return err
	}
	defer at.Close()
	switch {
	case forgets:
		err = at.forgetRules(operands)
	case *asJSON:
		err = at.printRulesAsJSON()
	default:
		at.printProblems()
		at.printRules()
	}
	return err
}

var origins = map[string]string{"user": "your settings", "project": "the project's settings", "remembered": "remembered"}

func (at *folderSettings) printRules() {
	list := at.view.List()
	fmt.Fprintf(terminal.Stdout, "Rules in %s: deny beats ask, ask beats allow.\n", fault.Quote(at.Root))
	for _, effect := range []string{"deny", "ask", "allow"} {
		for i, r := range slices.DeleteFunc(slices.Clone(list), func(r config.ListedRule) bool { return r.Effect != effect }) {
			if i == 0 {
				fmt.Fprintln(terminal.Stdout, "\n"+at.style.Bold(effect))
			}
			number, since := "", ""
			if r.Number > 0 {
				number, since = strconv.Itoa(r.Number), " "+r.Since.Local().Format(time.DateOnly)
			}
			fmt.Fprintf(terminal.Stdout, "%4s  %-40s  %s\n", number, fault.Escape(r.Rule), at.style.Dim(origins[r.From]+since))
		}
	}
	if len(list) == 0 {
		fmt.Fprintln(terminal.Stdout, "\nThere are none.")
	}
	if at.Untrusted() {
		fmt.Fprintln(terminal.Stdout, "\n"+at.style.Bold("ignored")+", because you do not trust the project's settings; see `pillion trust`")
		for _, line := range at.Loosens {
			fmt.Fprintln(terminal.Stdout, "      "+fault.Escape(line))
		}
	}
}

func (at *folderSettings) printRulesAsJSON() error {
	loosens := []string{}
	if at.Untrusted() {
		loosens = at.Loosens
	}
	return printJSON(map[string]any{
		"folder": at.Root, "rules": at.view.List(), "notCounted": loosens, "problems": append([]string{}, at.problems...),
	})
}

// forgetRules drops what is named, or everything.
func (at *folderSettings) forgetRules(operands []string) error {
	var named []string
	for _, operand := range operands {
		if n, err := strconv.Atoi(operand); err == nil && n >= 1 && n <= len(at.Remembered) {
			operand = at.Remembered[n-1].Rule
		}
		named = append(named, operand)
	}
	n, err := at.book.Forget(at.Root, named...)
	switch {
	case err != nil:
		return err
	case n == 0:
		return errors.New("no such rule is remembered here; `pillion rules` lists the rules")
	case n == 1:
		fmt.Fprintln(terminal.Stdout, at.style.Green("✓")+" Forgot 1 rule.")
	default:
		fmt.Fprintf(terminal.Stdout, "%s Forgot %d rules.\n", at.style.Green("✓"), n)
	}
	return nil
}
