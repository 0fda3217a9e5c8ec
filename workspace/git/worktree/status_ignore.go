package worktree

import (
	"os"
	"path/filepath"
	"strings"

	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/gitignore"
)

// excludes are the ignore rules of one file, chained to those that count after them:
// of the folders above, of info/exclude, and the user's own.
type excludes struct {
	above *excludes
	base  string // the folder that the rules are of, with a slash at the end; "" is the top
	rules []gitignore.Rule
	fold  bool // core.ignorecase
}

// excludes are the rules that hold before any .gitignore: those of the repository, then
// the user's.
func (r *Checkout) excludes() *excludes {
	x := &excludes{fold: r.Config.Bool("core.ignorecase", false)}
	for _, text := range r.excludeTexts() {
		x = x.with("", text)
	}
	return x
}

func (r *Checkout) excludeTexts() [2]string {
	file := r.Config.Get("core.excludesfile")
	if file == "" {
		file = filepath.Join(gitdir.UserConfigDir(), "ignore")
	}
	var texts [2]string
	for i, name := range []string{gitdir.ExpandPath(file, r.Top), filepath.Join(r.CommonDir, "info", "exclude")} {
		text, _ := gitfile.Read(name)
		texts[i] = string(text)
	}
	return texts
}

// Ignores reports whether git passes over a file that it does not track: by its name, or
// because a folder above it is passed over, whose own rules do not count then.
func (r *Checkout) Ignores(file string) bool {
	x := r.excludes()
	for dir := ""; ; {
		own := r.Work.Abs(dir + ".gitignore")
		if info, err := os.Lstat(own); err == nil && info.Mode().IsRegular() {
			text, _ := gitfile.Read(own)
			x = x.with(dir, string(text))
		}
		name, _, below := strings.Cut(file[len(dir):], "/")
		if x.ignores(dir, name, below) {
			return true
		}
		if !below {
			return false
		}
		dir += name + "/"
	}
}

// with puts the rules of a file in the folder base before x.
func (x *excludes) with(base, text string) *excludes {
	if x.fold {
		text = strings.ToLower(text)
	}
	rules := gitignore.Parse(text)
	if len(rules) == 0 {
		return x
	}
	return &excludes{above: x, base: base, rules: rules, fold: x.fold}
}

// ignores judges the entry name of the folder dir, which ends in a slash.
func (x *excludes) ignores(dir, name string, isDir bool) bool {
	full := dir + name
	if x.fold {
		full, name = strings.ToLower(full), strings.ToLower(name)
	}
	for ; x != nil; x = x.above {
		for i := len(x.rules) - 1; i >= 0; i-- {
			r := &x.rules[i]
			at := name
			if !r.BaseOnly {
				at = full[len(x.base):]
			}
			if r.Matches(at, isDir) {
				return !r.Negate
			}
		}
	}
	return false
}
