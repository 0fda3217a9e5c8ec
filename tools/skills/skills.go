// Package skills reads skills: folders with a SKILL.md, whose front matter says what it
// is for and whose text tells an agent how to do something.
//
// In reads those of a folder, Outside those of one that is not in the workspace, and
// Shadow says which of them count. Whatever is wrong with a skill is said of it, and
// everything is bounded: number, size, names.
//
// Deliberately not here: whether an agent may load one (tools/policy), and the other files
// in a skill's folder, which an agent reads like any file.
package skills

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"pillion/internal/fault"
	"pillion/workspace"
)

// Bounds of what is read.
const (
	MaxBytes       = 100_000 // of a SKILL.md
	maxSkills      = 200     // in a folder
	maxName        = 64
	maxDescription = 1024 // characters
	maxFront       = 8 << 10
)

// Skill is one of them.
type Skill struct {
	Name        string // "": the whole folder has a Problem
	Description string
	Source      string         // the folder that it is in, as people write it
	File        string         // absolute
	Path        workspace.Path // the same, zero of one outside of the workspace
	Content     string         // of the whole file
	Problem     string         // why it cannot be loaded, a clause
	ShadowedBy  string         // the source of another one of the name, which counts
}

// Folder is where skills are, each in a folder of its own.
type Folder struct {
	Source string
	At     workspace.Path
	Read   func(workspace.Path) (string, error)
}

// In are the skills of a folder by name, or the one that only names. A folder that is not
// there has none.
func In(f Folder, only string) []Skill {
	if only != "" {
		if file := f.file(only); validName.MatchString(only) && file.Exists() {
			return []Skill{f.read(only, file)}
		}
		return nil
	}
	entries, err := f.At.ReadDir()
	if err != nil {
		if fault.CodeOf(err) == fault.FileNotFound {
			return nil
		}
		return []Skill{{Source: f.Source, Problem: fault.From(err).Message}}
	}
	var out []Skill
	for _, e := range entries {
		file := f.file(e.Name())
		if e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || e.IsDir() && !file.Exists() {
			continue
		}
		if len(out) == maxSkills {
			return append(out, Skill{Source: f.Source, Problem: fmt.Sprintf("there are more than %d skills; the others are left out", maxSkills)})
		}
		out = append(out, f.read(e.Name(), file))
	}
	return out
}

func (f Folder) file(name string) workspace.Path { return f.At.Join(name).Join("SKILL.md") }

// read gives a skill whatever is wrong with it.
func (f Folder) read(name string, file workspace.Path) Skill {
	s := Skill{Name: name, Source: f.Source, File: file.Abs(), Path: file}
	if !validName.MatchString(name) || len(name) > maxName {
		s.Name = fault.Line(fault.Clip(name, maxName))
		s.Problem = fmt.Sprintf("its folder's name must be of a-z, 0-9 and single hyphens, at most %d characters", maxName)
		return s
	}
	info, err := file.Stat()
	if err == nil && info.Size() > MaxBytes {
		err = fault.New(fault.FileTooLarge, "it has more than %d bytes", MaxBytes)
	}
	if err == nil {
		s.Content, err = f.Read(file)
	}
	if err == nil && len(s.Content) > MaxBytes { // in a buffer
		err = fault.New(fault.FileTooLarge, "it has more than %d bytes", MaxBytes)
	}
	if err == nil {
		s.Description, err = describe(name, s.Content)
	}
	if err != nil {
		s.Content, s.Problem = "", fault.From(err).Message
	}
	return s
}

var validName = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

// describe reads the front matter. What is wrong with it is said without its text, which
// may be of any file.
func describe(name, text string) (string, error) {
	front, err := frontMatter(text)
	if err != nil {
		return "", err
	}
	var said struct{ Name, Description string }
	if yaml.Unmarshal([]byte(front), &said) != nil {
		return "", errors.New("its front matter is not the YAML of a name and a description")
	}
	description := strings.Join(strings.Fields(said.Description), " ")
	switch {
	case said.Name != name:
		return "", errors.New("the name in its front matter is not that of its folder")
	case description == "":
		return "", errors.New("its front matter has no description")
	case utf8.RuneCountInString(description) > maxDescription:
		return "", fmt.Errorf("its description has more than %d characters", maxDescription)
	}
	return description, nil
}

// frontMatter is what stands between two lines of three hyphens at the beginning.
func frontMatter(text string) (string, error) {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "---\n")
	if !ok {
		return "", errors.New("it does not begin with front matter: a line of ---, name and description, and --- again")
	}
	front, _, ok := strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		front, ok = strings.CutSuffix("\n"+rest, "\n---")
	}
	if !ok || len(front) > maxFront {
		return "", fmt.Errorf("its front matter does not end within %d bytes", maxFront)
	}
	return front, nil
}

// Outside is In of a folder that is not in the workspace. No link leads out of it.
func Outside(source, dir, only string) []Skill {
	w, err := workspace.Open(workspace.Folder{Dir: dir})
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return []Skill{{Source: source, Problem: "the folder cannot be opened"}}
	}
	defer w.Close()
	found := In(Folder{Source: source, At: w.Roots()[0], Read: func(p workspace.Path) (string, error) {
		data, _, err := p.ReadFile(MaxBytes)
		switch {
		case err != nil:
			return "", err
		case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
			return "", errors.New("it is not UTF-8 text")
		}
		return string(data), nil
	}}, only)
	for i := range found {
		found[i].Path = workspace.Path{}
	}
	return found
}

// Shadow marks, of skills of one name that could be loaded, those after the first.
func Shadow(all []Skill) []Skill {
	first := map[string]string{}
	for i, s := range all {
		if s.Problem != "" {
			continue
		}
		if by, taken := first[s.Name]; taken {
			all[i].ShadowedBy = by
		} else {
			first[s.Name] = s.Source
		}
	}
	slices.SortStableFunc(all, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return all
}
