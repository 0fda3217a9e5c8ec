package sidecar

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"pillion/internal/way"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/git"
)

// mostNamed bounds the files that are followed to others, and those that one pattern finds, and mostNear the folders below which one file names them.
const (
	mostNamed = 100
	mostNear  = 20
)

// namedByGit lists the files that the settings of the user and of repositories include, whatever the
// condition, those in which they have git look for programs, and those that the line of a program names:
// as git itself reads each of them. Where that cannot be told whole, it can be any file of theirs.
func namedByGit(program, home string, tops []string) (out []workspace.Guarded, isWhole bool) {
	ctx, cancel := context.WithTimeout(context.Background(), gitWithin)
	defer cancel()
	g := gitReading{ctx: ctx, program: program, home: home, folders: append(slices.Clone(tops), home)}
	users := []string{"/etc/gitconfig", filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config")}
	for variable, below := range map[string]string{"XDG_CONFIG_HOME": "git/config", "GIT_CONFIG_GLOBAL": ""} {
		if named := os.Getenv(variable); filepath.IsAbs(named) {
			users = append(users, filepath.Join(named, below))
		}
	}
	isWhole = g.follow(users)
	var folders []workspace.Guarded
	for _, top := range tops {
		settings := git.SettingsOf(top)
		isWhole = g.follow(settings) && isWhole
		for _, file := range settings {
			for _, name := range []string{"hooks", "info"} {
				folders = append(folders, workspace.Guarded{Path: filepath.Join(filepath.Dir(file), name), Effect: policy.RunsInGit})
			}
		}
	}
	g.out = slices.Concat(g.out, folders, linksIn(folders))
	if !isWhole {
		for _, folder := range g.folders {
			g.add(folder)
		}
	}
	return g.out, isWhole
}

// gitReading is one look at what settings of git name.
type gitReading struct {
	ctx           context.Context
	program, home string
	folders       []string // in which git runs what they name
	out           []workspace.Guarded
}

func (g *gitReading) add(path string) {
	g.out = append(g.out, workspace.Guarded{Path: path, Effect: policy.RunsInGit})
}

// follow reads configuration files and what they include, and says whether that was all.
func (g *gitReading) follow(files []string) (isAll bool) {
	most := len(files) + mostNamed
	for i := 0; i < len(files); i++ {
		at := files[i]
		if i == most {
			return false
		}
		g.add(at)
		if info, err := os.Stat(at); err != nil || !info.Mode().IsRegular() {
			continue
		}
		cmd := exec.CommandContext(g.ctx, g.program, "config", "--file", at, "--no-includes", "--list", "-z")
		cmd.Dir, cmd.WaitDelay = g.home, time.Second
		listed, err := cmd.Output()
		if g.ctx.Err() != nil {
			return false
		}
		if err != nil {
			continue // what git cannot read it does not obey either
		}
		for entry := range strings.SplitSeq(string(listed), "\x00") {
			key, value, _ := strings.Cut(entry, "\n")
			switch {
			case value == "":
			case includes.MatchString(key):
				if path := expand(value, way.Dir(at), g.home); !slices.Contains(files, path) {
					files = append(files, path)
				}
			case leadsTo.MatchString(key):
				for _, folder := range g.folders {
					g.add(expand(value, folder, g.home))
				}
			case git.RunsByKey(key):
				for _, path := range filesNamed(value, g.folders) {
					g.add(path)
				}
			}
		}
	}
	return true
}

// expand is the path of a setting of git, of which a relative one is below dir. A ".." stays in it: see way.Join.
func expand(path, dir, home string) string {
	if name, rest, _ := strings.Cut(path, "/"); strings.HasPrefix(name, "~") {
		path, dir = rest, homeOf(name[1:], home)
	}
	return way.Join(dir, path)
}

// homeOf is the home of a user by name, of the own one by none.
func homeOf(name, own string) string {
	if u, err := user.Lookup(name); err == nil && name != "" {
		return u.HomeDir
	}
	return own
}

var (
	includes = regexp.MustCompile(`^include(if\..*)?\.path$`)
	leadsTo  = regexp.MustCompile(`^(core\.(hookspath|attributesfile)|init\.templatedir)$`)
)

const gitWithin = 5 * time.Second

// startUp are files that programs run or obey when they start, and in which lines name others.
var startUp = strings.Fields(`.profile .bash_profile .bash_login .bash_logout .bashrc .bash_aliases .zshenv .zprofile .zshrc .zlogin .zlogout .kshrc .mkshrc
	.cshrc .tcshrc .bashrc.d/* .config/zsh/.zsh[er]* .config/zsh/.zprofile .config/zsh/.zlogin .config/fish/config.fish .config/fish/conf.d/*.fish .config/fish/functions/*.fish .config/nushell/*.nu .config/elvish/rc.elv .xonshrc .config/powershell/*profile.ps1
	.xprofile .xinitrc .xsession .xsessionrc .config/environment.d/*.conf .config/i3/config .config/sway/config .config/hypr/*.conf .ssh/config .tmux.conf .config/tmux/tmux.conf .inputrc .screenrc
	.vimrc .vim/vimrc .vim/plugin/*.vim .vim/after/plugin/*.vim .config/vim/vimrc .gvimrc .config/nvim/init.vim .config/nvim/init.lua .config/nvim/plugin/* .config/nvim/lua/*.lua .config/nvim/lua/*/*.lua
	.emacs .emacs.el .emacs.d/init.el .emacs.d/early-init.el .emacs.d/lisp/*.el .config/emacs/init.el .config/emacs/early-init.el .config/doom/*.el .doom.d/*.el`)

// What start-up files set and read. No parser reads all of their languages, and what none can read counts as well: so it is
// looked for in the text, and rather too much is guarded than too little.
var (
	assigns = regexp.MustCompile(`(?:^|[\s;])(?:(\w+)=("[^"]*"|'[^']*'|[^\s;]+)|for\s+(\w+)\s*(?:\sin\s|\()([^;)]*))`)
	sources = regexp.MustCompile("(?:^|[\\s;&|({\"'`])(?:\\.|source)\\s+(\"[^\"]*\"|'[^']*'|[^\\s;]+)")
	// follows is of a line that has its program read another file, and searches of one that names folders in which
	// it looks for what to run.
	follows  = regexp.MustCompile(`(?i)(^|[^\w.-])(\.\s+[^\s;|&]|(source|source-file|so|include|runtime|dofile|loadfile|require|load|load-file|eval|(ba|z|k|da)?sh)([^\w.-]|$))`)
	searches = regexp.MustCompile(`(?i)(fpath|runtimepath|rtp|packpath|package\.c?path|load-?path|PYTHONPATH|NODE_PATH|PERL5LIB|RUBYLIB|LUA_C?PATH|R_LIBS|ZSH_CUSTOM|dein#add)\W|(^|[\s;|&({])(plug(in)?|zinit|antigen|zplug|znap|zgen\w*)\s`)
	// inLua is a plugin's folder, as managers of plugins take it.
	inLua  = regexp.MustCompile(`\bdir\s*=`)
	braces = regexp.MustCompile(`([^\s"'{}]*)\{([^\s{}]*,[^\s{}]*)\}([^\s"'{};)]*)`)
)

// namedByStartUp lists the files that these files name, and those that they read in turn name: by plain paths, by variables
// that they set to such, by the ends of paths of which the beginning is not known, and all in a folder of which
// they read what a pattern matches.
func namedByStartUp(home string, roots []configRoot, open []string) (out []workspace.Guarded) {
	const most, unknown = 1 << 20, "*"
	var files []string
	for _, root := range open { // of dotfiles, as the home has them
		roots = append(slices.Clip(roots), configRoot{dir: root})
	}
	for _, p := range roots {
		for _, name := range startUp {
			below, isBelow := strings.CutPrefix(name, p.as+"/")
			if p.as == "" {
				below, isBelow = name, true
			}
			found, err := fs.Glob(os.DirFS(p.dir), below) // of the folder's own name no character is one of a pattern
			for i := 0; i < min(len(found), mostNamed) && isBelow && err == nil; i++ {
				files = append(files, filepath.Join(p.dir, found[i]))
			}
		}
	}
	first := len(files)
	set := map[string]string{"HOME": home}
	var value func(string) string
	value = func(name string) string {
		name, otherwise, _ := strings.Cut(name, ":-")
		if strings.Contains(set[name], " ") { // each of a list
			return unknown
		}
		return cmp.Or(set[name], os.Getenv(name), os.Expand(otherwise, value), unknown)
	}
	guard := func(path string) {
		effect := cmp.Or(policy.Effect(filepath.ToSlash(path)), policy.RunsInShell)
		if !slices.ContainsFunc(out, func(known workspace.Guarded) bool { return known.Path == path }) {
			out = append(out, workspace.Guarded{Path: path, Effect: effect})
		}
	}
	add := func(path string) {
		if guard(path); !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	isOpen := func(path string) bool {
		return slices.ContainsFunc(open, func(root string) bool { return path != root && isIn(path, root) })
	}
	inheritedPath := filepath.SplitList(os.Getenv("PATH"))
	addPath := func(dirs []string) {
		for _, dir := range dirs {
			if dir = expand(strings.Trim(dir, `"'`), home, home); !strings.Contains(dir, unknown) && strings.Contains(dir, "/") && !slices.Contains(inheritedPath, dir) {
				out = append(out, inPath(dir, home, open)...)
			}
		}
	}
	folders := slices.Concat(open, []string{home})
	for i := 0; i < len(files) && i < first+mostNamed; i++ {
		if info, err := os.Stat(files[i]); err != nil || !info.Mode().IsRegular() || info.Size() > most {
			continue
		}
		text, _ := os.ReadFile(files[i]) //nolint:errcheck // its program reads no more of it
		near := append(slices.Clone(folders), filepath.Dir(files[i]))
		if real := filepath.Dir(process.Resolve(files[i])); !slices.Contains(near, real) {
			near = append(near, real)
		}
		for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			for _, m := range assigns.FindAllStringSubmatch(line, -1) {
				to := os.Expand(strings.Trim(m[2]+m[4], `"' `), value)
				if strings.ContainsAny(to, "$`") {
					to = unknown
				}
				set[m[1]+m[3]] = to
				switch m[1] + m[3] {
				case "PATH":
					addPath(filepath.SplitList(to))
				case "ZDOTDIR":
					for _, name := range strings.Fields(".zshenv .zprofile .zshrc .zlogin .zlogout") {
						add(filepath.Join(expand(to, home, home), name))
					}
				}
			}
			if words := strings.Fields(line); slices.Contains(words, "fish_add_path") {
				addPath(strings.Fields(os.Expand(strings.NewReplacer(`"`, "", "'", "").Replace(line), value)))
			}
			line = strings.NewReplacer("~/", home+"/", "$HOME/", home+"/", "${HOME}/", home+"/").Replace(line)
			line = braces.ReplaceAllStringFunc(line, func(list string) string {
				m := braces.FindStringSubmatch(list)
				return m[1] + strings.ReplaceAll(m[2], ",", m[3]+" "+m[1]) + m[3]
			})
			words := wordsOf(line)
			for _, word := range words { // by cd, or by a variable of any language
				if filepath.IsAbs(word) && len(near) < mostNear && !slices.Contains(near, word) && isFolder(word) {
					near = append(near, word)
				}
			}
			follow := follows.MatchString(line)
			if follow {
				for _, path := range filesNamed(line, near) {
					if add(path); filepath.Ext(path) == "" && isOpen(process.Resolve(path)) { // which Emacs adds
						guard(path + ".elc")
						add(path + ".el")
					}
				}
			}
			search := searches.MatchString(line) || filepath.Ext(files[i]) == ".lua" && inLua.MatchString(line)
			for _, word := range words {
				named := []string{word} // what runs is a path, or a word of a line that has it read
				if !filepath.IsAbs(word) && strings.Contains(word, "/") {
					named = filesNamed(word, near)
				}
				for _, path := range named {
					if filepath.IsAbs(path) && isOpen(process.Resolve(path)) && !isFolder(path) {
						guard(path)
					}
				}
				before, _, isPattern := strings.Cut(strings.NewReplacer("?", "*", "[", "*").Replace(word), "*")
				switch {
				case isPattern && (follow || strings.Contains(line, "for ")):
					word = filepath.Dir(before + unknown)
				case isPattern || !search:
					continue
				}
				for _, folder := range foldersNamed(word, folders) {
					if isOpen(process.Resolve(folder)) {
						guard(folder)
					}
				}
			}
			for _, m := range sources.FindAllStringSubmatch(line, -1) {
				named := strings.Trim(m[1], `"'`)
				for word := range strings.FieldsSeq(cmp.Or(set[strings.Trim(named, "${}")], os.Expand(named, value))) {
					path := expand(word, home, home)
					before, _, isPattern := strings.Cut(strings.NewReplacer("?", "*", "[", "*").Replace(path), "*")
					if !isPattern {
						add(path)
						continue
					}
					matching, _ := filepath.Glob(path) //nolint:errcheck // it is none
					for _, one := range matching {
						add(one)
					}
					if folder := way.Dir(before + unknown); !isIn(process.Resolve(home), process.Resolve(folder)) {
						add(folder)
					}
				}
			}
		}
	}
	return out
}

// foldersNamed are the folders that a word is, or its end below one of these.
func foldersNamed(word string, below []string) (out []string) {
	if filepath.IsAbs(word) && isFolder(word) {
		return []string{word}
	}
	for end, more := word, strings.Contains(word, "/"); more; _, end, more = strings.Cut(end, "/") {
		for _, folder := range below {
			if at := way.Join(folder, strings.TrimLeft(end, "/")); end != "" && isFolder(at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// wordsOf are those of a line that a shell runs, without quotes and variables.
func wordsOf(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`;|&()<>{}$=!,:", r) })
}

// filesNamed are the files that a line names which a shell runs: by each word, and by its end where a
// variable stood before it, below one of the folders. What is written as a path may not be there yet.
func filesNamed(line string, folders []string) (out []string) {
	add := func(path string, missing bool) {
		for _, path := range slices.Compact([]string{path, filepath.Clean(path)}) { // some programs take a ".." as it is written
			info, err := os.Stat(path)
			if err == nil && !info.IsDir() || missing && errors.Is(err, os.ErrNotExist) {
				out = append(out, path)
			}
		}
	}
	for _, word := range append(wordsOf(line), line) { // a line is a path as a whole where it is an argument
		isPath := strings.Contains(word, "/")
		if filepath.IsAbs(word) {
			add(word, true)
		}
		for end, more := word, true; more; _, end, more = strings.Cut(end, "/") {
			for _, folder := range folders {
				add(way.Join(folder, strings.TrimLeft(end, "/")), isPath && end == word && !filepath.IsAbs(word))
			}
		}
	}
	return out
}

// namedHere lists what Pillion's own settings run, and what of the open folders any variable names, whatever it is for.
func (c *Sidecar) namedHere(open []string) (out []workspace.Guarded) {
	for _, path := range namedInJSON(c.settings.text(), open) {
		out = append(out, workspace.Guarded{Path: path, Effect: policy.ReadByPrograms})
	}
	for _, variable := range os.Environ() {
		_, value, _ := strings.Cut(variable, "=")
		for _, path := range filesNamed(value, nil) {
			if slices.ContainsFunc(open, func(root string) bool { return isIn(path, root) || isIn(process.Resolve(path), root) }) {
				out = append(out, workspace.Guarded{Path: path, Effect: policy.ReadByPrograms})
			}
		}
	}
	return out
}

// naming are files of a home, and of open folders, that name others in JSON.
var naming = strings.Fields(".claude/settings.json .claude/settings.local.json .mcp.json .vscode/tasks.json")

// namedByOthers lists what these name.
func namedByOthers(home string, open []string) (out []workspace.Guarded) {
	for _, dir := range slices.Concat(open, []string{home}) {
		for _, name := range naming {
			read, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				continue
			}
			text := strings.NewReplacer("~/", home+"/", "$HOME/", home+"/").Replace(string(read))
			for _, path := range namedInJSON([]byte(text), append([]string{filepath.Dir(filepath.Join(dir, name)), home}, open...)) {
				out = append(out, workspace.Guarded{Path: path, Effect: policy.ReadByPrograms})
			}
		}
	}
	return out
}

// runsIn are the keys, in settings of programs, below which are lines to run, arguments, and where these run.
var runsIn = regexp.MustCompile(`(?i)(command|helper|^args|^acp|^env|^cwd|^settings|^initializationoptions)$`)

// namedInJSON are the files that lines in settings name, below one of the folders or a folder that the
// settings name in it.
func namedInJSON(text []byte, folders []string) (out []string) {
	var lines []string
	var read func(v any, runs bool)
	read = func(v any, runs bool) {
		switch v := v.(type) {
		case string:
			if runs {
				lines = append(lines, v)
			}
		case []any:
			for _, one := range v {
				read(one, runs)
			}
		case map[string]any:
			for key, one := range v {
				read(one, runs || runsIn.MatchString(key))
			}
		}
	}
	var all any
	if json.Unmarshal(text, &all) != nil { // it has comments, or is none
		return filesNamed(string(text), folders)
	}
	read(all, false)
	in := slices.Clone(folders)
	for _, line := range lines {
		for _, folder := range folders {
			if at := expand(line, folder, ""); isFolder(at) {
				in = append(in, at)
			}
		}
	}
	for _, line := range lines {
		out = append(out, filesNamed(line, in)...)
	}
	return out
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
