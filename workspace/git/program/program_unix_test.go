//go:build unix

package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pillion/internal/testrig/machine"
)

func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
		"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.com",
	} {
		os.Setenv(name, value)
	}
	os.Exit(m.Run())
}

// lines are each command that only reads, as agents give it.
var lines = strings.Split(`status
status --short --branch
status -v -v
diff
diff --cached
diff HEAD
log -p -3
log -p -m
log -L1,1:a.txt
show
show HEAD:a.txt
blame -s a.txt
shortlog HEAD
describe --all --always
rev-parse HEAD
rev-list --objects HEAD
ls-files -m -o
ls-tree HEAD
cat-file -p HEAD
merge-base HEAD HEAD~1
name-rev HEAD
branch -avv`, "\n")

// repository is one with a program that leaves a mark.
type repository struct {
	machine.Folder
	mark, evil string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	base := machine.NewFolder(t)
	r := &repository{Folder: machine.Folder{TB: t, Dir: base.Abs("work")}, mark: base.Abs("mark")}
	r.Must(os.Mkdir(r.Dir, 0o755))
	r.evil = r.program("evil", "echo x >>"+r.mark+"\ncat \"$@\"\n")
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repository) program(name, text string) string {
	file := filepath.Join(filepath.Dir(r.Dir), name)
	r.Must(os.MkdirAll(filepath.Dir(file), 0o755))
	r.Must(os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755))
	return file
}

func (r *repository) git(args ...string) string {
	r.Helper()
	return r.fed("", args...)
}

