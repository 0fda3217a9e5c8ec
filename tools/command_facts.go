package tools

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"pillion/internal/fault"
	"pillion/internal/way"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/document"
)

// commandFacts adds to a command what only the workspace can tell: where each word
// leads, if it is a path. The plan rests on the scripts that the line names.
func (p *pending) commandFacts(c *policy.Command) *policy.Command {
	if c == nil {
		return nil
	}
	out := *c
	out.POSIX = runtime.GOOS != "windows"
	ws := p.snapshot.Workspace()
	dir, err := ws.ResolveDir(c.Cwd)
	if err != nil {
		return &out // the folder went away; the call will say so
	}
	reading := policy.ReadCommand(c.Line)
	names := reading.Words()
	if looks, ok := policy.ReadLooks(c.Line); ok {
		out.Matches = map[policy.Pattern][]string{}
		for _, pattern := range looks.Patterns() {
			if found, known := matching(ws, dir, pattern); known {
				out.Matches[pattern] = found
			}
		}
		names = append(names, looks.Names(out.Matches)...)
	}
	out.Words = map[string]policy.WordFact{}
	for _, name := range names {
		if _, known := out.Words[name]; !known {
			out.Words[name] = p.wordFact(ws, dir, name)
		}
	}
	for _, name := range reading.Programs() {
		if file, planted := p.planted(dir, name); planted {
			fact := out.Words[name]
			fact.Planted = true
			out.Words[name] = fact
			p.snapshot.RestOn(file)
		}
	}
	restOnScripts(p.snapshot, dir, reading)
	return &out
}

// restOnScripts has the plan rest on whatever file a script's name may lead to: from
// where the line starts, and from each folder that it says that it goes to.
func restOnScripts(snapshot *document.Snapshot, dir workspace.Path, reading *policy.CommandReading) {
	ws, at := snapshot.Workspace(), dir.Abs()
	places := []string{at}
	for _, folder := range reading.Folders() {
		if !filepath.IsAbs(folder) {
			folder = at + "/" + folder
		}
		at = folder
		if places = append(places, at); len(places) == mostPlaces {
			break
		}
	}
	names := reading.Scripts()
	for _, name := range names[:min(len(names), mostScripts)] {
		if file, inside := follow(ws, dir, name); inside && !file.IsZero() {
			snapshot.RestOn(file)
		}
		for i, place := range places {
			if path.IsAbs(name) {
				place = ""
			}
			restOnFile(snapshot, place+"/"+name, i == 0)
		}
	}
}

// How many folders, and names in each, are looked at for one line. A person approves
// it, and none reads more than that.
const (
	mostPlaces  = 8
	mostScripts = 500
)

// restOnFile looks where a name leads on disk: links may be turned round. Of those
// from the line's own folder what lies inside has been looked at.
func restOnFile(snapshot *document.Snapshot, name string, own bool) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil { // by way of a folder that the line makes first
		name = filepath.Clean(name)
		if real, err = filepath.EvalSymlinks(name); err != nil {
			return
		}
	}
	inside, err := snapshot.Workspace().Resolve(real)
	if err != nil || real != filepath.Clean(name) {
		snapshot.RestOnOutside(name)
	}
	if err == nil && !own {
		snapshot.RestOn(inside)
	}
}

func (p *pending) wordFact(ws *workspace.Workspace, dir workspace.Path, name string) policy.WordFact {
	at, inside := follow(ws, dir, name)
	if !inside {
		real := process.Resolve(way.Join(dir.Abs(), name))
		return policy.WordFact{Outside: true, Temporary: process.IsTemporary(real), PathFact: policy.PathFact{
			Path: filepath.ToSlash(real), Guarded: p.guardedPlaces().Effect(real), Executable: process.IsProgram(real),
		}}
	}
	if at.IsZero() {
		return policy.WordFact{}
	}
	fact, err := p.factOf(resolveTouch(touch{path: at, write: true}), p.layoutWith(at))
	if err != nil {
		return policy.WordFact{Outside: true}
	}
	fact.Executable = isExecutable(at)
	info, err := at.Stat()
	return policy.WordFact{PathFact: fact, IsFolder: err == nil && info.IsDir()}
}

// mostMatches is how many names a pattern of a line may stand for, that nobody is asked about.
const mostMatches = 1000

