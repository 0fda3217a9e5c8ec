package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// judgement is what a deny or ask rule says about a call.
type judgement int

const (
	differs judgement = iota // the rule is about other calls
	matches
	unclear // only a shell parser, or a tool's own knowledge, could tell
)

// judge reads the rule as one that restricts: wide, and on folded names.
func (r Rule) judge(req Request) judgement {
	switch {
	case !r.names(req.Tool) && !r.covers(req) && !(req.Shows && r.Tool == "read_file"):
		return differs
	case r.Specifier == "":
		return matches
	case len(req.Paths) == 0 && req.Tool == "read_many_files":
		return differs // it found none to read
	case req.Command != nil:
		return r.judgeCommand(req)
	case req.Host != "":
		return r.judgeHost(req.Host)
	case req.Subject != "":
		return r.judgeSubject(req.Subject)
	case req.Tool == "skill":
		return differs // it lists what there is
	case req.Definition != "":
		return r.judgeDefinition(req.Definition)
	case len(req.Paths) == 0 || r.Folder != "":
		return unclear
	}
	match, deletes := r.matcher(), r.Tool == "delete_file" && req.Access == VCS
	if slices.ContainsFunc(req.Paths, func(p PathFact) bool { return (p.Gone || !deletes) && r.restrictsPath(p, match) }) {
		return matches
	}
	return differs
}

// covers says whether a rule that restricts one tool is about a call of another too: to read many
// files is to read each of them; who may not edit a file may not change, make or delete it by any
// other tool either, whichever come; and who may not read one may not move it to where they may.
func (r Rule) covers(req Request) bool {
	switch {
	case req.Tool == "read_many_files":
		return r.Tool == "read_file"
	case req.Tool == "task_permission": // it is what a sub-agent runs by itself
		return r.Tool == "run_command" || r.Tool == "run_persistent"
	case r.Specifier == "": // the tool is off, and nothing else
		return false
	}
	switch r.Tool {
	case "edit_file", "write_file":
		return req.changesFiles()
	case "delete_file":
		return req.Tool == "apply_patch" || req.Access == VCS && req.changesFiles()
	case "move_file":
		return req.Tool == "apply_patch"
	case "read_file":
		return req.Tool == "apply_patch" || req.Tool == "move_file"
	}
	return false
}

// changesFiles is for every call that does, whatever its tool is made for.
func (r Request) changesFiles() bool {
	return r.Access == Edit || slices.ContainsFunc(r.Paths, func(p PathFact) bool { return p.Write })
}

// matcher compares a name with a spelling of the rule's path. It is asked about many: a
// folder that is deleted may hold thousands.
func (r Rule) matcher() func(name, specifier string) bool {
	patterns := map[string]*regexp.Regexp{}
	return func(name, specifier string) bool {
		if !r.pattern {
			return name == specifier
		}
		if patterns[specifier] == nil {
			patterns[specifier] = glob(specifier)
		}
		return patterns[specifier].MatchString(name)
	}
}

// restrictsPath holds for every name that the file has, however the rule spells
// it, and for what lies below a folder that the rule matches.
func (r Rule) restrictsPath(p PathFact, match func(name, specifier string) bool) bool {
	specifier := plainPath(r.Specifier)
	if inside, ok := strings.CutPrefix(specifier, plainPath(p.Root)+"/"); ok && p.Root != "" {
		specifier = plainPath(p.printed(inside)) // spelled with its absolute path
	}
	return slices.ContainsFunc(p.names(), func(name string) bool {
		at := plainPath(name)
		for at != "" && !match(at, specifier) {
			at = strings.TrimPrefix(path.Dir("/"+at), "/")
		}
		return match(at, specifier)
	})
}

// plainPath gives a path one relative, folded spelling; the root is "".
func plainPath(name string) string {
	return strings.TrimPrefix(path.Clean("/"+fold(name)), "/")
}

// allowed says whether allow rules and grants cover the whole call. They are
// read narrowly: names as they stand, and every path must be covered.
func allowed(req Request) bool {
	given := req.given()
	if slices.ContainsFunc(given, func(r Rule) bool { return r.Specifier == "" && r.Folder == "" }) {
		return true
	}
	if req.Command != nil {
		return slices.ContainsFunc(given, func(r Rule) bool { return r.allowsLine(*req.Command) }) || coversParts(req, given)
	}
	if req.Subject != "" {
		return !req.Theirs && slices.ContainsFunc(given, func(r Rule) bool { return r.allowsSubject(req.Subject) })
	}
	if req.Host != "" {
		return slices.ContainsFunc(given, func(r Rule) bool { return r.allowsHost(req.Host) })
	}
	if req.Definition != "" {
		return slices.ContainsFunc(given, func(r Rule) bool { return r.judgeDefinition(req.Definition) == matches })
	}
	return len(req.Paths) > 0 && allCovered(req.Paths, given)
}

func allCovered(paths []PathFact, given []Rule) bool {
	covered := make([]bool, len(paths))
	for _, r := range given {
		match := r.matcher()
		for i, p := range paths {
			covered[i] = covered[i] || r.allowsPath(p, match)
		}
	}
	return !slices.Contains(covered, false)
}

// changesTool is the name of a rule for all changes to files, as mode auto_edit lets them run.
const changesTool = "file_changes"

// given are the rules that allow calls of the tool.
func (r Request) given() []Rule {
	return slices.DeleteFunc(slices.Concat(r.Rules.Allow, r.Grants), func(rule Rule) bool {
		return !rule.names(r.Tool) && (r.Access != Edit || rule != Rule{Tool: changesTool})
	})
}

// allowsPath looks at the file that would be reached, so that a link which is
// turned round later does not carry the yes with it.
func (r Rule) allowsPath(p PathFact, match func(name, specifier string) bool) bool {
	return r.Folder == "" && match(p.real(), r.Specifier)
}

// names says whether the rule is about the tool. Dots and underscores are one:
// most agents know git.push as git_push.
func (r Rule) names(tool string) bool {
	return strings.ReplaceAll(r.Tool, ".", "_") == strings.ReplaceAll(tool, ".", "_")
}

var wildcard = regexp.MustCompile(`\*\*/|\*+`)

// glob compiles a path pattern. Only * is special: names with brackets or braces
// are common in source trees, and a rule must mean the file that it spells.
func glob(pattern string) *regexp.Regexp {
	var out strings.Builder
	out.WriteString(`(?s)^`)
	last := 0
	for _, at := range wildcard.FindAllStringIndex(pattern, -1) {
		out.WriteString(regexp.QuoteMeta(pattern[last:at[0]]))
		switch token := pattern[at[0]:at[1]]; {
		case token == "**/" && (at[0] == 0 || pattern[at[0]-1] == '/'):
			out.WriteString(`(?:.*/)?`)
		case token == "*":
			out.WriteString(`[^/]*`)
		default:
			out.WriteString(`.*`)
			if strings.HasSuffix(token, "/") {
				out.WriteString(`/`)
			}
		}
		last = at[1]
	}
	out.WriteString(regexp.QuoteMeta(pattern[last:]))
	out.WriteString(`$`)
	return regexp.MustCompile(out.String())
}
