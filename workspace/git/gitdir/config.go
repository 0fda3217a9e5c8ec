package gitdir

import (
	"cmp"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
)

// Config is git's configuration from all its files, later ones last: keys are
// "section.key" or "section.subsection.key", section and key in lower case.
// Nothing in it is ever run. Of includeIf the conditions gitdir, gitdir/i, onbranch and
// hasconfig are followed.
type Config map[string][]string

// Get is the last value of key, "" if there is none.
func (c Config) Get(key string) string {
	values := c[key]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

func (c Config) Bool(key string, otherwise bool) bool {
	if len(c[key]) == 0 {
		return otherwise
	}
	switch value := strings.ToLower(c.Get(key)); value {
	case "true", "yes", "on":
		return true
	case "false", "no", "off", "":
		return false
	default:
		n, err := strconv.Atoi(value)
		return err == nil && n != 0
	}
}

func (c Config) Int(key string, otherwise int) int {
	if n, err := strconv.Atoi(c.Get(key)); err == nil {
		return n
	}
	return otherwise
}

// readConfig reads the system's, the user's and the repository's files. A file
// that cannot be read counts as empty. Includes without end are an error, as for git.
func readConfig(gitDir, commonDir string) (Config, error) {
	r := &configReader{config: Config{}, gitDir: gitDir}
	r.all(commonDir)
	if r.hasConfig && r.err == nil { // what is included by the remotes there are, which are known now
		r = &configReader{config: Config{}, gitDir: gitDir, remotes: r.config.urls()}
		r.all(commonDir)
	}
	return r.config, r.err
}

// urls are the addresses of all remotes.
func (c Config) urls() []string {
	var out []string
	for key, values := range c {
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".url") {
			out = append(out, values...)
		}
	}
	return out
}

func (r *configReader) all(commonDir string) {
	if _, off := os.LookupEnv("GIT_CONFIG_NOSYSTEM"); !off {
		r.read(cmp.Or(os.Getenv("GIT_CONFIG_SYSTEM"), "/etc/gitconfig"), 0)
	}
	if global, set := os.LookupEnv("GIT_CONFIG_GLOBAL"); set {
		r.read(global, 0)
	} else {
		r.read(filepath.Join(UserConfigDir(), "config"), 0)
		r.read(filepath.Join(homeDir(), ".gitconfig"), 0)
	}
	r.read(filepath.Join(commonDir, "config"), 0)
	if r.config.Bool("extensions.worktreeconfig", false) {
		r.read(filepath.Join(r.gitDir, "config.worktree"), 0)
	}
}

// configReader reads files into a configuration, for the repository of gitDir.
type configReader struct {
	config Config
	gitDir string
	files  int   // how many were read
	bytes  int   // in all of them
	err    error // nothing more is read after it

	remotes   []string // addresses of remotes
	hasConfig bool     // what is included depends on them
}

func homeDir() string {
	home, _ := os.UserHomeDir()
	return home
}

// UserConfigDir is where git keeps the user's files other than ~/.gitconfig.
func UserConfigDir() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	return filepath.Join(homeDir(), ".config", "git")
}

func (r *configReader) read(name string, depth int) {
	const deepest = 10 // git's own limit
	const mostFiles, mostBytes = 1000, gitfile.MaxSize
	if r.err != nil {
		return
	}
	text, err := gitfile.Read(name)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	r.files++
	r.bytes += len(text)
	if err != nil || depth > deepest || r.files > mostFiles || r.bytes > mostBytes {
		r.err = fault.New(fault.GitError, "the configuration includes too many files, one without end or files that include one another, as far as %s", fault.Quote(name)).
			WithHint("ask the user to take the include out; git config --list --show-origin says where it is")
		return
	}
	parseConfig(string(text), func(key, value string) {
		r.config[key] = append(r.config[key], value)
		condition, conditional := strings.CutPrefix(strings.TrimSuffix(key, ".path"), "includeif.")
		if key == "include.path" || conditional && strings.HasSuffix(key, ".path") && r.holds(condition, filepath.Dir(name)) {
			r.read(ExpandPath(value, filepath.Dir(name)), depth+1)
		}
	})
}

