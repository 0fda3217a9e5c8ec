package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/program"
)

// FileChange is what happened to one file.
type FileChange struct {
	Path      string `json:"path"` // relative to the top of the repository
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Binary    bool   `json:"binary,omitempty"`
	Status    string `json:"status"` // git's letter: A, D, M, R, T (type changed) or U (unmerged)
	OldPath   string `json:"-"`      // what a renamed file was called, else ""
	Content   string `json:"-"`      // its mode and hash afterwards; "" where it is gone, and of a file on disk
	Filtered  bool   `json:"filtered,omitempty"`
}

// DiffResult is a diff in git's format, whose paths are relative to Top, and
// its numbers.
type DiffResult struct {
	Diff         string
	FilesChanged int
	Additions    int
	Deletions    int
	Files        []FileChange
	Top          string // absolute: the folder of the repository's work tree
}

// contents tells what each file is afterwards: its mode and hash, "" of one that is gone, also by another name, and Converted of
// one that goes through a filter.
func (d DiffResult) contents() map[string]string {
	out := map[string]string{}
	for _, f := range d.Files {
		if out[f.Path] = f.Content; f.Filtered {
			out[f.Path] = Converted
		}
		if f.Status == "R" {
			out[f.OldPath] = ""
		}
	}
	return out
}

// DiffOptions says what Diff compares. With neither Staged nor Base it is the
// work tree with the index.
type DiffOptions struct {
	Dir      string // absolute: the folder or file to look at, which need not exist any more
	Staged   bool   // compare the index instead of the work tree
	Base     string // compare with this commit instead of the index or HEAD
	Context  int    // lines of context around a change
	MaxBytes int64  // the longest diff to return; 0 is no limit
}

// Diff compares two states of the repository that o.Dir lies in. The
// repository may begin below root, the workspace's absolute folder, or above
// it; only files inside o.Dir are read and shown.
//
// Failures are *fault.Error: GIT_NOT_INITIALIZED where there is no repository,
// GIT_ERROR for one that cannot be read or a base that names no commit,
// FILE_NOT_FOUND for a path that neither side knows, FILE_TOO_LARGE over
// MaxBytes, with the numbers of each file in its details.
func (g *Reader) Diff(ctx context.Context, root string, o DiffOptions) (DiffResult, error) {
	r, err := g.open(ctx, root, o.Dir)
	if err != nil {
		return DiffResult{}, err
	}
	if r == nil {
		return builtinDiff(ctx, root, o)
	}
	var between []string
	if o.Staged {
		between = append(between, "--cached")
	}
	base := ""
	if o.Base != "" {
		if base, err = r.commit(o.Base); err != nil {
			return DiffResult{}, err
		}
		between = append(between, base)
	}
	result, err := r.diff(comparison{between: between, path: r.prefix, context: o.Context, limit: o.MaxBytes})
	if err == nil && result.FilesChanged == 0 && !r.location.Exists && !r.knows(base) {
		err = fault.New(fault.FileNotFound, "%s is neither in the work tree nor in what it would be compared with", fault.Quote(r.prefix))
	}
	return result, err
}

// knows says whether the index, or a commit, has something at the path.
func (r *repository) knows(commit string) bool {
	if r.isTracked() {
		return true
	}
	if commit == "" {
		commit, _ = r.head() //nolint:errcheck // then it has nothing
	}
	if commit == "" {
		return false
	}
	out, err := r.output(append([]string{"ls-tree", "-z", "--full-tree", commit}, pathspec(r.prefix)...)...)
	return err == nil && out != ""
}

// comparison is what git diff is asked.
type comparison struct {
	between []string // --cached, commits or trees; none: the work tree with the index
	path    string   // of the repository; "" is all of it
	context int
	limit   int64 // the longest text; 0 is no limit
	// quiet leaves the text out, as does what exceeds the limit if that is no failure.
	quiet, lenient bool
	env            []string // of a draft, which has an index and objects of its own
}

