package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"pillion/internal/fault"
	"pillion/workspace/diff"
	"pillion/workspace/git/odb"
	"pillion/workspace/git/worktree"
)

// printer writes changes in git's diff format.
type printer struct {
	ctx     context.Context
	repo    *worktree.Checkout
	context int
	limit   int64

	out       strings.Builder
	size      int64 // of the whole text, also of what was dropped beyond limit
	quotePath bool
	result    DiffResult
}

func (p *printer) print(changes []worktree.Difference) (DiffResult, error) {
	p.quotePath = p.repo.Config.Bool("core.quotepath", true)
	p.result.Top = p.repo.Top
	for _, ch := range changes {
		if err := p.ctx.Err(); err != nil {
			return DiffResult{}, fault.From(err)
		}
		if err := p.file(ch); err != nil {
			return DiffResult{}, err
		}
	}
	if p.tooLarge() {
		return DiffResult{}, p.refusal()
	}
	p.result.Diff = p.out.String()
	return p.result, nil
}

func (p *printer) tooLarge() bool { return p.limit > 0 && p.size > p.limit }

func (p *printer) write(text string) {
	p.size += int64(len(text))
	if p.tooLarge() {
		p.out.Reset()
		return
	}
	p.out.WriteString(text)
}

// refusal is the error for a diff over the limit, with the numbers by which to
// choose a part of it.
func (p *printer) refusal() error {
	const most = 500
	files := p.result.Files
	err := fault.New(fault.FileTooLarge, "the diff has %d bytes, more than the limit of %d; give a path for a part of it", p.size, p.limit).
		With("size", p.size).With("limit", p.limit).
		With("files_changed", p.result.FilesChanged).
		With("additions", p.result.Additions).With("deletions", p.result.Deletions).
		With("files", files[:min(most, len(files))])
	if len(files) > most {
		err = err.With("files_left_off", len(files)-most)
	}
	return err.WithHint("most of it is in %s; fewer context_lines also help", largest(files))
}

// largest names the files that change most.
func largest(files []FileChange) string {
	const most = 20
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b FileChange) int { return b.Additions + b.Deletions - a.Additions - a.Deletions })
	var out []string
	for _, f := range files[:min(most, len(files))] {
		out = append(out, fmt.Sprintf("%s (+%d −%d)", fault.Quote(f.Path), f.Additions, f.Deletions))
	}
	return strings.Join(out, ", ")
}

// file writes one change and counts it.
func (p *printer) file(ch worktree.Difference) error {
	count := FileChange{Path: ch.Path, Status: statusOf(ch)}
	if ch.OldPath != ch.Path {
		count.OldPath = ch.OldPath
	}
	if ch.Unmerged {
		p.write("* Unmerged path " + quoted("", ch.Path, p.quotePath) + "\n")
	}
	parts := []worktree.Difference{ch}
	switch {
	case ch.Old.Same(ch.New) && ch.Path == ch.OldPath:
		parts = nil
	case !ch.Old.Absent() && !ch.New.Absent() && ch.Old.Kind() != ch.New.Kind():
		gone, come := ch, ch // another type of file is another file
		gone.New, come.Old = worktree.Side{}, worktree.Side{}
		parts = []worktree.Difference{gone, come}
	}
	for _, part := range parts {
		if err := p.patch(part, &count); err != nil {
			return err
		}
	}
	p.result.Files = append(p.result.Files, count)
	p.result.FilesChanged++
	p.result.Additions += count.Additions
	p.result.Deletions += count.Deletions
	return nil
}

func statusOf(ch worktree.Difference) string {
	switch {
	case ch.Unmerged:
		return "U"
	case ch.Old.Absent():
		return "A"
	case ch.New.Absent():
		return "D"
	case ch.Path != ch.OldPath:
		return "R"
	case ch.Old.Kind() != ch.New.Kind():
		return "T"
	}
	return "M"
}

