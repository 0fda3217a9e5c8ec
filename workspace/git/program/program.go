// Package program starts the git program to read a repository that may be a stranger's, so
// that nothing runs which that repository's configuration names.
//
// Reading is the entry point. It has git itself list what is configured where it would run,
// which runs nothing, and gives each key that can name a program and that the repository sets
// the value that the user's own configuration has for it, or one that runs nothing. What the
// user's own configuration names runs as it always does, also where the repository's attributes
// choose it: filters, textconv, an external diff. fsmonitor, hooks, pagers and what checks
// signatures never run.
//
// Submodules have configurations of their own, of which the list has nothing. So none of these
// commands goes into one: what is modified in it is not seen, what was committed in it is. What
// a partial clone lacks is not fetched. No index is refreshed but by diff.
//
// Deliberately not here: the options that a caller may give. --ext-diff, --textconv and status -v
// come to an error where the repository names such a program; but --recurse-submodules, --submodule,
// another --ignore-submodules and describe --dirty go into submodules, and --help to a
// viewer. Nor is a configuration held that another program changes between the list and
// git's own look.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/internal/pattern"
)

// commands are those that only read, each with the option that keeps it out of submodules or files that are not its own,
// and with those that it needs where the repository names a program for textconv or for
// external diffs: there an empty name is an error.
var commands = map[string]struct{ outside, textconv, external string }{
	"status": {outside: "--ignore-submodules=dirty"},
	"diff":   {"--ignore-submodules=dirty", "--no-textconv", "--no-ext-diff"},
	"log":    {textconv: "--no-textconv"},
	"show":   {textconv: "--no-textconv"},
	"blame":  {outside: "--no-ignore-revs-file", textconv: "--no-textconv"}, // of a file that is none, git prints a line

	"shortlog": {}, "describe": {}, "rev-parse": {}, "rev-list": {}, "ls-files": {}, "ls-tree": {}, "cat-file": {}, "merge-base": {}, "name-rev": {},
	"branch": {}, // where its words only have it list
}

// Setting is a key of git's configuration, as git lists it, with a value.
type Setting struct{ Key, Value string }

// nowhere are off for all that is read or written, whoever has set them.
var nowhere = []Setting{
	{"core.fsmonitor", ""}, // an older git takes false for a program
	{"fetch.bundleURI", ""},
	{"status.submoduleSummary", "false"},
}

// always are set for what only reads, whoever has set them, for they have an effect wherever they stand: a hooks
// folder of the user's may be a name in the work tree, and a format of the repository's may
// ask for signatures to be checked.
var always = append(slices.Clone(nowhere), []Setting{
	{"core.hooksPath", os.DevNull},
	{"diff.submodule", "short"},
	{"gpg.openpgp.program", os.DevNull}, // and gpg.program, which is the same
	{"gpg.ssh.program", os.DevNull},
	{"gpg.x509.program", os.DevNull},
	{"log.showSignature", "false"},
	{"protocol.allow", "never"}, // before git 2.44 this alone keeps it from fetching what a partial clone lacks
	{"submodule.recurse", "false"},
}...)

type program struct {
	keys   pattern.Pattern
	value  string
	others bool
}

// programs are the keys that can name a program, as git lists them, and those that have it
// run one, each with a value that runs none. Where git writes it comes to run none of the others:
// its hooks may.
var programs = []program{
	{keys: keys(`filter\..*\.required`), value: "false"},
	{keys: keys(`merge\..*\.driver`), value: "exit 1"}, // of an empty one, git 2.39 dies
	{keys: keys(`gpg\.(.*\.)?program`), value: os.DevNull},
	{keys: keys(`remote\..*\.uploadpack`), value: "git-upload-pack"}, // of an empty one, git runs the repository's folder
	{keys: keys(`remote\..*\.receivepack`), value: "git-receive-pack"},
	{keys: keys(`filter\..*\.(clean|smudge|process)|hook\..*\.(command|event)|gpg\.ssh\.defaultkeycommand|credential\.(.*\.)?helper|remote\..*\.vcs|` +
		`core\.(alternaterefscommand|askpass|gitproxy|sshcommand|virtualfilesystem)|uploadpack\.packobjectshook|` + namedFiles), value: ""}, // of a file that is none of these, git prints words
	{keys: keys(`log\.diffmerges`), value: "separate", others: true}, // remerge runs merge drivers
	{keys: keys(`pager\..*`), value: "false", others: true},
	{keys: keys(`diff\.external|diff\..*\.(command|textconv)|core\.(editor|pager)|sequence\.editor|interactive\.difffilter|alias\..*|trailer\..*\.(command|cmd)|` +
		`(browser|difftool|guitool|man|mergetool)\..*\.(cmd|path)|tar\..*\.command|imap\.tunnel|instaweb\.httpd|lfs\.customtransfer\..*\.path|lfs\.extension\..*\.(clean|smudge)|sendemail\..*(cmd|smtpserver)|submodule\..*\.update`), value: "", others: true},
}

const namedFiles = `core\.(attributesfile|excludesfile)|mailmap\.file|diff\.orderfile`

var namesFile = keys(namedFiles)

// harmlessValue is a value with which a key that can name a program runs none; false: it is no such key.
func harmlessValue(key string) (string, bool) {
	for _, p := range programs {
		if p.keys().MatchString(key) {
			return p.value, true
		}
	}
	return "", false
}

