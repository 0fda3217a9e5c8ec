package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/pattern"
)

// The tails of the sentences that say why a path is protected.
const (
	RunsInEditor   = "can make the editor run programs"
	RunsInGit      = "can make git run programs"
	runsInOtherVCS = "can make version control run programs"
	RunsInShell    = "can make the shell run programs"
	RunsInDesktop  = "can make the desktop run programs"
	RunsByName     = "lies where programs are found by their names"
	ReadByPrograms = "can make your own programs run others"
	runsInBuild    = "can make the build server run programs"
	runsInAgent    = "can make agents run programs"
	SteersAgents   = "tells agents what to do"
	LoosensPillion = "can change what agents may do here"
	isRepository   = "belongs to a git repository itself, which only git may change"
)

// protectedNames protect a path that has them anywhere in it: a nested .vscode counts as
// soon as its folder is opened by itself.
var protectedNames = func() (out []protectedName) {
	for _, k := range known {
		for _, name := range strings.Fields(k.names) {
			for _, patterns := range spelledOut(strings.Split(name, "/")) {
				out = append(out, protectedName{patterns, k.effect})
			}
		}
	}
	return out
}()

// spelledOut are the patterns that names in known stand for.
func spelledOut(names []string) [][]string {
	if len(names) == 0 {
		return [][]string{nil}
	}
	var out [][]string
	for _, rest := range spelledOut(names[1:]) {
		for first := range strings.SplitSeq(names[0], "|") {
			if bare, either := strings.CutPrefix(first, "~"); either {
				out, first = append(out, append([]string{bare}, rest...)), "."+bare
			}
			out = append(out, append([]string{first}, rest...))
		}
	}
	return out
}

// protectedName is a name, or names one below the other.
type protectedName struct {
	patterns []string
	effect   string
}

// homesOfSettings are the folders in which Pillion keeps the user's settings, and what
// they agreed to, below its own name; see packages config and consent.
var homesOfSettings = []string{".config", "state", "application support", "roaming", "local"}

// Protected says why a write to path always needs a user, "" when it does not,
// and whether the file and patch tools may not write there at all. It goes by
// the name alone, so it holds for paths that do not exist yet.
func Protected(path string) (reason string, denied bool) {
	effect, denied := judgedAt("", "", path).effect()
	if effect == "" {
		return "", false
	}
	return fault.Quote(path) + " " + effect, denied
}

// Effect is the tail of that sentence, "" where no user is needed.
func Effect(path string) string { return EffectAt("", "", path) }

// EffectAt is that of a path below an open folder, which is in the repository with this top, or in none.
func EffectAt(root, top, path string) string {
	effect, _ := judgedAt(root, top, path).effect()
	return effect
}

// judged is a path as it is judged, by all of its names: what a folder is does not depend on which one is open.
type judged struct {
	names     []string
	root, top int // how many of them are those of the open folder, and of the top of its repository
}

func judgedAt(root, top, path string) judged {
	above := elements(root)
	return judged{append(slices.Clip(above), elements(path)...), len(above), len(elements(top))}
}

func (p judged) isSecret() bool { return isSecret(p.names) }

// counts says whether names that are known, up to the one before end, say what is in the open folder. Those above it do
// unless they are above its repository, which can lie anywhere, such as where agents keep work trees.
func (p judged) counts(begin, end int) bool {
	return end > p.root || end > p.top || end == p.top && strings.HasPrefix(p.names[begin], ".")
}

func (p judged) effect() (effect string, denied bool) {
	names := p.names
	settings, made := false, judged{targets(names), p.root, p.top}
	isVague := func() bool { return effect == "" || effect == ReadByPrograms } // another name may say more
	for i, name := range names {
		if isDotGit(name) && p.counts(i, i+1) || i > 0 && isBareMember(names[i-1], name) && p.counts(i-1, i+1) {
			return isRepository, true
		}
		if isVague() {
			effect = cmp.Or(p.nameEffect(i), effect)
		}
		if isVague() && !slices.Equal(names[i:], made.names[i:]) {
			effect = cmp.Or(made.nameEffect(i), effect)
		}
		settings = settings || i > 0 && name == "pillion" && slices.Contains(homesOfSettings, names[i-1]) && p.counts(i-1, i+1)
	}
	if isVague() && settings {
		effect = LoosensPillion
	}
	// Nothing is a repository without its HEAD, so whoever lays a bare one out by
	// hand passes here.
	if effect == "" && len(names) > 0 && names[len(names)-1] == "head" {
		effect = "can make its folder a git repository, whose settings run programs"
	}
	return effect, false
}