// patch writes the header and the hunks of one file.
func (p *printer) patch(ch worktree.Difference, count *FileChange) error {
	before, bigBefore, err := p.repo.Content(ch.OldPath, ch.Old)
	if err != nil {
		return err
	}
	after, bigAfter, err := p.repo.Content(ch.Path, ch.New)
	if err != nil {
		return err
	}
	if ch.New.OnDisk && !bigAfter { // it may have changed since it was compared
		ch.New.Hash = plumbing.ComputeHash(plumbing.BlobObject, after)
	}
	p.header(ch)
	from, to := p.names(ch)
	binary := bigBefore || bigAfter || p.binary(ch.OldPath, ch.Old, before) || p.binary(ch.Path, ch.New, after)
	count.Binary = count.Binary || binary
	switch {
	case ch.Old.Hash == ch.New.Hash && !ch.New.Dirty:
	case binary:
		if bigBefore || bigAfter || !bytes.Equal(before, after) { // an empty new file is no news
			p.write("Binary files " + from + " and " + to + " differ\n")
		}
	default:
		hunks := diff.Hunks(string(before), string(after), p.context)
		additions, deletions := diff.Count(hunks)
		if ch.Old.Hash != ch.New.Hash { // git does not count a submodule that is only dirty
			count.Additions += additions
			count.Deletions += deletions
		}
		if len(hunks) > 0 {
			p.write("--- " + ended(from) + "\n+++ " + ended(to) + "\n")
			p.write(diff.Unified(hunks))
		}
	}
	return nil
}

// ended adds the tab by which patch tells a name with blanks from a time.
func ended(name string) string {
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

func (p *printer) names(ch worktree.Difference) (from, to string) {
	from, to = quoted("a/", ch.OldPath, p.quotePath), quoted("b/", ch.Path, p.quotePath)
	if ch.Old.Absent() {
		from = "/dev/null"
	}
	if ch.New.Absent() {
		to = "/dev/null"
	}
	return from, to
}

// header writes what stands before the hunks, save the lines with the names.
func (p *printer) header(ch worktree.Difference) {
	p.write("diff --git " + quoted("a/", ch.OldPath, p.quotePath) + " " + quoted("b/", ch.Path, p.quotePath) + "\n")
	switch {
	case ch.Old.Absent():
		p.write(fmt.Sprintf("new file mode %06o\n", ch.New.Mode))
	case ch.New.Absent():
		p.write(fmt.Sprintf("deleted file mode %06o\n", ch.Old.Mode))
	case ch.Old.Mode != ch.New.Mode:
		p.write(fmt.Sprintf("old mode %06o\nnew mode %06o\n", ch.Old.Mode, ch.New.Mode))
	}
	if ch.Path != ch.OldPath {
		p.write(fmt.Sprintf("similarity index %d%%\nrename from %s\nrename to %s\n", ch.Score*100/worktree.MaxScore,
			quoted("", ch.OldPath, p.quotePath), quoted("", ch.Path, p.quotePath)))
	}
	if ch.Old.Hash == ch.New.Hash {
		return
	}
	line := "index " + p.repo.Short(ch.Old.Hash) + ".." + p.repo.Short(ch.New.Hash)
	if ch.Old.Mode == ch.New.Mode {
		line += fmt.Sprintf(" %06o", ch.Old.Mode)
	}
	p.write(line + "\n")
}

// binary reports whether a file is not to be shown as text: by its diff
// attribute, else by a NUL among its first bytes.
func (p *printer) binary(name string, s worktree.Side, data []byte) bool {
	switch {
	case s.Absent(), s.Mode == odb.ModeSubmodule:
		return false
	case s.Kind() != odb.ModeFile&odb.ModeTypeMask: // attributes are about files
		return worktree.IsBinary(data)
	}
	switch driver := p.repo.Work.Conversion.Attributes.Of(name)["diff"]; driver {
	case worktree.AttrUnset:
		return true
	case worktree.AttrSet:
		return false
	case worktree.AttrUnspecified:
	default:
		if key := "diff." + driver + ".binary"; p.repo.Config.Get(key) != "" {
			return p.repo.Config.Bool(key, false)
		}
	}
	return worktree.IsBinary(data)
}
