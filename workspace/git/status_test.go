package git_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pillion/workspace/git"
)

// letters are what porcelain=v2 has for our words.
var letters = map[git.State]string{
	"": ".", git.Modified: "M", git.Added: "A", git.Deleted: "D", git.Renamed: "R", git.TypeChanged: "T",
}

var conflictLetters = map[string]string{
	"both_deleted": "DD", "added_by_us": "AU", "deleted_by_them": "UD", "added_by_them": "UA",
	"deleted_by_us": "DU", "both_added": "AA", "both_modified": "UU",
}

func submoduleLetters(news string) string {
	out := "S"
	for _, one := range []struct{ word, letter string }{{"commits", "C"}, {"modified", "M"}, {"untracked", "U"}} {
		if strings.Contains(news, one.word) {
			out += one.letter
		} else {
			out += "."
		}
	}
	return out
}

// asPorcelain is a status as git writes it, without modes, hashes and scores.
func asPorcelain(r git.StatusResult, isSubmodule map[string]bool) []string {
	var lines []string
	head := r.Branch
	if r.Detached {
		head = "(detached)"
	}
	lines = append(lines, "# branch.head "+head)
	if r.Upstream != "" {
		lines = append(lines, "# branch.upstream "+r.Upstream)
		if !r.UpstreamGone && r.Commit != "" {
			lines = append(lines, fmt.Sprintf("# branch.ab +%d -%d", r.Ahead, r.Behind))
		}
	}
	oid := r.Commit
	if oid == "" {
		oid = "(initial)"
	}
	lines = append(lines, "# branch.oid "+oid)
	for _, f := range r.Files {
		sub := "N..."
		if isSubmodule[f.Path] {
			sub = submoduleLetters(f.Submodule)
		}
		switch {
		case f.Worktree == git.Untracked:
			lines = append(lines, "? "+f.Path)
		case f.Conflict != "":
			lines = append(lines, "u "+conflictLetters[f.Conflict]+" "+sub+" "+f.Path)
		case f.RenamedFrom != "":
			lines = append(lines, "2 "+letters[f.Staged]+letters[f.Worktree]+" "+sub+" "+f.Path+" <- "+f.RenamedFrom)
		default:
			lines = append(lines, "1 "+letters[f.Staged]+letters[f.Worktree]+" "+sub+" "+f.Path)
		}
	}
	slices.Sort(lines)
	return lines
}

// porcelain is what git says, in the same form.
func porcelain(out string) (lines []string, isSubmodule map[string]bool) {
	isSubmodule = map[string]bool{}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(fields); i++ {
		line := fields[i]
		parts := map[byte]int{'1': 9, '2': 10, 'u': 11}
		if line == "" {
			continue
		}
		if n := parts[line[0]]; n > 0 {
			words := strings.SplitN(line, " ", n)
			path := words[n-1]
			line = strings.Join(append(words[:3:3], path), " ")
			isSubmodule[path] = words[2][0] == 'S'
			if words[0] == "2" {
				i++
				line += " <- " + fields[i]
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, isSubmodule
}

func (r *rig) status(o git.StatusOptions) (git.StatusResult, error) {
	if o.Dir == "" {
		o.Dir = r.top
	}
	return git.Status(context.Background(), r.root, o)
}

// sameStatus checks that Status says what git says.
func (r *rig) sameStatus(about string, dir ...string) git.StatusResult {
	r.Helper()
	o, args := git.StatusOptions{}, []string{"--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z"}
	if len(dir) > 0 {
		o.Dir = r.path(dir[0])
		args = append(args, "--", dir[0])
	}
	got, err := r.status(o)
	if err != nil {
		r.Fatalf("%s %v: %v", about, dir, err)
	}
	r.compareStatus(about+strings.Join(dir, " "), got, args)
	return got
}

func (r *rig) compareStatus(about string, got git.StatusResult, args []string) {
	r.Helper()
	want, isSubmodule := porcelain(r.git(args...))
	if have := asPorcelain(got, isSubmodule); !slices.Equal(have, want) {
		r.Fatalf("%s: %s", about, apart(strings.Join(have, "\n"), strings.Join(want, "\n")))
	}
}

// settings are those that change what status says.
func (w world) settings() {
	switch w.IntN(6) {
	case 0:
		w.git("config", "core.autocrlf", []string{"true", "input"}[w.IntN(2)])
	case 1:
		w.write(".gitattributes", "*.txt text=auto\n*.x -text\ndir/** eol=lf\n")
	case 2:
		w.git("config", "core.fileMode", "false")
	case 3:
		w.git("config", "status.showUntrackedFiles", []string{"all", "no", "normal"}[w.IntN(3)])
	case 4:
		w.git("config", "status.renames", "false")
	}
	if w.IntN(3) == 0 {
		w.git("config", "index.version", []string{"2", "3", "4"}[w.IntN(3)])
	}
	ignores := []string{"*.x\n", "/dir\n", "sub/\n", "dir/*\n!dir/b\n", "d*/**/b\n", "a\n!/a\n", "\\\"f\\\"\n", "[a-c]\n", "dir/sub/*\n!*.txt\n"}
	for _, name := range []string{".gitignore", "dir/.gitignore", "dir/sub/.gitignore", ".git/info/exclude"} {
		if w.IntN(4) == 0 {
			w.write(name, ignores[w.IntN(len(ignores))]+ignores[w.IntN(len(ignores))])
		}
	}
}