// holds says whether the condition of an includeIf in a file of dir does.
func (r *configReader) holds(condition, dir string) bool {
	kind, pattern, _ := strings.Cut(condition, ":")
	switch kind {
	case "hasconfig":
		pattern, ofRemote := strings.CutPrefix(pattern, "remote.*.url:")
		r.hasConfig = r.hasConfig || ofRemote
		return ofRemote && slices.ContainsFunc(r.remotes, func(address string) bool {
			return MatchPath(strings.Split(pattern, "/"), strings.Split(address, "/"))
		})
	case "onbranch":
		if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		branch := (&Repository{GitDir: r.gitDir, CommonDir: r.gitDir}).Branch()
		return branch != "" && MatchPath(strings.Split(pattern, "/"), strings.Split(branch, "/"))
	case "gitdir", "gitdir/i":
		real, err := filepath.EvalSymlinks(r.gitDir)
		if err != nil {
			real = r.gitDir
		}
		pattern = gitDirPattern(pattern, dir)
		return matchFolder(pattern, r.gitDir, kind == "gitdir/i") || matchFolder(pattern, real, kind == "gitdir/i")
	}
	return false
}

// gitDirPattern is a pattern for whole paths.
func gitDirPattern(pattern, dir string) string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.ToSlash(homeDir()) + "/" + rest
	} else if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		pattern = filepath.ToSlash(dir) + "/" + rest
	} else if !filepath.IsAbs(pattern) {
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	return pattern
}

func matchFolder(pattern, folder string, anyCase bool) bool {
	folder = filepath.ToSlash(folder)
	if anyCase {
		pattern, folder = strings.ToLower(pattern), strings.ToLower(folder)
	}
	return MatchPath(strings.Split(pattern, "/"), strings.Split(folder, "/"))
}

// ExpandPath resolves a path value: "~/" is the home folder, "~name/" that of somebody
// else, others are relative to dir.
func ExpandPath(value, dir string) string {
	if name, rest, _ := strings.Cut(value, "/"); strings.HasPrefix(name, "~") {
		home := homeDir()
		if name != "~" {
			if found, err := user.Lookup(name[1:]); err == nil {
				home = found.HomeDir
			}
		}
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(value) {
		return value
	}
	return filepath.Join(dir, value)
}

// parseConfig calls set for each variable, in order. What it does not
// understand it skips, line by line.
func parseConfig(text string, set func(key, value string)) {
	section := ""
	text = strings.TrimPrefix(text, "\ufeff")
	for text != "" {
		text = strings.TrimLeft(text, " \t\r\n")
		switch {
		case text == "":
		case text[0] == '[':
			section, text = parseSection(text[1:])
		case text[0] == '#' || text[0] == ';':
			_, text, _ = strings.Cut(text, "\n")
		default:
			end := strings.IndexAny(text, "=\n#;")
			if end < 0 {
				end = len(text)
			}
			key := section + "." + strings.ToLower(strings.TrimSpace(text[:end]))
			if end == len(text) || text[end] != '=' { // a lone name is true
				set(key, "true")
				_, text, _ = strings.Cut(text[end:], "\n")
				continue
			}
			var value string
			value, text = parseValue(text[end+1:])
			set(key, value)
		}
	}
}

// parseSection reads what follows "[": name] or name "subsection"].
func parseSection(text string) (section, rest string) {
	end := strings.IndexAny(text, "]\"\n")
	if end < 0 {
		return "", ""
	}
	section = strings.ToLower(strings.TrimSpace(text[:end]))
	if text[end] != '"' {
		return section, text[end+1:]
	}
	var sub strings.Builder
	i := end + 1
	for ; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		sub.WriteByte(text[i])
	}
	_, rest, _ = strings.Cut(text[min(i, len(text)):], "]")
	return section + "." + sub.String(), rest
}

// parseValue reads a value up to its line's end: quotes, escapes, comments and
// continued lines as git has them.
func parseValue(text string) (value, rest string) {
	var out strings.Builder
	quoted, solid := false, 0 // solid: the length without trailing blanks
	text = strings.TrimLeft(text, " \t")
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n':
			return out.String()[:solid], text[i+1:]
		case c == '"':
			quoted = !quoted
			solid = out.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			_, rest, _ = strings.Cut(text[i:], "\n")
			return out.String()[:solid], rest
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case '\n':
				continue
			case 'n':
				out.WriteByte('\n')
			case 't':
				out.WriteByte('\t')
			case 'b':
				out.WriteByte('\b')
			default:
				out.WriteByte(text[i])
			}
			solid = out.Len()
			continue
		}
		out.WriteByte(c)
		if quoted || c != ' ' && c != '\t' && c != '\r' {
			solid = out.Len()
		}
	}
	return out.String()[:solid], ""
}

// ReadConfigFile reads one file, such as .gitmodules, with what it includes.
func ReadConfigFile(name string) Config {
	r := configReader{config: Config{}}
	r.read(name, 0)
	return r.config
}
