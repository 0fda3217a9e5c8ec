package git_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/git"
)

// logged is a log in the words of logFormat.
func logged(commits []git.LogCommit) string {
	var out strings.Builder
	for _, c := range commits {
		date, err := time.Parse(time.RFC3339, c.Date)
		if err != nil {
			return "a bad date: " + c.Date
		}
		_, offset := date.Zone()
		sign := '+'
		if offset < 0 {
			sign, offset = '-', -offset
		}
		fmt.Fprintf(&out, "%s %s <%s> <%s> %d %c%02d%02d [%s] (%s)\n%s\x01", c.Hash, c.Short, c.Author.Name, c.Author.Email,
			date.Unix(), sign, offset/3600, offset/60%60, strings.Join(c.Parents, " "), c.Subject, c.Body)
	}
	return out.String()
}

const logFormat = "--format=%H %h <%an> <%ae> %at %ad [%P] (%s)%n%b%x01"

// gitLog is what git log says to the same question.
func (r *rig) gitLog(o git.LogOptions) string {
	r.Helper()
	ref := o.Ref
	if ref == "" {
		ref = "HEAD"
	}
	args := []string{"log", "--no-show-signature", "--no-mailmap", "-n", strconv.Itoa(o.Limit), "--date=format:%z", logFormat, ref, "--"}
	if o.Limited {
		args = append(args, o.Dir)
	}
	return trimmedLog(r.git(args...))
}

// trimmedLog is a log without the empty lines between its messages.
func trimmedLog(out string) string {
	var trimmed strings.Builder
	for c := range strings.SplitSeq(out, "\x01") {
		if c = strings.TrimLeft(c, "\n"); c != "" {
			head, body, _ := strings.Cut(c, "\n")
			trimmed.WriteString(head + "\n" + strings.TrimRight(body, "\n") + "\x01")
		}
	}
	return trimmed.String()
}

// sameLog checks that Log says what git log says.
func (r *rig) sameLog(o git.LogOptions) []git.LogCommit {
	r.Helper()
	if o.Dir == "" {
		o.Dir = r.Dir
	}
	if o.Limit == 0 {
		o.Limit = 1000
	}
	want := r.gitLog(o)
	got, err := reader.Log(context.Background(), r.root, o)
	if _, gone := os.Lstat(o.Dir); gone != nil && fault.CodeOf(err) == fault.FileNotFound {
		err = nil
	}
	if err != nil {
		r.Fatalf("%+v: %v", o, err)
	}
	if logged(got) != want {
		r.Fatalf("%+v: %s", o, apart(logged(got), want))
	}
	return got
}

// in is an option for the history of one path.
func (r *rig) in(name string) git.LogOptions { return git.LogOptions{Dir: r.Abs(name), Limited: true} }

// commitAt commits all with a time of its own, in seconds.
func (r *rig) commitAt(seconds int, more ...string) {
	r.Helper()
	at := fmt.Sprintf("@%d +0130", seconds)
	r.Setenv("GIT_AUTHOR_DATE", at)
	r.Setenv("GIT_COMMITTER_DATE", at)
	r.git("add", "-A")
	r.git(append([]string{"commit", "-q", "--allow-empty", "-m", fmt.Sprint("at ", seconds)}, more...)...)
}

func TestLogOfSimpleHistory(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.Write("dir/b", "1\n")
	r.commitAt(100)
	r.Write("a", "2\n")
	r.commitAt(200)
	r.Write("dir/b", "2\n")
	r.commitAt(300)
	r.commitAt(300) // nothing changed, at the same time
	r.Remove("a")
	r.commitAt(250) // the clock went back
	r.Write("a", "2\n")
	r.Must(os.Chmod(r.Abs("a"), 0o755))
	r.commitAt(400)
	r.Remove("dir")
	r.Write("dir", "a file now\n")
	r.commitAt(500)
	check := func() {
		t.Helper()
		r.sameLog(git.LogOptions{})
		r.sameLog(git.LogOptions{Limit: 2})
		r.sameLog(git.LogOptions{Ref: "HEAD~3"})
		for _, name := range []string{"a", "dir", "dir/b", "di", "a/x", "no/such"} {
			r.sameLog(r.in(name))
		}
		if got := r.sameLog(r.in("a")); len(got) != 4 {
			t.Errorf("a has %d commits", len(got))
		}
	}
	check()
	r.git("gc", "-q")
	check()
	r.git("commit-graph", "write", "--reachable", "--changed-paths")
	check()
	r.Write("a", "3\n")
	r.commitAt(600)
	if got := r.sameLog(r.in("a")); len(got) != 5 {
		t.Errorf("a has %d commits", len(got))
	}
	r.git("checkout", "-q", "--detach", "HEAD~2")
	check()
}