func (r *repository) fed(input string, args ...string) string {
	r.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = r.Dir, strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit with a signature, which nobody has checked.
func (r *repository) commit(subject string, parents ...string) {
	r.Helper()
	r.git("add", "-A")
	text := "tree " + r.git("write-tree") + "\n"
	for _, parent := range parents {
		text += "parent " + r.git("rev-parse", parent) + "\n"
	}
	text += "author A <a@example.com> 1700000000 +0000\ncommitter C <c@example.com> 1700000000 +0000\n" +
		"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n" + subject + "\n"
	r.git("reset", "-q", r.fed(text, "hash-object", "-t", "commit", "-w", "--stdin"))
}

// history has all that the lines come to: a merge with a conflict, changes in the index and
// in files, attributes that choose the drivers e and a=b.
func (r *repository) history() *repository {
	r.Write(".gitattributes", "a.txt filter=e diff=e merge=e\nb.txt filter=a=b diff=a=b\n")
	r.Write("a.txt", "one\n")
	r.Write("b.txt", "one\n")
	r.Write("c.txt", "one\n")
	r.commit("first")
	r.git("branch", "side")
	r.Write("a.txt", "two\n")
	r.commit("second", "HEAD")
	r.git("checkout", "-q", "side")
	r.Write("a.txt", "three\n")
	r.commit("third", "HEAD")
	r.git("checkout", "-q", "main")
	r.Write("a.txt", "four\n")
	r.commit("merged", "main", "side")
	r.Write("b.txt", "two\n")
	r.git("add", "b.txt")
	r.Write("a.txt", "five\n")
	r.Write("b.txt", "three\n")
	r.Must(os.Chtimes(filepath.Join(r.Dir, "c.txt"), time.Unix(1, 0), time.Unix(1, 0))) // diff notes in the index that it is the same
	return r
}

// set configures what is written as key=value, EVIL being the program.
func (r *repository) set(settings ...string) {
	r.Helper()
	for _, s := range settings {
		at := strings.LastIndexByte(s, '=')
		r.git("config", "--add", s[:at], strings.ReplaceAll(s[at+1:], "EVIL", r.evil))
	}
}

// ran says whether the program has run, and forgets it.
func (r *repository) ran() bool {
	err := os.Remove(r.mark)
	if err != nil && !os.IsNotExist(err) {
		r.Fatal(err)
	}
	return err == nil
}

func (r *repository) plainly(line string) string {
	cmd := exec.Command("git", strings.Fields(line)...)
	cmd.Dir = r.Dir
	return r.output(cmd)
}

func (r *repository) reading(line string, env ...string) string {
	r.Helper()
	cmd, err := Reading(r.Context(), git(r.TB), r.Dir, append(os.Environ(), env...), strings.Fields(line)...)
	r.Must(err)
	return r.output(cmd)
}

// output is what was printed, with how it ended.
func (r *repository) output(cmd *exec.Cmd) string {
	out, err := cmd.Output()
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}

func git(t testing.TB) string {
	t.Helper()
	file, err := exec.LookPath("git")
	machine.Must(t, err)
	return file
}

// TestReadingRunsNothing: with each key, git itself runs the program by one line at least,
// and Reading by none; it prints what git prints where the key is not set.
func TestReadingRunsNothing(t *testing.T) {
	t.Parallel()
	harmless := newRepository(t).history()
	want := map[string]string{}
	for _, line := range lines {
		want[line] = harmless.plainly(line)
		if got := harmless.reading(line); got != want[line] {
			t.Errorf("%s: %s, git itself prints %s", line, got, want[line])
		}
		if strings.Contains(want[line], "exit status") {
			t.Fatalf("%s: %s", line, want[line])
		}
	}
	for _, settings := range []string{
		"core.fsmonitor=EVIL", "core.hooksPath=../hooks", "diff.external=EVIL", "diff.e.command=EVIL", "diff.e.textconv=EVIL", "diff.a=b.textconv=EVIL", "diff.e.command=EVIL diff.e.textconv=EVIL",
		"filter.e.clean=EVIL", "filter.e.process=EVIL", "filter.a=b.clean=EVIL", "filter.e.clean=EVIL filter.e.required=true", "filter.e.process=EVIL filter.e.required=true",
		"gpg.program=EVIL log.showSignature=true", "gpg.openpgp.program=EVIL log.showSignature=true", "merge.e.driver=EVIL log.diffMerges=remerge",
		"gpg.program=EVIL format.pretty=%G?", "gpg.program=EVIL format.pretty=odd pretty.odd=%G?", "include.path=../../included", "extensions.worktreeConfig=true",
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t).history()
			r.program("hooks/post-index-change", r.evil+"\n")
			included := "[core]\n\tfsmonitor = " + r.evil + "\n[filter \"e\"]\n\tclean = " + r.evil + "\n"
			r.Must(os.WriteFile(filepath.Join(filepath.Dir(r.Dir), "included"), []byte(included), 0o600))
			if strings.HasPrefix(settings, "extensions") {
				r.git("config", "core.repositoryFormatVersion", "1")
				r.Write(".git/config.worktree", included)
			}
			r.set(strings.Fields(settings)...)
			for _, line := range lines {
				got := r.reading(line)
				fails := strings.Contains(settings, "textconv") && line == "status -v -v" // for which there is no option
				if got != want[line] && !strings.Contains(settings, "format.pretty") && !fails {
					t.Errorf("%s: %s, without the key git prints %s", line, got, want[line])
				}
				if r.ran() {
					t.Errorf("%s runs the program", line)
				}
			}
			r.Must(os.Chtimes(filepath.Join(r.Dir, "c.txt"), time.Unix(2, 0), time.Unix(2, 0))) // there is something to note in the index again
			if !slices.ContainsFunc(lines, func(line string) bool { r.plainly(line); return r.ran() }) {
				t.Error("git does not run the program either: this shows nothing")
			}
		})
	}
}

