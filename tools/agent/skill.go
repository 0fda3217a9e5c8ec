package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/skills"
	"pillion/workspace"
)

var _ = tools.Define(tools.NewSkill(tools.Spec{
	Name:        "skill",
	Title:       "Use skill",
	Description: "Lists skills: instructions for kinds of work. Loads one by name, which the user approves.",
	Results:     []any{skillList{}, skillResult{}},
}, planSkill))

type skillArgs struct {
	Action string `json:"action" jsonschema:"list or load"`
	Name   string `json:"name,omitempty"`
}

type skillList struct {
	Skills []skillEntry `json:"skills"`
}

type skillEntry struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Source      string `json:"source"`
	ShadowedBy  string `json:"shadowed_by,omitempty"` // one of that name which is loaded in its place
	Problem     string `json:"problem,omitempty"`     // why it cannot be loaded
}

type skillResult struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	Path    string `json:"path"`
}

// skillFolders are where a project has its skills, the first ones counting.
var skillFolders = []string{".pillion/skills", ".agents/skills", ".claude/skills"}

func planSkill(_ context.Context, in tools.Input, args skillArgs) (tools.Plan, error) {
	switch {
	case args.Action == "list" && args.Name == "":
		return listSkills(in), nil
	case args.Action != "load":
		return nil, fault.Invalid("action must be list, or load with a name; got %s", fault.Quote(fault.Clip(args.Action, 80)))
	case args.Name == "":
		return nil, fault.Invalid("argument name is missing; name the skill to load")
	}
	all := allSkills(in, args.Name)
	named := func(s skills.Skill) bool { return s.Name == args.Name }
	at := slices.IndexFunc(all, func(s skills.Skill) bool { return named(s) && s.Problem == "" && s.ShadowedBy == "" })
	if at >= 0 {
		return loadSkill(in, all[at]), nil
	}
	if at = slices.IndexFunc(all, named); at >= 0 {
		return nil, fault.New(fault.ExecutionFailed, "the skill %s in %s cannot be loaded: %s", args.Name, fault.Quote(all[at].Source), all[at].Problem).
			WithHint("tell the user")
	}
	return nil, fault.New(fault.FileNotFound, "there is no skill %s", fault.Quote(fault.Clip(args.Name, 80))).WithHint("list them with action list")
}

// allSkills are the project's, and then the user's own; or those of one name alone.
func allSkills(in tools.Input, only string) []skills.Skill {
	var all []skills.Skill
	for _, root := range in.Snapshot.Workspace().Roots() {
		for _, name := range skillFolders {
			at := root.Join(name)
			all = append(all, skills.In(skills.Folder{Source: at.String(), At: at, Read: func(p workspace.Path) (string, error) {
				f, err := in.Snapshot.Read(p, "")
				if err != nil {
					return "", err
				}
				return f.Text, nil
			}}, only)...)
		}
	}
	if in.Skills != nil {
		all = append(all, in.Skills(only)...)
	}
	return skills.Shadow(all)
}

func listSkills(in tools.Input) *tools.Answer {
	r, text := skillList{Skills: []skillEntry{}}, ""
	for _, s := range allSkills(in, "") {
		if in.Denied(s.Name) {
			continue
		}
		e := skillEntry{Name: s.Name, Description: fault.Line(s.Description), Source: s.Source, ShadowedBy: s.ShadowedBy, Problem: s.Problem}
		r.Skills = append(r.Skills, e)
		text += e.line() + "\n"
	}
	return &tools.Answer{Result: r, Text: cmp.Or(text, "there are no skills\n"), Summary: tools.Count(len(r.Skills), "skill")}
}

func (e skillEntry) line() string {
	source := fault.Quote(e.Source)
	switch {
	case e.Problem != "":
		return strings.TrimSpace(fmt.Sprintf("%s (%s): cannot be loaded: %s", e.Name, source, fault.Line(e.Problem)))
	case e.ShadowedBy != "":
		return fmt.Sprintf("%s (%s): not loaded, because %s has one of that name", e.Name, source, fault.Quote(e.ShadowedBy))
	}
	return fmt.Sprintf("%s (%s): %s", e.Name, source, e.Description)
}

// loadSkill asks for exactly this text: for another one it asks again.
func loadSkill(in tools.Input, s skills.Skill) *tools.Action {
	version := skillVersion(s.Content)
	yes := "skill(" + s.Name + " " + version + ")"
	_, granted := in.Session.GrantedOnce()[yes]
	name := filepath.ToSlash(s.File)
	if !s.Path.IsZero() {
		name = s.Path.String()
	}
	a := &tools.Action{
		Title: "Load the skill " + s.Name,
		Skill: true, Subject: s.Name, Theirs: !s.Path.IsZero(),
		Preview: approval.Preview{
			Kind: "text", Deed: "load the skill " + s.Name, Question: "Load this skill?",
			Lines: strings.Split(strings.TrimRight(s.Content, "\n"), "\n"),
			Facts: []approval.Fact{approval.NewFact("source", "From", name)},
		},
		Covered: granted || in.Session.IsEditors(),
		Run: func(context.Context, tools.Effects) (*tools.Answer, error) {
			in.Session.GrantOnce(yes)
			return skillAnswer(s.Name, name, s.Content), nil
		},
	}
	if !s.Path.IsZero() {
		a.Reads = []workspace.Path{s.Path}
		return a
	}
	a.Watch = []string{filepath.Dir(s.File)}
	in.Snapshot.RestOnState(name, version, func() string {
		now := in.Skills(s.Name)
		at := slices.IndexFunc(now, func(other skills.Skill) bool { return other.File == s.File })
		if at < 0 {
			return ""
		}
		return skillVersion(now[at].Content)
	})
	return a
}

func skillVersion(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func skillAnswer(name, path, content string) *tools.Answer {
	return &tools.Answer{
		Result: skillResult{name, content, path}, Text: content, Paged: true,
		Notes:   []string{fmt.Sprintf("(skill %s, from %s)", name, fault.Quote(path))},
		Summary: "loaded " + name,
	}
}