// shown are the options by which what git prints can be applied by everybody, and runs nothing.
var shown = []string{
	"--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--inter-hunk-context=0", "--submodule=short", "--no-relative",
	"--ignore-submodules=dirty", "--find-renames", "--no-color-moved", "--ws-error-highlight=none", "--ita-invisible-in-index",
}

// diff has git compare. Of files that a filter would have to convert it says only that they differ.
func (r *repository) diff(c comparison) (DiffResult, error) {
	result := DiffResult{Top: r.Top}
	numbers := append([]string{"diff", "--raw", "--numstat", "-z", "--no-abbrev"}, shown...)
	if len(c.between) == 0 {
		c.between = []string{"--ours"} // of a conflict, which is compared with no other
	}
	out, err := r.outputWith(c, append(append(numbers, c.between...), pathspec(c.path)...)...)
	if err != nil {
		return result, err
	}
	if err := result.readNumbers(fields(out)); err != nil {
		return result, err
	}
	if err := r.leaveFiltered(&result, c); err != nil {
		return result, err
	}
	for _, f := range result.Files {
		result.Additions += f.Additions
		result.Deletions += f.Deletions
	}
	if result.FilesChanged = len(result.Files); result.FilesChanged == 0 || c.quiet {
		return result, nil
	}
	return result, r.text(&result, c)
}

func (r *repository) outputWith(c comparison, args ...string) (string, error) {
	return r.Output(r.ctx, c.call(args))
}

func (c comparison) call(args []string) program.Call {
	return program.Call{Args: args, Env: c.env, Writes: len(c.env) > 0}
}

// readNumbers takes what git diff --raw --numstat -z printed: all files with their states, then all with their numbers.
func (d *DiffResult) readNumbers(parts []string) error {
	at, counted := map[string]int{}, map[string]bool{}
	for i := 0; i < len(parts); i++ {
		if head, isRaw := strings.CutPrefix(parts[i], ":"); isRaw {
			part := strings.Fields(head) // modes, hashes, the state
			if len(part) != 5 || i+1 == len(parts) {
				return unexpected(parts[i])
			}
			f := FileChange{Status: part[4][:1]}
			if i++; f.Status == "R" || f.Status == "C" {
				f.OldPath = parts[i]
				i++
			}
			if i == len(parts) {
				return unexpected(head)
			}
			f.Path = parts[i]
			if f.Status != "D" && f.Status != "U" && strings.Trim(part[3], "0") != "" {
				f.Content = part[1] + " " + part[3]
			}
			if n, twice := at[f.Path]; twice { // a conflict comes with its difference to the work tree
				d.Files[n].Status = "U"
				continue
			}
			at[f.Path] = len(d.Files)
			d.Files = append(d.Files, f)
			continue
		}
		part := strings.SplitN(parts[i], "\t", 3)
		if len(part) != 3 {
			return unexpected(parts[i])
		}
		name := part[2]
		if name == "" && i+2 < len(parts) { // a rename: both names follow
			name, i = parts[i+2], i+2
		}
		n, known := at[name]
		if !known {
			return unexpected(name)
		}
		f := &d.Files[n]
		counted[name] = true
		f.Binary = part[0] == "-"
		f.Additions, _ = strconv.Atoi(part[0]) //nolint:errcheck // of a binary file it is a dash
		f.Deletions, _ = strconv.Atoi(part[1]) //nolint:errcheck // likewise
	}
	// What git took for changed by its times alone has no numbers.
	d.Files = slices.DeleteFunc(d.Files, func(f FileChange) bool { return f.Status == "M" && !counted[f.Path] })
	return nil
}