// TestTheUsersOwnRuns: what the repository says in place of the user's own configuration is
// what does not count.
func TestTheUsersOwnRuns(t *testing.T) {
	t.Parallel()
	r := newRepository(t).history()
	own := r.program("own", "tr a-z A-Z\n")
	global := filepath.Join(filepath.Dir(r.Dir), "global")
	r.Must(os.WriteFile(global, []byte("[filter \"e\"]\n\tclean = "+own+"\n\tsmudge = cat\n\trequired\n[diff \"e\"]\n\ttextconv = "+own+" <\n"), 0o600))
	r.set("filter.e.clean=EVIL", "filter.e.required=false", "diff.e.textconv=EVIL")
	if got := r.reading("diff a.txt", "GIT_CONFIG_GLOBAL="+global); !strings.Contains(got, "+FIVE") || r.ran() {
		t.Errorf("it printed %s", got)
	}
	// Not so what checks signatures.
	r.set("format.pretty=%G?", "merge.e.driver=EVIL")
	if got := r.reading("log -1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=gpg.program", "GIT_CONFIG_VALUE_0="+r.evil); r.ran() {
		t.Errorf("it printed %s", got)
	}
	// Nor the repository's drivers where the user merges.
	if got := r.reading("log -p -m", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=log.diffMerges", "GIT_CONFIG_VALUE_0=remerge"); strings.Contains(got, "signal") || r.ran() {
		t.Errorf("it printed %s", got)
	}
	// And what the environment says, which goes before a file.
	if got := r.reading("blame -s a.txt", "GIT_CONFIG_GLOBAL="+global, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=diff.e.textconv", "GIT_CONFIG_VALUE_0=echo env #"); !strings.HasSuffix(got, " ENV\n") || r.ran() {
		t.Errorf("it printed %s", got)
	}
}

// TestSubmodulesStayShut: a submodule's configuration is its own, and git goes into one by
// what the repository around it says.
func TestSubmodulesStayShut(t *testing.T) {
	t.Parallel()
	for settings, line := range map[string]string{"core.bare=false": "status", "core.logAllRefUpdates=true": "diff", "diff.submodule=diff": "log -p", "status.submoduleSummary=true": "status --ignore-submodules=dirty"} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			inner := newRepository(t).history()
			inner.git("stash", "-q")
			r.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.Dir, "sub")
			r.Write("top", "one\n")
			r.commit("first")
			sub := &repository{machine.Folder{TB: t, Dir: r.Abs("sub")}, r.mark, r.evil}
			sub.Write("a.txt", "six\n")
			sub.commit("sixth", "HEAD")
			r.commit("second", "HEAD")
			sub.commit("seventh", "HEAD")
			r.git("add", "sub")
			r.Write("top", "eno\n")
			sub.Write("a.txt", "xis\n") // of the same size, so that git looks into it
			r.set(settings)
			sub.set("filter.e.clean=EVIL", "diff.e.textconv=EVIL", "gpg.program=EVIL", "log.showSignature=true")
			for _, line := range append(slices.Clone(lines[:8]), "ls-files -m -o", "describe --all --always") {
				if got := r.reading(line); r.ran() || strings.Contains(got, "Submodule changes") {
					t.Errorf("%s runs the program, or printed %s", line, got)
				}
			}
			if r.reading("describe --all --dirty"); !r.ran() {
				t.Error("describe --dirty may be let through: it goes into no submodule")
			}
			if r.plainly(line); !r.ran() {
				t.Errorf("git %s does not run the program either: this shows nothing", line)
			}
		})
	}
}

// TestNothingIsFetched that a partial clone lacks, with a git that knows GIT_NO_LAZY_FETCH
// and as with an older one, whatever the environment allows it to fetch.
func TestNothingIsFetched(t *testing.T) {
	t.Parallel()
	from := newRepository(t).history()
	from.git("config", "uploadpack.allowFilter", "true")
	for _, settings := range []string{
		"remote.origin.uploadpack=EVIL protocol.file.allow=always",
		"remote.origin.url=ext::EVIL protocol.ext.allow=always",
		"remote.origin.url=ssh://x/y core.sshCommand=EVIL protocol.ssh.allow=always",
		"remote.origin.url=git://x/y core.gitProxy=EVIL",
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.program("evil", "echo x >>"+r.mark+"\n")
			r.git("clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+from.Dir, "clone")
			r.Dir = filepath.Join(r.Dir, "clone")
			for _, s := range strings.Fields(settings) {
				key, _, _ := strings.Cut(s, "=")
				_ = exec.Command("git", "-C", r.Dir, "config", "--unset-all", key).Run() //nolint:errcheck // it may not be set
			}
			r.set(strings.Fields(settings)...)
			const line = "show HEAD:a.txt"
			cmd, err := Reading(t.Context(), git(t), r.Dir, append(os.Environ(), "GIT_ALLOW_PROTOCOL=file:ext:ssh:git"), strings.Fields(line)...)
			r.Must(err)
			older := *cmd
			older.Env = slices.DeleteFunc(slices.Clone(cmd.Env), func(entry string) bool { return strings.HasPrefix(entry, "GIT_NO_LAZY_FETCH") })
			for _, cmd := range []*exec.Cmd{cmd, &older} {
				if got := r.output(cmd); strings.Contains(got, "four") || r.ran() {
					t.Errorf("it printed %s", got)
				}
			}
			if r.plainly(line); !r.ran() {
				t.Error("git does not run the program either: this shows nothing")
			}
		})
	}
}

