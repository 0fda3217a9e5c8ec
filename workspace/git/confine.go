package git

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/pattern"
	"pillion/workspace/git/gitdir"
	"pillion/workspace/git/gitfile"
	"pillion/workspace/git/program"
)

// What git changes of a repository's own entries when it commits, fetches, switches or
// merges. Nothing else may be changed by a command that runs git: settings, hooks and the
// files that lead to another repository make the user's next git run programs.
var (
	WritableFiles = `^(HEAD|index|packed-refs|sharedindex\.[0-9a-f]+|(refs|logs)/.+|` + strings.Join(slices.Sorted(maps.Keys(forms)), "|") + `)$`
	// OpenFolders have data alone.
	OpenFolders = []string{"objects", "lfs"}
	// ReferenceFolders have references and what became of them, each of which may change by itself.
	ReferenceFolders = []string{"refs", "logs"}
	// StateFolders are of a merge, rebase or series of commits that is not finished; and all
	// references in another form.
	StateFolders = []string{"rebase-merge", "rebase-apply", "sequencer", "reftable"}
	// ForgottenFolders have how conflicts were resolved, which git writes over files of the work tree.
	ForgottenFolders = []string{"rr-cache"}
	// ClosedFolders cannot be made either.
	ClosedFolders = []string{"hooks", "info", "modules", "worktrees"}

	// Of objects/info git may write this, and nothing that leads to other objects. What git believes of commits without
	// looking at them (commit-graph) it makes again.
	WritableInfo  = `^packs$`
	ForgottenInfo = []string{"commit-graph", "commit-graphs"}
)

// ObjectsInfo is a repository's objects/info, which need not be there; "" where it has no folder of objects itself. It reports
// false where a link leads to it, or that cannot be told.
func ObjectsInfo(gitDir string) (dir string, ok bool) {
	objects := filepath.Join(gitDir, "objects")
	if info, err := os.Lstat(objects); err != nil || !info.IsDir() {
		return "", err == nil || errors.Is(err, fs.ErrNotExist)
	}
	return filepath.Join(objects, "info"), gitfile.IsStraight(objects, "info")
}

// Bounds of Repositories: below one repository, so many others are opened, and so deep.
const (
	mostRepositories = 32
	deepestName      = 6 // parts of a submodule's name
)

// Repositories are the git folders in which git works when it runs in dir, above the
// workspace as well: the work tree's own, the one that it shares with others, and those of
// submodules and linked work trees below. There are none outside a repository.
func Repositories(dir string) []string {
	top := Top(dir)
	gitDir, err := gitdir.GitDirOf(top)
	if top == "" || err != nil {
		return nil
	}
	return below(ownOf(top, gitDir))
}

// Top is the work tree that a folder lies in, "" if it is in none.
func Top(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if gitDir, err := gitdir.GitDirOf(at); err == nil && gitDir != "" {
			return at
		}
		if filepath.Dir(at) == at {
			return ""
		}
	}
}

// TopOf is the folder whose .git this is, or that of a linked work tree; "" for others.
func TopOf(gitDir string) string {
	if filepath.Base(gitDir) == ".git" {
		return filepath.Dir(gitDir)
	}
	if text, err := gitfile.Read(filepath.Join(gitDir, "gitdir")); err == nil {
		return filepath.Dir(strings.TrimSuffix(string(text), "\n"))
	}
	return ""
}