// leaveFiltered takes the numbers of files whose content is not what is stored for nothing.
func (r *repository) leaveFiltered(d *DiffResult, c comparison) error {
	if len(c.env) == 0 && (slices.Contains(c.between, "--cached") || len(c.between) == 2) {
		return nil // nothing is compared with files on disk
	}
	var names []string
	for _, f := range d.Files {
		names = append(names, f.Path)
	}
	filtered, err := r.filtered(names)
	for i := range d.Files {
		if f := &d.Files[i]; filtered[f.Path] && f.Status != "D" {
			f.Filtered, f.Additions, f.Deletions = true, 0, 0
		}
	}
	return err
}

// text has git print the hunks.
func (r *repository) text(d *DiffResult, c comparison) error {
	args := append([]string{"diff", fmt.Sprintf("-U%d", c.context)}, shown...)
	args = append(args, c.between...)
	var said strings.Builder
	var plain, filtered []string
	for _, f := range d.Files {
		if !f.Filtered {
			plain = append(plain, ":(top,literal)"+f.Path)
			if f.OldPath != "" {
				plain = append(plain, ":(top,literal)"+f.OldPath)
			}
			continue
		}
		filtered = append(filtered, ":(top,exclude,literal)"+f.Path)
		fmt.Fprintf(&said, "File %s differs; a filter converts it, which is not run to show how\n", fault.Quote(f.Path))
	}
	switch {
	case len(plain) == 0:
		return d.fits(c, said.String(), int64(said.Len()))
	case len(filtered) > len(plain) || len(filtered) > mostExcluded:
		args = append(append(args, "--"), plain...)
	default:
		args = append(append(args, pathspec(c.path)...), filtered...)
	}
	if size := len(strings.Join(args, " ")); size > mostArguments {
		return d.tooLarge(int64(size), mostArguments)
	}
	var kept bytes.Buffer
	size := int64(said.Len())
	err := r.Stream(r.ctx, c.call(args), func(in io.Reader) error {
		most := int64(mostDiff)
		if c.limit > 0 {
			most = c.limit
		}
		n, err := io.Copy(&kept, io.LimitReader(in, most+1))
		rest, restErr := io.Copy(io.Discard, bufio.NewReader(in))
		if size += n + rest; err == nil {
			err = restErr
		}
		return err
	})
	if err != nil {
		return err
	}
	return d.fits(c, strings.ToValidUTF8(kept.String(), "\ufffd")+said.String(), size)
}

// fits takes the text, if its size is within the limit.
func (d *DiffResult) fits(c comparison, text string, size int64) error {
	if c.limit > 0 && size > c.limit {
		if c.lenient {
			return nil
		}
		return d.tooLarge(size, c.limit)
	}
	d.Diff = text
	return nil
}

// How many files are left out by name, for which git compares each with each, and how long the names may be together.
const (
	mostExcluded  = 500
	mostArguments = 1 << 20
)

// mostDiff bounds the text where nothing else does.
const mostDiff = 64 << 20

// tooLarge is the error for a diff over the limit, with the numbers by which to
// choose a part of it.
func (d *DiffResult) tooLarge(size, limit int64) error {
	const most, named = 500, 20
	err := fault.New(fault.FileTooLarge, "the diff has %d bytes, more than the limit of %d; give a path for a part of it", size, limit).
		With("size", size).With("limit", limit).
		With("files_changed", d.FilesChanged).
		With("additions", d.Additions).With("deletions", d.Deletions).
		With("files", d.Files[:min(most, len(d.Files))])
	if len(d.Files) > most {
		err = err.With("files_left_off", len(d.Files)-most)
	}
	largest := slices.Clone(d.Files)
	slices.SortStableFunc(largest, func(a, b FileChange) int { return b.Additions + b.Deletions - a.Additions - a.Deletions })
	var names []string
	for _, f := range largest[:min(named, len(largest))] {
		names = append(names, fmt.Sprintf("%s (+%d −%d)", fault.Quote(f.Path), f.Additions, f.Deletions))
	}
	return err.WithHint("most of it is in %s; fewer context_lines also help", strings.Join(names, ", "))
}