// targets are the names that managers of dotfiles make of some: of chezmoi's dot_zshrc.tmpl, stow's
// dot-zshrc and others' zshrc.symlink it is .zshrc, and what is local adds to what has the name without it.
func targets(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		name, _, _ = strings.Cut(name, "##")
		for _, end := range []string{".age", ".asc", ".tmpl", ".local"} {
			if stem, is := strings.CutSuffix(name, end); is && stem != "" {
				name = stem
			}
		}
		if stem, is := strings.CutSuffix(name, ".symlink"); is {
			name = "." + strings.TrimPrefix(stem, ".")
		}
		if strings.Contains(name, "_") {
			name = attributes().ReplaceAllString(name, "")
		}
		for _, dot := range []string{"dot_", "dot-"} {
			if rest, is := strings.CutPrefix(name, dot); is {
				name = "." + rest
			}
		}
		out[i] = name
	}
	return out
}

// attributes are those of chezmoi.
var attributes = pattern.New(`^((create|empty|encrypted|exact|executable|external|literal|modify|private|readonly|remove|symlink)_)+`)

// beginning are the protected names by the byte that what they match begins with: every write asks for each part of its path.
var beginning = func() (out [256][]protectedName) {
	for first := range out {
		for _, p := range protectedNames {
			if begin := p.patterns[0][0]; begin == byte(first) || begin == '*' {
				out[first] = append(out[first], p)
			}
		}
	}
	return out
}()

// nameEffect is that of the name at, and what follows it.
func (p judged) nameEffect(at int) string {
	first := p.names[at]
	if first == "" { // of what managers of dotfiles spell "private_"
		return ""
	}
	candidates := beginning[first[0]]
	if strings.Contains(first, "~") { // a short name, whose long one may begin with a dot
		candidates = protectedNames
	}
	for _, known := range candidates {
		if known.matches(p, at) {
			return known.effect
		}
	}
	return ""
}

// matches is for what begins with the names, and for a hidden folder by itself that such a name
// may lie in: one that is renamed to it may bring it along. An open folder is not renamed, and one of
// which only its place is known may be a project.
func (known protectedName) matches(p judged, at int) bool {
	names := p.names[at:]
	for i, pattern := range known.patterns {
		if i == len(names) {
			return strings.HasPrefix(known.patterns[0], ".") && pattern != "*" && (len(p.names) > p.root || at >= p.root)
		}
		if !matchesName(pattern, names[i]) {
			return false
		}
	}
	end := at + len(known.patterns)
	return at >= p.root || p.counts(at, end) && (known.effect != ReadByPrograms || end > p.root+1)
}

// hashedGit is what Windows calls .git when GIT~1 to GIT~4 are taken.
var hashedGit = pattern.New(`^gi[0-9a-f]{4}~[0-9]+$`)

func isDotGit(name string) bool {
	return matchesName(".git", name) || hashedGit().MatchString(name)
}

// isBareMember knows a bare repository by the customary name of its folder;
// others are found by the workspace.
func isBareMember(folder, name string) bool {
	if !strings.HasSuffix(folder, ".git") {
		return false
	}
	switch name {
	case "head", "config", "config.worktree", "hooks", "info", "objects", "refs", "packed-refs", "worktrees", "modules":
		return true
	}
	return false
}

// matchesName compares a folded element with a folded pattern that may have one *, and with
// the short names that Windows gives such files.
func matchesName(pattern, name string) bool {
	if before, after, ok := strings.Cut(pattern, "*"); ok && before != "" && after != "" {
		return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
	}
	if suffix, ok := strings.CutPrefix(pattern, "*"); ok {
		_, ext, short := splitShort(name)
		return strings.HasSuffix(name, suffix) || short && ext == clip(suffix[1:], 3)
	}
	prefix, open := strings.CutSuffix(pattern, "*")
	if name == prefix || open && strings.HasPrefix(name, prefix) {
		return true
	}
	stem, ext, short := splitShort(name)
	if !short {
		return false
	}
	wantStem, wantExt := shortParts(prefix)
	return strings.HasPrefix(wantStem, stem) && len(stem) >= len(wantStem)-1 && (open || ext == wantExt)
}

var shortName = pattern.New(`^([^~.]{1,6})~[0-9]+(?:\.([^~.]{0,3}))?$`)

