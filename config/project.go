package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"pillion/internal/fault"
	"pillion/tools/policy"
	"pillion/workspace"
)

// The project's own settings, below its folder, and how large they may be.
const (
	ProjectFolder = ".pillion"
	ProjectFile   = "settings.json"
	maxProject    = 256 << 10
)

// projectText is the bytes of a project's file as they were read, and what is wrong
// with the file itself.
type projectText struct {
	raw     []byte // nil: there is none that can be read
	linked  bool   // it is reached through a link
	kept    bool   // it cannot be read now, and this is what it held before
	problem string
}

func (t projectText) equal(other projectText) bool {
	return t.linked == other.linked && t.kept == other.kept && t.problem == other.problem && (t.raw == nil) == (other.raw == nil) && bytes.Equal(t.raw, other.raw)
}

// readProject never leaves the folder, never blocks, and reads no more than a
// settings file may have. Where a file cannot be read that could be before, what it
// tightened then holds on.
func readProject(root workspace.Path, before projectText) projectText {
	folder := root.Join(ProjectFolder)
	file := folder.Join(ProjectFile)
	if (!folder.Exists() || !file.Exists()) && (before.raw == nil || isGone(file)) {
		return projectText{}
	}
	raw, _, err := file.ReadFile(maxProject)
	switch {
	case err == nil:
	case before.raw != nil:
		return projectText{raw: before.raw, kept: true, problem: fault.From(err).Message + "; its earlier stricter settings stay in force"}
	default:
		return projectText{problem: "it is ignored: " + fault.From(err).Message}
	}
	t := projectText{raw: raw, linked: isLink(folder) || isLink(file)}
	if raw == nil {
		t.raw = []byte{}
	}
	if t.linked {
		t.problem = "it is a link, so only its stricter settings apply"
	}
	return t
}

// isGone tells a file that is not there from one of which that cannot be told.
func isGone(file workspace.Path) bool {
	_, err := file.Lstat()
	return fault.CodeOf(err) == fault.FileNotFound
}

func isLink(p workspace.Path) bool {
	info, err := p.Lstat()
	return err != nil || info.Mode()&fs.ModeSymlink != 0
}

// projectPath is the file's name for people and for the wire.
func projectPath(root workspace.Path) string {
	return filepath.Join(root.RootDir(), ProjectFolder, ProjectFile)
}

// Hash names a text: of those that are trusted only this is kept.
func Hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// parseProject reads a project's settings. From a text that breaks off it takes the
// rules that restrict, as far as they can be read.
func parseProject(raw []byte) (Settings, []string) {
	s, problems := Parse(raw)
	if !json.Valid(raw) && isEmpty(s) {
		s.Permissions.Deny, s.Permissions.Ask = salvage(raw)
		if n := len(s.Permissions.Deny) + len(s.Permissions.Ask); n > 0 {
			problems = append(problems, fmt.Sprintf("%d of its deny and ask rules can be read and apply", n))
		}
	}
	return s, problems
}

func isEmpty(s Settings) bool {
	text, err := json.Marshal(s)
	return err == nil && string(text) == "{}"
}

// ruleAt is where a rule that denies or asks is, bare or as an object's "rule".
var ruleAt = regexp.MustCompile(`^/permissions/(deny|ask)/\d+(/rule)?$`)

// salvage reads rules that deny or ask up to the place where the text is broken.
func salvage(raw []byte) (deny, ask []Rule) {
	d := jsontext.NewDecoder(bytes.NewReader(withoutComments(raw)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for token, err := d.ReadToken(); err == nil; token, err = d.ReadToken() {
		in, n := d.StackIndex(d.StackDepth())
		isName := in == '{' && n%2 == 1
		at := ruleAt.FindStringSubmatch(string(d.StackPointer()))
		switch {
		case at == nil || isName || token.Kind() != '"':
		case at[1] == "deny":
			deny = append(deny, Rule{Rule: token.String()})
		default:
			ask = append(ask, Rule{Rule: token.String()})
		}
	}
	var p problems
	p.checkRules(&deny, policy.Refuse)
	p.checkRules(&ask, policy.Ask)
	return deny, ask
}

// comment is a comment, or a string, in which none begins. Either may not end.
var comment = regexp.MustCompile(`(?s)"(\\.|[^"\\])*"?|//[^\n]*|/\*.*?(\*/|$)`)

// withoutComments blanks comments.
func withoutComments(raw []byte) []byte {
	return comment.ReplaceAllFunc(raw, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return bytes.Repeat([]byte(" "), len(found))
	})
}