// TestWhatIsNotRead: a configuration that does not end or is no text, a git that does not
// understand what it is told, and what is no reading.
func TestWhatIsNotRead(t *testing.T) {
	r := newRepository(t)
	pipe := filepath.Join(filepath.Dir(r.Dir), "pipe")
	r.Must(syscall.Mkfifo(pipe, 0o600))
	refused := func(file, why string, args ...string) {
		t.Helper()
		cmd, err := Reading(t.Context(), file, r.Dir, os.Environ(), args...)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, %v; want %s", cmd, err, why)
		}
	}
	refused(git(t), "not known to read", "commit", "-m", "x")
	refused(git(t), "not known to read", "-C", "x", "status")
	refused(git(t), "not known to read")
	refused(r.program("old", `printf 'global\0user.name\nx\0'`), "git 2.31", "status")
	refused(r.program("older", `echo 'error: unknown option show-scope' >&2; exit 129`), "unknown option", "status")
	refused(r.program("endless", "yes\n"), "more than", "status")
	secret := filepath.Join(filepath.Dir(r.Dir), "token")
	r.Must(os.WriteFile(secret, []byte("deadbeef3f9a2bb1c0de\n"), 0o600))
	r.set("include.path=../../token")
	refused(git(t), "in no section", "status")
	if _, err := Reading(t.Context(), git(t), r.Dir, os.Environ(), "status"); strings.Contains(err.Error(), "deadbeef") {
		t.Error(err)
	}
	r = newRepository(t)
	r.set("include.path=/dev/zero")
	refused(git(t), "cannot be read", "status")
	r = newRepository(t)
	r.git("config", "include.path", pipe)
	defer func(was time.Duration) { ListWithin = was }(ListWithin)
	ListWithin = 20 * time.Millisecond // the pipe never ends
	refused(git(t), "cannot be read within", "status")
}

// TestBlameReadsNoOtherFile: git would print a line of a file that lists no revisions.
func TestBlameReadsNoOtherFile(t *testing.T) {
	t.Parallel()
	r := newRepository(t).history()
	want := r.reading("blame -s a.txt")
	r.Write(".env", "SECRET=1\n")
	r.git("config", "blame.ignoreRevsFile", ".env")
	if got := r.reading("blame -s a.txt"); got != want || strings.Contains(got, "SECRET") {
		t.Errorf("it printed %s, want %s", got, want)
	}
	if plain := r.plainly("blame -s a.txt"); !strings.Contains(plain, "exit status") { // the line is in what it says of that
		t.Errorf("git itself prints %s: this shows nothing", plain)
	}
}

// named looks for keys that may name a program.
var named = regexp.MustCompile(`(?i)command|program|cmd|helper|hook|driver|pager|editor|proxy|\.clean$|smudge|process|textconv|external|fsmonitor|browser|viewer|tool|alias|vcs|packobjects|receivepack|\.uploadpack$|askpass|filter|exec|tunnel|smtpserver|backend|\.path$`)