// splitShort takes an 8.3 name like VSCODE~1 or NVIM~1.LUA apart.
func splitShort(name string) (stem, ext string, ok bool) {
	if !strings.Contains(name, "~") {
		return "", "", false
	}
	m := shortName().FindStringSubmatch(name)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// shortParts gives what an 8.3 name keeps of a long one.
func shortParts(name string) (stem, ext string) {
	name = strings.TrimLeft(name, ".")
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		name, ext = name[:dot], clip(name[dot+1:], 3)
	}
	return clip(strings.ReplaceAll(name, ".", ""), 6), ext
}

func clip(s string, n int) string { return s[:min(n, len(s))] }

// protectedReasons list the writes that need a user in every mode.
func protectedReasons(r Request) []string {
	var reasons []string
	for _, fact := range r.Paths {
		if !fact.Write || r.InDraft && !fact.isSecret() { // what is changed in a draft is reviewed, but not what is read by changing it
			continue
		}
		if reason := fact.protected(); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return bounded(reasons)
}

// bounded keeps a dialog about a large folder readable.
func bounded(reasons []string) []string {
	if len(reasons) <= maxReasons {
		return reasons
	}
	rest := fmt.Sprintf("%d more of the files in it are of that kind", len(reasons)-maxReasons)
	return append(slices.Clip(reasons[:maxReasons]), rest)
}

const maxReasons = 8

// Weights are how much somebody who approves writes has to look at each of the paths, in their order.
func (r Request) Weights() []Weight {
	out := make([]Weight, len(r.Paths))
	for i, p := range r.Paths {
		elsewhere := p
		elsewhere.Apart = false // of a repository that is larger than the workspace all may be
		switch {
		case !p.Write:
		case elsewhere.protected() != "":
			out[i] = Foremost
		case slices.ContainsFunc(p.names(), func(name string) bool { return RunsNext(name) != "" }), r.isRuled(p):
			out[i] = Notable
		}
	}
	return out
}

// Weight is how much a path of several says of a call.
type Weight int

// The weights.
const (
	Plain    Weight = iota
	Notable         // asked about once in a session, or by a rule of the settings
	Foremost        // protected
)

// isRuled says whether a rule that asks is about the path.
func (r Request) isRuled(p PathFact) bool {
	r.Paths = []PathFact{p}
	return slices.ContainsFunc(r.Rules.Ask, func(rule Rule) bool { return rule.Specifier != "" && rule.judge(r) == matches })
}

func (p PathFact) protected() string {
	for i, at := range p.judged() {
		if effect, _ := at.effect(); effect != "" {
			return fault.Quote(p.names()[i]) + " " + effect
		}
		if at.isSecret() {
			return secretReason(p.names()[i])
		}
	}
	switch {
	case p.Guarded != "":
		return fault.Quote(p.printed(p.Path)) + " " + p.Guarded
	case p.BareRepository:
		return fault.Quote(p.printed(p.Path)) + " " + isRepository
	case p.Apart:
		return fault.Quote(p.printed(p.Path)) + " is outside the workspace"
	case p.MadeExecutable:
		return fault.Quote(p.printed(p.Path)) + " is made a program: it gets the executable bit"
	case p.Executable:
		return fault.Quote(p.printed(p.Path)) + " is a program: it has the executable bit"
	case p.MadeLink:
		return fault.Quote(p.printed(p.Path)) + " is made a symbolic link, and stands for what that leads to"
	case p.ReadOnly:
		return fault.Quote(p.printed(p.Path)) + " is read-only"
	case p.LosesOwner != "":
		return fmt.Sprintf("%s belongs to %s, and would be yours: the system keeps no other owner", fault.Quote(p.printed(p.Path)), fault.Quote(p.LosesOwner))
	case p.HardLinks > 1:
		others := "the others will keep the old text"
		if p.InEditor {
			others = "the editor may change what the others hold with it"
		}
		return fmt.Sprintf("%s has %d names on this disk (hard links), and %s", fault.Quote(p.printed(p.Path)), p.HardLinks, others)
	}
	return ""
}

// repositoryReasons list the writes into a repository's own files, which are refused. What git itself
// keeps in the repository that it is asked to change is no path of its tools.
func repositoryReasons(r Request) []string {
	var reasons []string
	outermost := ""
	for _, fact := range r.Paths {
		name := fact.printed(fact.Path)
		if !fact.Write || !fact.inRepository() || outermost != "" && strings.HasPrefix(name, outermost+"/") {
			continue
		}
		outermost = name
		reasons = append(reasons, fault.Quote(name)+" "+isRepository)
	}
	return bounded(reasons)
}

func (p PathFact) inRepository() bool {
	return p.BareRepository || slices.ContainsFunc(p.judged(), func(at judged) bool {
		_, denied := at.effect()
		return denied
	})
}
