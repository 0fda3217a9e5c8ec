package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/diff"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/odb"

	"github.com/go-git/go-git/v5/plumbing"
)

// printer writes changes in git's diff format.
type printer struct {
	ctx     context.Context
	repo    *repository
	context int
	limit   int64

	out       strings.Builder
	size      int64 // of the whole text, also of what was dropped beyond limit
	quotePath bool
	result    DiffResult
}

func (p *printer) print(changes []change) (DiffResult, error) {
	p.quotePath = p.repo.config.bool("core.quotepath", true)
	p.result.Top = p.repo.top
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
func (p *printer) file(ch change) error {
	count := FileChange{Path: ch.path, Status: ch.status()}
	if ch.oldPath != ch.path {
		count.OldPath = ch.oldPath
	}
	if ch.unmerged {
		p.write("* Unmerged path " + quoted("", ch.path, p.quotePath) + "\n")
	}
	parts := []change{ch}
	switch {
	case ch.old.same(ch.new) && ch.path == ch.oldPath:
		parts = nil
	case !ch.old.absent() && !ch.new.absent() && ch.old.kind() != ch.new.kind():
		gone, come := ch, ch // another type of file is another file
		gone.new, come.old = side{}, side{}
		parts = []change{gone, come}
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

func (ch change) status() string {
	switch {
	case ch.unmerged:
		return "U"
	case ch.old.absent():
		return "A"
	case ch.new.absent():
		return "D"
	case ch.path != ch.oldPath:
		return "R"
	case ch.old.kind() != ch.new.kind():
		return "T"
	}
	return "M"
}

// patch writes the header and the hunks of one file.
func (p *printer) patch(ch change, count *FileChange) error {
	before, bigBefore, err := p.repo.content(ch.oldPath, ch.old)
	if err != nil {
		return err
	}
	after, bigAfter, err := p.repo.content(ch.path, ch.new)
	if err != nil {
		return err
	}
	if ch.new.onDisk && !bigAfter { // it may have changed since it was compared
		ch.new.hash = plumbing.ComputeHash(plumbing.BlobObject, after)
	}
	p.header(ch)
	from, to := p.names(ch)
	binary := bigBefore || bigAfter || p.binary(ch.oldPath, ch.old, before) || p.binary(ch.path, ch.new, after)
	count.Binary = count.Binary || binary
	switch {
	case ch.old.hash == ch.new.hash && !ch.new.dirty:
	case binary:
		if bigBefore || bigAfter || !bytes.Equal(before, after) { // an empty new file is no news
			p.write("Binary files " + from + " and " + to + " differ\n")
		}
	default:
		hunks := diff.Hunks(string(before), string(after), p.context)
		additions, deletions := diff.Count(hunks)
		if ch.old.hash != ch.new.hash { // git does not count a submodule that is only dirty
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

func (p *printer) names(ch change) (from, to string) {
	from, to = quoted("a/", ch.oldPath, p.quotePath), quoted("b/", ch.path, p.quotePath)
	if ch.old.absent() {
		from = "/dev/null"
	}
	if ch.new.absent() {
		to = "/dev/null"
	}
	return from, to
}

// header writes what stands before the hunks, save the lines with the names.
func (p *printer) header(ch change) {
	p.write("diff --git " + quoted("a/", ch.oldPath, p.quotePath) + " " + quoted("b/", ch.path, p.quotePath) + "\n")
	switch {
	case ch.old.absent():
		p.write(fmt.Sprintf("new file mode %06o\n", ch.new.mode))
	case ch.new.absent():
		p.write(fmt.Sprintf("deleted file mode %06o\n", ch.old.mode))
	case ch.old.mode != ch.new.mode:
		p.write(fmt.Sprintf("old mode %06o\nnew mode %06o\n", ch.old.mode, ch.new.mode))
	}
	if ch.path != ch.oldPath {
		p.write(fmt.Sprintf("similarity index %d%%\nrename from %s\nrename to %s\n", ch.score*100/maxScore,
			quoted("", ch.oldPath, p.quotePath), quoted("", ch.path, p.quotePath)))
	}
	if ch.old.hash == ch.new.hash {
		return
	}
	line := "index " + p.repo.short(ch.old.hash) + ".." + p.repo.short(ch.new.hash)
	if ch.old.mode == ch.new.mode {
		line += fmt.Sprintf(" %06o", ch.old.mode)
	}
	p.write(line + "\n")
}

// binary reports whether a file is not to be shown as text: by its diff
// attribute, else by a NUL among its first bytes.
func (p *printer) binary(name string, s side, data []byte) bool {
	switch {
	case s.absent(), s.mode == odb.ModeSubmodule:
		return false
	case s.kind() != odb.ModeFile&odb.ModeTypeMask: // attributes are about files
		return isBinary(data)
	}
	switch driver := p.repo.work.conversion.attributes.of(name)["diff"]; driver {
	case attrUnset:
		return true
	case attrSet:
		return false
	case attrUnspecified:
	default:
		if key := "diff." + driver + ".binary"; p.repo.config.get(key) != "" {
			return p.repo.config.bool(key, false)
		}
	}
	return isBinary(data)
}

// isBinary is git's guess for diffs.
func isBinary(data []byte) bool {
	const looked = 8000
	return bytes.IndexByte(data[:min(looked, len(data))], 0) >= 0
}

// content is the text that stands for a side of a diff; big is true, without
// any, for a file of more than maxFile bytes.
func (r *repository) content(name string, s side) (data []byte, big bool, err error) {
	switch {
	case s.absent():
		return nil, false, nil
	case s.mode == odb.ModeSubmodule:
		text := "Subproject commit " + s.hash.String()
		if s.dirty {
			text += "-dirty"
		}
		return []byte(text + "\n"), false, nil
	case s.onDisk:
		data, err = r.work.content(name, s)
	default:
		data, err = r.objects.Blob(s.hash, odb.MaxFile)
	}
	if errors.Is(err, gitfile.ErrBig) {
		return nil, true, nil
	}
	return data, false, err
}
