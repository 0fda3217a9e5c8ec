package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/workspace/git/program"
)

// Person is who made something.
type Person struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// LogCommit is a commit for people, in UTF-8.
type LogCommit struct {
	Hash    string   `json:"hash"`
	Short   string   `json:"short"` // as git abbreviates it
	Author  Person   `json:"author"`
	Date    string   `json:"date"` // when it was written, in RFC 3339 with the author's zone
	Subject string   `json:"subject"`
	Body    string   `json:"body"` // without the line ends around it
	Parents []string `json:"parents"`
}

// LogOptions says which commits Log lists.
type LogOptions struct {
	Dir      string // absolute: a file or folder of the repository, which need not exist any more
	Limited  bool   // only the commits that changed Dir, unless it is the top of the repository
	Ref      string // where to begin; "" is HEAD
	Limit    int    // how many commits at most
	MaxBytes int64  // of all commits as JSON: names, parents and escapes count as well; 0 is no limit
}

// Log lists commits, as git log does.
//
// Failures are *fault.Error: GIT_NOT_INITIALIZED where there is no repository,
// GIT_ERROR for one that cannot be read or a reference that names no commit,
// FILE_NOT_FOUND for a path that is nowhere and has no commits, FILE_TOO_LARGE
// over MaxBytes.
func (g *Reader) Log(ctx context.Context, root string, o LogOptions) ([]LogCommit, error) {
	r, err := g.open(ctx, root, o.Dir)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return builtinLog(root, o)
	}
	start, err := r.start(o.Ref)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if o.Limited {
		prefix = r.prefix
	}
	found, err := r.commits(append([]string{fmt.Sprintf("--max-count=%d", o.Limit), start}, pathspec(prefix)...)...)
	if err != nil {
		return nil, err
	}
	return o.check(found, prefix, r.location.Exists)
}

// check refuses a path that nobody knows, and commits of which there is too much to say.
func (o LogOptions) check(found []LogCommit, prefix string, exists bool) ([]LogCommit, error) {
	if len(found) == 0 && prefix != "" && !exists {
		return nil, fault.New(fault.FileNotFound, "%s is not there, and no commit of this history ever changed it", fault.Quote(prefix))
	}
	size := int64(0)
	for i, c := range found {
		text, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		if size += int64(len(text)); o.MaxBytes > 0 && size > o.MaxBytes {
			return nil, fault.New(fault.FileTooLarge, "what there is to say of the first %d commits has more than %d bytes; ask for fewer", i+1, o.MaxBytes)
		}
	}
	return found, nil
}

// start is the commit from which history is told.
func (r *repository) start(ref string) (string, error) {
	if ref != "" {
		return r.commit(ref)
	}
	head, err := r.head()
	if err == nil && head == "" {
		err = unborn()
	}
	return head, err
}

func unborn() error {
	return fault.New(fault.GitError, "the repository has no commit yet, at least not on what is checked out").
		WithHint("git.branch lists the branches; give one as ref")
}

// commitFormat are the parts of a commit, each ended by a NUL.
const commitFormat = "--format=tformat:%H%x00%h%x00%aN%x00%aE%x00%aI%x00%P%x00%s%x00%b"

const commitParts = 8

// commits are those that git log lists with these arguments. Of each part as much is held as anybody reads.
func (r *repository) commits(args ...string) ([]LogCommit, error) {
	args = append([]string{"log", "-z", "--no-show-signature", "--no-color", "--no-decorate", "--no-notes", "--encoding=UTF-8", "--no-patch", commitFormat}, args...)
	found, parts, size := []LogCommit{}, make([]string, 0, commitParts), 0
	err := r.Stream(r.ctx, program.Call{Args: args}, func(out io.Reader) error {
		for in := bufio.NewReader(out); ; {
			part, more, err := readPart(in)
			if err != nil || !more {
				return err
			}
			if size += len(part); size > mostSaid {
				return fault.New(fault.FileTooLarge, "what there is to say of the first %d commits has more than %d bytes; ask for fewer", len(found)+1, mostSaid)
			}
			if parts = append(parts, part); len(parts) == commitParts {
				found, parts = append(found, readCommit(parts)), parts[:0]
			}
		}
	})
	if err == nil && len(parts) > 0 {
		err = fault.New(fault.GitError, "git printed only a part of a commit")
	}
	return found, err
}

// mostSaid bounds what is held of all commits together.
const mostSaid = 16 << 20

// readPart reads to the next NUL, and keeps the beginning; false at the end.
func readPart(in *bufio.Reader) (part string, more bool, err error) {
	var kept []byte
	left := 0
	for {
		some, err := in.ReadSlice(0)
		data := bytes.TrimSuffix(some, []byte{0})
		fits := min(len(data), longestMessage-len(kept))
		kept, left = append(kept, data[:fits]...), left+len(data)-fits
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return "", false, nil
		case err != nil || left == 0:
			return string(kept), err == nil, err
		}
		return leftOut(string(kept), left), true, nil
	}
}

func readCommit(part []string) LogCommit {
	return LogCommit{
		Hash: part[0], Short: part[1], Author: Person{name(part[2]), name(part[3])}, Date: date(part[4]), Parents: append([]string{}, strings.Fields(part[5])...),
		Subject: valid(part[6]), Body: strings.Trim(valid(part[7]), "\n"),
	}
}

// date is git's strict form with a zone in digits, and the beginning of time where git can read none.
func date(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at = time.Unix(0, 0).UTC()
	}
	return at.Format(dateFormat)
}

// What people and agents are told of a message and of a name. Nobody writes longer ones,
// but for who means to fill somebody's memory.
const (
	longestMessage = 64 << 10
	longestName    = 1000
)

// readable is a message as far as anybody reads it.
func readable(message string) string {
	if len(message) <= longestMessage {
		return strings.ToValidUTF8(message, "\ufffd")
	}
	return leftOut(message[:longestMessage], len(message)-longestMessage)
}

func leftOut(message string, size int) string {
	return fmt.Sprintf("%s\n[%d bytes of the message are left out]\n", strings.ToValidUTF8(message, "\ufffd"), size)
}

func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

func name(text string) string {
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), longestName)], ""))
}

// whoAndWhen reads "Name <email> seconds zone".
func whoAndWhen(line string) (Person, string) {
	who, rest, _ := strings.Cut(line, "<")
	email, when, _ := strings.Cut(rest, ">")
	seconds, zone, _ := strings.Cut(strings.TrimSpace(when), " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return Person{name(who), name(email)}, ""
	}
	hours, err := strconv.Atoi(zone)
	if err != nil {
		hours = 0
	}
	minutes := hours/100*60 + hours%100
	return Person{name(who), name(email)}, time.Unix(at, 0).In(time.FixedZone("", minutes*60)).Format(dateFormat)
}

const dateFormat = "2006-01-02T15:04:05-07:00"
