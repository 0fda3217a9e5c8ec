package gitdir

import (
	"bytes"
	"cmp"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	format "github.com/go-git/go-git/v5/plumbing/format/config"

	"pillion/internal/fault"
	"pillion/workspace/git/gitfile"
)

// Config is git's configuration, the values of each key in the order in which git reads them: keys are
// "section.key" or "section.subsection.key", section and key in lower case. Nothing in it is ever run.
type Config map[string][]string

// Get is the last value of key, "" if there is none.
func (c Config) Get(key string) string {
	values := c[key]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// Bool is the last value of key as git takes it for yes or no.
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
		digits := strings.TrimRight(strings.TrimSpace(value), "kmg") // git takes any number, with its unit
		n, err := strconv.ParseInt(digits, 0, 64)
		return err != nil || n != 0 // of what is neither, git says that it is bad
	}
}

// Tracked is the full name of the reference that follows what a local branch
// was set to follow. It need not exist.
func (c Config) Tracked(branch string) (string, bool) {
	remote, merge := c.Get("branch."+branch+".remote"), c.Get("branch."+branch+".merge")
	if remote == "" || merge == "" {
		return "", false
	}
	if remote == "." {
		return merge, true
	}
	name := c.TrackingOf(remote, merge)
	return name, name != ""
}

// TrackingOf is where a remote's branch is kept here, "" for nowhere.
func (c Config) TrackingOf(remote, name string) string {
	for _, spec := range c["remote."+remote+".fetch"] {
		from, to, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if into, ok := mapped(name, from, to); ok && to != "" {
			return into
		}
	}
	return ""
}

// mapped is what a refspec's sides, each with at most one *, make of name.
func mapped(name, from, to string) (string, bool) {
	before, after, glob := strings.Cut(from, "*")
	if !glob {
		return to, name == from
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return strings.Replace(to, "*", name[len(before):len(name)-len(after)], 1), true
}

// ReadConfig reads configuration files without a git program, the later ones last; one that is not there is
// empty. It follows no includes.
func ReadConfig(files ...string) (Config, error) {
	c := Config{}
	for _, file := range files {
		text, err := gitfile.Read(file)
		if os.IsNotExist(err) {
			continue
		}
		read := format.New()
		if err == nil {
			err = format.NewDecoder(bytes.NewReader(text)).Decode(read)
		}
		if err != nil {
			return nil, fault.New(fault.GitError, "the configuration in %s cannot be read", fault.Quote(file))
		}
		for _, section := range read.Sections {
			c.add(strings.ToLower(section.Name), section.Options)
			for _, sub := range section.Subsections {
				c.add(strings.ToLower(section.Name)+"."+sub.Name, sub.Options)
			}
		}
	}
	return c, nil
}

func (c Config) add(section string, options format.Options) {
	for _, o := range options {
		key := section + "." + strings.ToLower(o.Key)
		c[key] = append(c[key], o.Value)
	}
}

// Files are the configuration files of a repository.
func Files(gitDir, commonDir string) []string {
	return []string{filepath.Join(commonDir, "config"), filepath.Join(gitDir, "config.worktree")}
}

// UsersFiles are those of the machine and the user.
func UsersFiles() []string {
	files := []string{cmp.Or(os.Getenv("GIT_CONFIG_SYSTEM"), "/etc/gitconfig")}
	if _, off := os.LookupEnv("GIT_CONFIG_NOSYSTEM"); off {
		files = nil
	}
	if global, set := os.LookupEnv("GIT_CONFIG_GLOBAL"); set {
		return append(files, global)
	}
	home, _ := os.UserHomeDir() //nolint:errcheck // then it has no file of theirs
	return append(files, filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "config"), filepath.Join(home, ".gitconfig"))
}

// ExpandPath is a path in a setting: relative to dir, or in a home. A ".." stays, for the kernel goes through a link before it.
func ExpandPath(value, dir string) string {
	if name, rest, _ := strings.Cut(value, "/"); strings.HasPrefix(name, "~") {
		home, _ := os.UserHomeDir() //nolint:errcheck // then it leads nowhere
		if name != "~" {
			if found, err := user.Lookup(name[1:]); err == nil {
				home = found.HomeDir
			}
		}
		value, dir = rest, home
	}
	if filepath.IsAbs(value) {
		return value
	}
	return dir + string(filepath.Separator) + filepath.FromSlash(value)
}