// SettingsOf are the configuration files of a work tree's repository, of its submodules and of the
// other work trees that it has.
func SettingsOf(top string) (files []string) {
	gitDir, err := gitdir.GitDirOf(top)
	if err != nil || gitDir == "" {
		return nil
	}
	for _, dir := range below([]string{gitDir, gitdir.CommonDirOf(gitDir)}) {
		for _, file := range gitdir.Files(dir, dir) {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// ReadIn are the files and folders that git reads of a folder that is laid out as a repository. A ".." in them is above where
// a link before it leads.
func ReadIn(dir string) []string { return gitdir.Read(dir) }

// RunsByKey says whether git runs a program by what is configured under a key, as git lists it.
func RunsByKey(key string) bool { return program.Runs(key) }

// ownOf are the folders of the repository of top that are its own: a command can name any other
// repository where there was no .git before. No link leads to them, nor to top.
func ownOf(top, named string) (out []string) {
	real, err := filepath.EvalSymlinks(top)
	gitDir, otherErr := filepath.EvalSymlinks(named)
	if err != nil || otherErr != nil || real != top || gitDir != filepath.Join(top, ".git") && !gitdir.PointsBack(gitDir, top) {
		return nil
	}
	out = append(out, gitDir)
	if common := gitdir.CommonDirOf(gitDir); common != gitDir && gitdir.IsCommonOf(common, gitDir) {
		out = append(out, common)
	}
	return out
}

// below adds the repositories in the modules and worktrees of others.
func below(found []string) []string {
	for i := 0; i < len(found) && len(found) < mostRepositories; i++ {
		for _, name := range []string{"modules", "worktrees"} {
			top := filepath.Join(found[i], name)
			_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error { // what cannot be read stays closed
				rel, relErr := filepath.Rel(top, path)
				switch {
				case err != nil || relErr != nil || !e.IsDir() || path == top:
					return nil
				case len(found) >= mostRepositories || strings.Count(rel, string(os.PathSeparator)) >= deepestName:
					return fs.SkipDir
				case gitfile.Exists(filepath.Join(path, "HEAD")):
					if !slices.Contains(found, path) {
						found = append(found, path)
					}
					return fs.SkipDir
				}
				return nil
			})
		}
	}
	return found
}

// HarmlessState says whether an entry on the list above, as a command left it at now, may take
// the place of the one at before: it makes the user's next git neither run programs, write
// elsewhere, nor take the folder for none.
func HarmlessState(name, before, now string) bool {
	folder, below, _ := strings.Cut(name, "/")
	switch {
	case IsShared(name):
		return false
	case !gitfile.Exists(now):
		return name != "HEAD"
	case name == "index":
		return false // HarmlessIndex makes another of it
	case name == "HEAD", folder == "refs":
		text, err := gitfile.Read(now)
		return err == nil && (name == "HEAD" || isReference(name) && !isReplacement(name)) && isLoose(strings.TrimSuffix(string(text), "\n"))
	case folder == "logs":
		return (isReference(below) && !isReplacement(below) || capitals().MatchString(below)) && eachLine(now, isLogged)
	case name == "packed-refs":
		was, _ := gitfile.Read(before) //nolint:errcheck // then it has no line
		return eachLine(now, func(line string) bool {
			return isPacked(line) && (!isReplacement(line) || slices.Contains(strings.Split(string(was), "\n"), line))
		})
	case forms[name] != nil:
		text, err := gitfile.Read(now)
		return err == nil && forms[name]().Match(text)
	}
	for file, is := range naming {
		if of, base, _ := strings.Cut(file, "/"); of == name && gitfile.Exists(filepath.Join(now, base)) && !eachLine(filepath.Join(now, base), is) {
			return false
		}
	}
	if !stateIsHarmless(name, now) {
		return false
	}
	for file, runs := range running {
		if of, base, _ := strings.Cut(file, "/"); of == name && addsLine(filepath.Join(before, base), filepath.Join(now, base), runs) {
			return false
		}
	}
	return true
}

const (
	hash      = `[0-9a-f]{40}([0-9a-f]{24})?`
	hashLines = `(` + hash + `\n?)+`
)

var (
	oneHash   = pattern.New(`^` + hash + `$`)
	capitals  = pattern.New(`^[A-Z_]+$`)
	tableName = pattern.New(`^[0-9a-zA-Z_-]+\.ref$`)
)

func isHash(line string) bool { return oneHash().MatchString(line) }

// forms are those of the files that git makes while it is in the middle of something.
var forms = func() map[string]pattern.Pattern {
	out := map[string]pattern.Pattern{}
	for names, form := range map[string]string{
		"AUTO_MERGE BISECT_EXPECTED_REV BISECT_HEAD CHERRY_PICK_HEAD MERGE_AUTOSTASH MERGE_HEAD ORIG_HEAD REBASE_HEAD REVERT_HEAD shallow": hashLines,
		"BISECT_RUN COMMIT_EDITMSG MERGE_MODE MERGE_MSG NOTES_EDITMSG SQUASH_MSG TAG_EDITMSG":                                              `(?s:.*)`,
		"FETCH_HEAD": `(` + hash + `\t(not-for-merge)?\t.*\n)*`,
		"BISECT_ANCESTORS_OK BISECT_FIRST_PARENT": `\n?`,
		"MERGE_RR":     ``,                       // files over which git writes how conflicts in them were resolved
		"BISECT_START": `[^-\n].*\n?`,            // an argument of git checkout
		"BISECT_TERMS": `([A-Za-z][\w-]*\n?){2}`, // parts of references
		// Git before 2.40 has a shell read these, and git bisect replay obeys the second.
		"BISECT_NAMES": `( '[\w./ -]*')*\n?`,
		"BISECT_LOG":   `(#.*\n|git bisect( '[^'\n]*'| [\w-]+)*\n)*`,
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = pattern.New(`^(` + form + `)$`)
		}
	}
	return out
}()

// naming are the lines of files in state folders by which git finds files or references.
var naming = map[string]func(line string) bool{
	"reftable/tables.list":     func(line string) bool { return tableName().MatchString(line) },
	"rebase-merge/head-name":   isHeadName,
	"rebase-apply/head-name":   isHeadName,
	"rebase-merge/update-refs": func(line string) bool { return isHash(line) || isBranch(line) },
	"rebase-merge/git-rebase-todo": func(line string) bool {
		words := strings.Fields(line)
		return len(words) == 0 || words[0] != "u" && words[0] != "update-ref" || len(words) == 2 && isBranch(words[1])
	},
	"rebase-merge/autostash": isHash,
	"rebase-apply/autostash": isHash,
}

// eachLine says whether a file has lines of one kind alone.
func eachLine(file string, is func(line string) bool) bool {
	text, err := gitfile.Read(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if !is(strings.TrimSuffix(line, "\n")) {
			return false
		}
	}
	return true
}

// isReference is stricter than git where a name would be an option of a program that gets it.
func isReference(name string) bool { return gitdir.IsReference(name) && !strings.Contains(name, "/-") }

// isBranch is stricter still: git rebase moves what it is told to, also what is no branch.
func isBranch(name string) bool { return strings.HasPrefix(name, "refs/heads/") && isReference(name) }

// isReplacement says whether a reference's name, or a line with it, has git show another object
// than the one that is pushed.
func isReplacement(text string) bool { return strings.Contains(text, "refs/replace/") }

func isHeadName(line string) bool { return line == "detached HEAD" || isReference(line) }

// isLoose reports whether a reference's file holds a hash or the name of another.
func isLoose(text string) bool {
	target, symbolic := strings.CutPrefix(text, "ref: ")
	return symbolic && isReference(target) || isHash(text)
}

func isPacked(line string) bool {
	h, name, _ := strings.Cut(line, " ")
	of, peeled := strings.CutPrefix(h, "^")
	return strings.HasPrefix(line, "# pack-refs ") || isHash(of) && (peeled && name == "" || !peeled && isReference(name))
}

func isLogged(line string) bool {
	from, rest, _ := strings.Cut(line, " ")
	to, _, _ := strings.Cut(rest, " ")
	return isHash(from) && isHash(to)
}

// running are the lines of an unfinished rebase or series of commits from which git runs a
// program. A strategy is one: git runs it by its name, and by its path if that has a slash.
var running = map[string]pattern.Pattern{
	"rebase-merge/git-rebase-todo": pattern.New(`(?m)^[ \t]*(x|exec)([ \t]|$)`),
	"rebase-merge/strategy":        pattern.New(`/`),
	"rebase-apply/strategy":        pattern.New(`/`),
	"sequencer/opts":               pattern.New(`[/\\]`), // settings, in which \ joins lines
}

// stateFiles are those that git makes in its state folders. What another one would have it do is not known.
var stateFiles = map[string]pattern.Pattern{
	"rebase-merge": pattern.New(`^(allow_rerere_autoupdate|amend|author-script|autostash|cdate_is_adate|current-fixups|done|drop_redundant_commits|end|force-rewritten|` +
		`git-rebase-todo(\.backup)?|gpg_sign_opt|head-name|ignore_date|interactive|keep_redundant_commits|message(-fixup|-squash)?|msgnum|(no-)?reschedule-failed-exec|onto|orig-head|` +
		`patch|quiet|refs-to-delete|rewritten-(list|pending)|signoff|squash-onto|stopped-sha|strategy(_opts)?|update-refs|verbose)$`),
	"rebase-apply": pattern.New(`^(abort-safety|allow_rerere_autoupdate|apply-opt|applying|author-script|autostash|dirtyindex|final-commit|gpg_sign_opt|head-name|info|keep|last|` +
		`messageid|msg|msg-clean|next|no-verify|onto|orig-head|original-commit|patch|patch-merge-index|quiet|quoted-cr|rebasing|scissors|sign|strategy|threeway|utf8|verbose|\d{4,})$`),
	"sequencer": pattern.New(`^(abort-safety|done|head|opts|todo)$`),
	"reftable":  pattern.New(`^(tables\.list|[0-9a-zA-Z_-]+\.ref)$`),
}

// free are those of them that hold what people write: messages, patches, the lines of running; and what is no text.
var free = pattern.New(`^(message.*|patch|final-commit|info|msg|msg-clean|messageid|author-script|git-rebase-todo(\.backup)?|done|\d{4,}|todo|opts|patch-merge-index|.*\.ref)$`)

// options are those that git keeps for programs that it runs when it goes on, by the file that holds them. Another
// file has none.
var options = map[string]pattern.Pattern{
	"apply-opt":               pattern.New(`^( ?'?(-p\d+|-C\d+|--whitespace=[a-z-]+|--ignore-whitespace|--ignore-space-change|--reject)'?)*\n?$`),
	"gpg_sign_opt":            pattern.New(`^(-S[\w@.+<> -]*)?\n?$`),
	"strategy_opts":           pattern.New(`^( ?'?--[a-z][a-z-]*(=[\w.-]*)?'?)*\n?$`),
	"allow_rerere_autoupdate": pattern.New(`^--(no-)?rerere-autoupdate\n?$`),
}

// stateIsHarmless says whether a state folder has known files alone, and none of them an option by which a program that git runs
// would write or read elsewhere, nor anything for a shell.
func stateIsHarmless(folder, dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return gitfile.IsNotDir(err)
	}
	for _, e := range entries {
		if known := stateFiles[folder]; known != nil && (!e.Type().IsRegular() || !known().MatchString(e.Name())) {
			return false
		}
		if free().MatchString(e.Name()) {
			continue
		}
		text, err := gitfile.Read(filepath.Join(dir, e.Name()))
		if err != nil {
			return false
		}
		if form := options[e.Name()]; form != nil && !form().Match(text) || form == nil && anyOption().Match(text) {
			return false
		}
		if options[e.Name()] == nil && naming[folder+"/"+e.Name()] == nil && forShells().Match(text) {
			return false
		}
	}
	return true
}

// forShells is what a shell would obey: git's own prompt has it expand the numbers that stand here.
var forShells = pattern.New("[$`\"'\\\\;|&<>(){}]")

var anyOption = pattern.New(`(?m)(^|[\s'"])-`)

// addsLine says whether a file has a line of a kind that it had not before. What cannot be
// read may have one.
func addsLine(before, now string, kind pattern.Pattern) bool {
	text, err := gitfile.Read(now)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	known := map[string]bool{}
	if was, err := gitfile.Read(before); err == nil {
		for line := range strings.Lines(string(was)) {
			known[strings.TrimSpace(line)] = true
		}
	}
	for line := range strings.Lines(string(text)) {
		if kind().MatchString(line) && !known[strings.TrimSpace(line)] {
			return true
		}
	}
	return false
}