// matching are the names that a shell would put in place of a pattern, as far as that stays in the workspace.
func matching(ws *workspace.Workspace, dir workspace.Path, pattern policy.Pattern) (names []string, known bool) {
	at, inside := follow(ws, dir, pattern.Folder)
	if !inside || at.IsZero() || path.IsAbs(pattern.Text) {
		return nil, false
	}
	found := []string{""}
	for _, step := range strings.Split(pattern.Text, "/") {
		var next []string
		for _, before := range found {
			names := []string{step}
			if strings.ContainsAny(step, `*?[\`) {
				in, inside := follow(ws, at, before)
				if !inside {
					continue
				}
				entries, err := in.ReadDir()
				if err != nil {
					continue
				}
				names = nil
				hides := !strings.HasPrefix(step, ".")
				if up, err := path.Match(step, ".."); err != nil || up && !hides { // some shells find that, too
					return nil, false
				}
				for _, e := range entries {
					if strings.Contains(step, "?") && strings.ContainsFunc(e.Name(), func(c rune) bool { return c >= utf8.RuneSelf }) {
						return nil, false // of what it stands for once, shells think differently
					}
					if ok, _ := path.Match(step, e.Name()); ok && !(hides && strings.HasPrefix(e.Name(), ".")) { //nolint:errcheck // it is well formed
						names = append(names, e.Name())
					}
				}
			}
			for _, name := range names {
				next = append(next, before+name+"/")
			}
		}
		if found = next; len(found) > mostMatches {
			return nil, false
		}
	}
	for i, name := range found {
		found[i] = strings.TrimSuffix(name, "/")
	}
	return slices.DeleteFunc(found, func(name string) bool {
		in, inside := follow(ws, at, name)
		return inside && !in.IsZero() && !in.Exists()
	}), true
}

func isExecutable(p workspace.Path) bool {
	info, err := p.Stat()
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// longestName is what no file system takes for a name.
const longestName = 255

// follow goes the way of a name from dir as the kernel would, link by link, and
// reports false where it leaves the workspace or cannot be told. What can be no
// file's name leads to no place.
func follow(ws *workspace.Workspace, dir workspace.Path, name string) (at workspace.Path, inside bool) {
	var err error
	if path.IsAbs(name) || filepath.IsAbs(name) {
		at, err = ws.Resolve(name)
		name = ""
	} else {
		at = dir
	}
	ups := 0
	for _, step := range strings.Split(name, "/") {
		switch {
		case len(step) > longestName:
			return workspace.Path{}, true
		case step == "" || step == "." || err != nil:
		case step != "..":
			at = at.Join(step)
		case ups == mostUps:
			return workspace.Path{}, false
		default: // from where the links have led to by now
			ups++
			if at, err = at.Target(); err == nil && at.IsRoot() {
				return workspace.Path{}, false
			}
			at = at.Dir()
		}
	}
	if err == nil {
		at, err = at.Target()
	}
	if err == nil {
		at, err = ws.Resolve(at.Abs()) // nor to a system place that the workspace holds
	}
	return at, err == nil
}

// mostUps bounds the work on one name.
const mostUps = 32

// planted finds a program of the workspace that a search for name could come to. For git that
// may be this program: see process.Spec.ReadsGit.
func (p *pending) planted(dir workspace.Path, name string) (workspace.Path, bool) {
	ws := p.snapshot.Workspace()
	if own, err := process.Own(); name == "git" && err == nil {
		if file, inside := follow(ws, dir, own); inside && !file.IsZero() {
			return file, true
		}
	}
	for _, entry := range p.registry.SearchPath {
		if entry == "" {
			entry = "."
		}
		if file, inside := follow(ws, dir, entry+"/"+name); inside && !file.IsZero() && isExecutable(file) {
			return file, true
		}
	}
	return workspace.Path{}, false
}

// commandPreview shows of a command what policy reads in it.
func (p *pending) commandPreview(a *Action) approval.Preview {
	out := a.Preview
	if a.Command == nil {
		return out
	}
	out.Parts, out.Writes = []approval.CommandPart{}, append([]string{}, p.decision.Writes...)
	for _, part := range p.decision.Parts {
		out.Parts = append(out.Parts, approval.CommandPart{Argv: part.Argv, Why: part.Why})
	}
	if links := p.links(a.Command.Cwd, p.decision.Writes); len(links) > 0 {
		fact := approval.NewFact("links", "Links", links...)
		fact.Tone = approval.Warning
		out.Facts = append(slices.Clone(out.Facts), fact)
	}
	if p.amended {
		mine := approval.NewFact(approval.FactEdited, "Edited", "by you; this is about your version")
		out.Facts = append([]approval.Fact{mine}, out.Facts...)
	}
	return out
}

// links says of the files that a line writes which are not where they seem to be, and where
// they are.
func (p *pending) links(cwd string, names []string) (out []string) {
	ws := p.snapshot.Workspace()
	dir, err := ws.ResolveDir(cwd)
	if err != nil {
		return nil
	}
	for _, name := range names[:min(len(names), mostScripts)] {
		at := way.Join(dir.Abs(), name)
		real := process.Resolve(at)
		if real == filepath.Clean(at) {
			continue
		}
		where := real
		if inside, err := ws.Resolve(real); err == nil {
			where = inside.String()
		}
		out = append(out, fault.Quote(name)+" leads to "+fault.Quote(where))
	}
	return out
}