func TestLogMessages(t *testing.T) {
	r := newRig(t)
	tree := strings.TrimSpace(r.git("write-tree"))
	parent := ""
	for i, c := range []struct{ author, header, message string }{
		{"A U Thor <a@example.com> 1112911993 -0700", "", "subject\n\nbody\n"},
		{"A <a@example.com> 1112911993 +0545", "", "\n\n  \nfirst\nsecond \nthird\t\n \n\nbody\n\nmore  \n\n\n"},
		{"A <a@example.com> 0 +0000", "", ""},
		{"A <a@example.com> 5 +0000", "", "no line end"},
		{"Fran\xe7ois <f@example.com> 5 +0000", "encoding ISO-8859-1\n", "caf\xe9\n\n\xfcber\n"},
		{"J <j@example.com> 5 +0000", "encoding Shift_JIS\n", "\x93\xfa\x96\x7b\n"},
		{"K <k@example.com> 5 +0000", "encoding KOI8-R\n", "\xf0\xf2\n"},
		{"U <u@example.com> 5 +0000", "encoding UTF-8\n", "grüße\n\n日本\n"},
		{" <> 5 +0000", "", "no name\n"},
		{"S <s@example.com> 5 +0000", "gpgsig -----BEGIN PGP SIGNATURE-----\n \n encoding ISO-8859-1\n =abcd\n -----END PGP SIGNATURE-----\n", "sïgned\n"},
		{"S <s@example.com> 5 +0000", "mergetag object 1234\n type commit\n tag x\n tagger T <t@x> 1 +0000\n \n text\n", "merge of a tag\n"},
		{"X <x@example.com> 5 +0000", "", "windows\r\n\r\nline ends\r\n"},
		{"X <x@example.com> 99999999999 +0000", "", "far away\n"},
	} {
		text := "tree " + tree + "\n" + parent + "author " + c.author + "\ncommitter C <c@example.com> " + strconv.Itoa(100+i) + " +0000\n" + c.header + "\n" + c.message
		parent = "parent " + r.commitOf(text) + "\n"
	}
	got := r.sameLog(git.LogOptions{})
	if len(got) != 13 || got[8].Subject != "café" || got[8].Author.Name != "François" {
		t.Errorf("got %+v", got)
	}
}

// What git cannot say in UTF-8, nor can Log.
func TestLogOfBadText(t *testing.T) {
	r := newRig(t)
	tree := strings.TrimSpace(r.git("write-tree"))
	r.commitOf("tree " + tree + "\nauthor \xff <a@x> nonsense\ncommitter C <c@x> \nencoding no-such\n\n\xe9 \x1b[31m\n\nb\x00ody\n")
	got, err := reader.Log(context.Background(), r.root, git.LogOptions{Dir: r.Dir, Limit: 10})
	r.Must(err)
	if c := got[0]; c.Author.Email != "a@x" || c.Date != "1970-01-01T00:00:00+00:00" || c.Subject != "\ufffd \x1b[31m" || c.Body != "b" {
		t.Errorf("got %+q", c)
	}
}

func TestLogRefs(t *testing.T) {
	r := newRig(t)
	for i := range 4 {
		r.Write("a", strconv.Itoa(i))
		r.commitAt(100 + i)
	}
	r.git("tag", "-a", "v1", "-m", "tagged", "HEAD~1")
	r.git("tag", "-a", "v1-again", "-m", "tag of a tag", "v1")
	r.git("checkout", "-q", "-b", "topic", "HEAD~2")
	r.Write("b", "1")
	r.commitAt(200)
	r.git("merge", "-q", "--no-edit", "main")
	r.git("branch", "-q", "--set-upstream-to=main")
	short := r.git("rev-parse", "--short=6", "HEAD")
	for _, ref := range []string{"HEAD", "@", "main", "topic~1", "topic^2", "topic^2~1", "v1", "v1^{}", "v1~1", "v1-again^{commit}", "@{u}", strings.TrimSpace(short), "v1-again", "heads/main", "refs/tags/v1", "HEAD^0", "main^^", "v1-0-g" + strings.TrimSpace(short)} {
		r.sameLog(git.LogOptions{Ref: ref})
	}
}

func TestLogFaults(t *testing.T) {
	r := newRig(t)
	log := func(o git.LogOptions) error {
		if o.Dir == "" {
			o.Dir = r.Dir
		}
		o.Limit = 10
		_, err := reader.Log(context.Background(), r.root, o)
		return err
	}
	asFault(t, log(git.LogOptions{}), fault.GitError, "no commit yet")
	asFault(t, log(git.LogOptions{Ref: "HEAD"}), fault.GitError, "HEAD names no commit", "no commit yet")
	r.Write("a", "1\n")
	r.commit()
	asFault(t, log(git.LogOptions{Ref: "nonsense"}), fault.GitError, "nonsense names no commit")
	asFault(t, log(git.LogOptions{Ref: "HEAD:a"}), fault.GitError, "names no commit")
	asFault(t, log(r.in("never")), fault.FileNotFound, "never")
	asFault(t, log(git.LogOptions{Dir: filepath.Dir(r.Dir)}), fault.PathOutsideWorkspace)
	asFault(t, log(git.LogOptions{MaxBytes: 1}), fault.FileTooLarge, "ask for fewer")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := reader.Log(ctx, r.root, git.LogOptions{Dir: r.Dir, Limit: 1})
	asFault(t, err, fault.Cancelled)
}

// TestALogIsBounded whatever a commit is long in.
func TestALogIsBounded(t *testing.T) {
	r := newRig(t)
	r.Write("a", "1\n")
	r.commit()
	tree, parent := strings.TrimSpace(r.git("rev-parse", "HEAD^{tree}")), strings.TrimSpace(r.git("rev-parse", "HEAD"))
	const limit = 64 << 10
	for name, text := range map[string]string{
		"parents": "tree " + tree + "\n" + strings.Repeat("parent "+parent+"\n", limit/40) + "author A <a@x> 1 +0000\ncommitter C <c@x> 1 +0000\n\nm\n",
		"escapes": "tree " + tree + "\nauthor A <a@x> 1 +0000\ncommitter C <c@x> 1 +0000\n\n" + strings.Repeat("\x01", limit/4) + "\n",
	} {
		_, err := reader.Log(context.Background(), r.root, git.LogOptions{Dir: r.Dir, Ref: r.commitOf(text), Limit: 1, MaxBytes: limit})
		if fault.CodeOf(err) != fault.FileTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}