// harmless are keys that look as if they named one, and why they are left as they are.
var harmless = map[string]string{
	"color.pager completion.commands commitGraph.maxNewFilters clone.filterSubmodules notes.rewrite.<command> advice.ignoredHook advice.waitingForEditor":  "what something looks like, counts or is called",
	"core.fsmonitorHookVersion fsmonitor.allowRemote fsmonitor.socketDir":                                                                                  "core.fsmonitor is off",
	"diff.<driver>.binary diff.<driver>.cachetextconv diff.<driver>.wordRegex diff.<driver>.xfuncname diff.<driver>.algorithm diff.<driver>.trustExitCode": "of a driver, and no program",
	"merge.<driver>.name merge.<driver>.recursive": "likewise",
	"diff.tool diff.guitool difftool.prompt difftool.trustExitCode difftool.guiDefault merge.tool merge.guitool mergetool.prompt mergetool.hideResolved mergetool.keepBackup mergetool.keepTemporaries mergetool.meld.hasOutput mergetool.meld.useAutoMerge mergetool.vimdiff.layout mergetool.writeToTemp mergetool.<tool>.hideResolved mergetool.<tool>.layout mergetool.<tool>.trustExitCode mergetool.<variant>.layout mergetool.guiDefault": "names of tools, which git difftool and git mergetool run",
	"guitool.<name>.argPrompt guitool.<name>.confirm guitool.<name>.needsFile guitool.<name>.noConsole guitool.<name>.noRescan guitool.<name>.prompt guitool.<name>.revPrompt guitool.<name>.revUnmerged guitool.<name>.title":                                                                                                                                                                                                                   "of git gui",
	"help.browser instaweb.browser web.browser man.viewer": "for --help and instaweb, which are not among the commands",
	"http.proxy http.proxyAuthMethod http.proxySSLCAInfo http.proxySSLCert http.proxySSLCertPasswordProtected http.proxySSLKey http.sslBackend remote.<name>.proxy remote.<name>.proxyAuthMethod": "addresses and names of files, of a protocol that is off",
	"gitcvs.dbDriver sendemail.aliasFileType sendemail.aliasesFile sendemail.smtpServerOption sendemail.smtpServerPort":                                                                           "of commands that write",
	"rebase.abbreviateCommands rebase.backend rebase.rescheduleFailedExec":                                                                                                                        "of git rebase",
	"remote.<name>.partialclonefilter uploadpack.allowFilter uploadpackfilter.<filter>.allow uploadpackfilter.allow uploadpackfilter.tree.maxDepth":                                               "what is left out of a fetch",
	"include.path includeIf.<condition>.path submodule.<name>.path":                                                                                                                               "what is included is on the list, and a folder",
	"column.clean": "how names stand beside each other",
	"hook.jobs hook.<event>.jobs hook.<event>.enabled hook.<friendly-name>.enabled hook.<friendly-name>.parallel": "whether and how hooks run that are named elsewhere",
}

// TestEveryKeyOfThisGitIsKnown: git's own list of its keys has none that may name a program
// and is neither set nor known to be harmless.
func TestEveryKeyOfThisGitIsKnown(t *testing.T) {
	r := newRepository(t)
	known := map[string]bool{}
	for names := range harmless {
		for _, name := range strings.Fields(names) {
			known[name] = true
		}
	}
	placeholder := regexp.MustCompile(`<[^>]*>|\*`)
	listed := regexp.MustCompile(`(?m)^[a-zA-Z]+\..+$`).FindAllString(r.git("help", "--config"), -1)
	if len(listed) < 300 {
		t.Fatalf("git lists %d keys", len(listed))
	}
	missing := []string{"protocol.<name>.allow", "log.diffMerges", "filter.<driver>.process", "trailer.<token>.command", "hook.<name>.event", "log.showSignature"} // or named for something else
	for _, key := range append(listed, missing...) {
		name := strings.ToLower(placeholder.ReplaceAllString(key, "x"))
		settled := slices.ContainsFunc(always, func(s Setting) bool { return strings.EqualFold(s.Key, name) }) || fetches().MatchString(name)
		for _, p := range programs {
			settled = settled || p.keys().MatchString(name)
		}
		if known[key] && settled {
			t.Errorf("%s is called harmless and set all the same", key)
		}
		if !settled && !known[key] && (named.MatchString(key) || slices.Contains(missing, key)) {
			t.Errorf("%s may name a program: give it a value that runs none, or say here why it is harmless", key)
		}
	}
}
