package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"

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

// salvage reads rules that deny or ask up to the place where the text is broken.
func salvage(raw []byte) (deny, ask []Rule) {
	d := json.NewDecoder(bytes.NewReader(withoutComments(raw)))
	var at []level
	for token, err := d.Token(); err == nil; token, err = d.Token() {
		text, isText := token.(string)
		switch {
		case token == json.Delim('{'), token == json.Delim('['):
			at = append(at, level{object: token == json.Delim('{')})
			continue
		case token == json.Delim('}'), token == json.Delim(']'):
			at = at[:len(at)-1]
		case len(at) > 0 && at[len(at)-1].takesKey():
			at[len(at)-1] = level{object: true, key: text, keyed: true}
			continue
		case isText && isRuleOf(at, "deny"):
			deny = append(deny, Rule{Rule: text})
		case isText && isRuleOf(at, "ask"):
			ask = append(ask, Rule{Rule: text})
		}
		if len(at) > 0 { // a value has ended
			at[len(at)-1].keyed = false
		}
	}
	var p problems
	p.checkRules(&deny, policy.Refuse)
	p.checkRules(&ask, policy.Ask)
	return deny, ask
}

// level is an object or a list that a reader of JSON is in.
type level struct {
	object bool
	key    string
	keyed  bool // the key's value comes
}

func (l level) takesKey() bool { return l.object && !l.keyed }

// isRuleOf: a text here is a rule of the list, bare or as an object's "rule".
func isRuleOf(at []level, list string) bool {
	if len(at) < 3 || at[0].key != "permissions" || at[1].key != list || at[2].object {
		return false
	}
	return len(at) == 3 || len(at) == 4 && at[3].key == "rule"
}

// withoutComments blanks comments.
func withoutComments(raw []byte) []byte {
	out := bytes.Clone(raw)
	for i := 0; i < len(out); i++ {
		end := i
		switch {
		case out[i] == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(out[i:], []byte("//")):
			end = i + len(line(out[i:]))
		case bytes.HasPrefix(out[i:], []byte("/*")):
			end = len(out)
			if n := bytes.Index(out[i:], []byte("*/")); n >= 0 {
				end = i + n + 2
			}
		}
		for ; i < end; i++ {
			out[i] = ' '
		}
	}
	return out
}

func line(text []byte) []byte {
	before, _, _ := bytes.Cut(text, []byte("\n"))
	return before
}