// Runs says whether a key, as git lists it, can name a program that git runs.
func Runs(key string) bool {
	_, names := harmlessValue(key)
	return names && !namesFile().MatchString(key) || slices.ContainsFunc(always, func(s Setting) bool { return strings.EqualFold(s.Key, key) })
}

var (
	fetches  = keys(`protocol\..*\.allow`) // the user's own are for what they fetch themselves
	textconv = keys(`diff\..*\.textconv`)
	external = keys(`diff\.external|diff\..*\.command`)
)

func keys(form string) pattern.Pattern { return pattern.New(`^(?s:` + form + `)$`) }

// Reads says whether a command only reads.
func Reads(command string) bool {
	_, reads := commands[command]
	return reads
}

// Reading is the git program at file as a command that reads in dir, "" for where this program
// runs, with an environment such as os.Environ gives; the first of args is one of commands.
// It is to have no input, as an exec.Cmd has none: a configuration can include that. Only
// shortlog, which runs nothing by it, has use for one.
func Reading(ctx context.Context, file, dir string, env []string, args ...string) (*exec.Cmd, error) {
	if len(args) == 0 {
		args = []string{""}
	}
	command, reads := commands[args[0]]
	if !reads {
		return nil, fmt.Errorf("git %s is not known to read only", fault.Quote(args[0]))
	}
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, "GIT_ALLOW_PROTOCOL=") }) // it outweighs protocol.allow
	env = append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	git := func(settings []Setting, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, file, append([]string{"--no-pager"}, args...)...)
		cmd.Dir, cmd.Env = dir, configured(env, settings)
		return cmd
	}
	listed, err := list(git(always, "config", "--list", "-z", "--show-scope"), (*exec.Cmd).Start)
	if err != nil {
		return nil, err
	}
	settings, named := overrides(listed)
	options := []string{args[0], command.outside}
	if slices.ContainsFunc(named, textconv().MatchString) {
		options = append(options, command.textconv)
	}
	if slices.ContainsFunc(named, external().MatchString) {
		options = append(options, command.external)
	}
	options = slices.DeleteFunc(options, func(option string) bool { return option == "" })
	return git(append(settings, always...), append(options, args[1:]...)...), nil
}

// configured is the environment with settings in it. Not by -c: that takes the name of a key
// to end at the first =, which the name of a filter may have.
func configured(env []string, settings []Setting) []string {
	const counts = "GIT_CONFIG_COUNT="
	n := 0
	for _, entry := range env {
		if text, ok := strings.CutPrefix(entry, counts); ok {
			n, _ = strconv.Atoi(text) // git refuses what is no number
		}
	}
	env = slices.Clone(env)
	for _, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s.Value))
		n++
	}
	return append(env, counts+strconv.Itoa(n))
}

// The list is bounded: what a repository includes may be a pipe, or include itself.
const mostListed = 8 << 20

// ListWithin is for the list of a configuration, and Within for each other command of a Repository. Tests have less.
var (
	ListWithin = 10 * time.Second
	Within     = time.Minute
)

// list gives what git lists: scope and setting in turn, each ended by a NUL.
func list(cmd *exec.Cmd, start func(*exec.Cmd) error) (fields []string, err error) {
	var said strings.Builder
	cmd.Stderr, cmd.WaitDelay = &said, time.Second
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = start(cmd)
	}
	if err != nil {
		return nil, fmt.Errorf("git cannot be started: %w", err)
	}
	stop := func() { // the user's git may be a script, whose own git lives on and holds the pipes
		_ = cmd.Process.Kill()
		out.Close()
	}
	timer := time.AfterFunc(ListWithin, stop)
	text, err := io.ReadAll(io.LimitReader(out, mostListed+1))
	if len(text) > mostListed {
		stop()
	}
	ended := cmd.Wait()
	switch inTime := timer.Stop(); {
	case !inTime:
		return nil, fmt.Errorf("the configuration cannot be read within %s", ListWithin)
	case len(text) > mostListed:
		return nil, fmt.Errorf("the configuration has more than %d bytes", mostListed)
	case ended != nil:
		return nil, fmt.Errorf("the configuration cannot be read: %s", strings.TrimSpace(said.String()))
	case err != nil:
		return nil, err
	case !strings.Contains(string(text), "command\x00protocol.allow\n"): // as this program has set it
		return nil, fmt.Errorf("this git is too old to read an unknown repository; it takes git 2.31")
	}
	fields = strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	for i := 1; i < len(fields); i += 2 {
		if key, _, _ := strings.Cut(fields[i], "\n"); !strings.Contains(key, ".") { // git would print it
			return nil, errors.New("the configuration includes a file that is none, with a line that is in no section")
		}
	}
	return fields, nil
}

// overrides are the settings that undo what the repository says of programs, and the keys of
// those that nobody but the repository has set.
func overrides(listed []string) (settings []Setting, named []string) {
	users := map[string]string{}
	var repositorys []string
	for i := 0; i+1 < len(listed); i += 2 {
		key, value, has := strings.Cut(listed[i+1], "\n")
		if !has {
			value = "true"
		}
		switch listed[i] {
		case "system", "global", "command":
			users[key] = value
		default:
			repositorys = append(repositorys, key)
		}
		if fetches().MatchString(key) {
			settings = append(settings, Setting{key, "never"})
		}
	}
	slices.Sort(repositorys)
	for _, key := range slices.Compact(repositorys) {
		harmless, names := harmlessValue(key)
		if !names {
			continue
		}
		value, has := users[key]
		if !has {
			value, named = harmless, append(named, key)
		}
		settings = append(settings, Setting{key, value})
	}
	return settings, named
}
