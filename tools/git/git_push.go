package git

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/process"
	"pillion/workspace"
	"pillion/workspace/git"
)

var _ = tools.Define(tools.NewVCS(tools.Spec{
	Name:        "git.push",
	Title:       "Git push",
	Description: "Pushes a branch with the user's own git and credentials. Always asks them, never forces.",
	OpenWorld:   true,
	Success:     true,
	Results:     []any{gitPushResult{}},
}, planGitPush))

type gitPushArgs struct {
	Remote      string `json:"remote,omitempty"`
	Branch      string `json:"branch,omitempty" jsonschema:"default: the current one"`
	SetUpstream bool   `json:"set_upstream,omitempty"`
	Path        string `json:"path,omitempty" jsonschema:"in which repository"`
}

type gitPushResult struct {
	Remote string `json:"remote"`
	Branch string `json:"branch"`
	Old    string `json:"old"` // empty of a branch that is new there
	New    string `json:"new"`
	Output string `json:"output,omitempty"`
}

// pushPlan is a push that was looked at.
type pushPlan struct {
	git.Push
	args gitPushArgs
	dir  workspace.Path
	git  gitProgram
}

func planGitPush(ctx context.Context, in tools.Input, args gitPushArgs) (tools.Plan, error) {
	dir, err := tools.OneFolder(in, "path", args.Path)
	if err != nil {
		return nil, err
	}
	root, options := dir.RootDir(), git.PushOptions{Dir: dir.Abs(), Remote: args.Remote, Branch: args.Branch}
	p := pushPlan{args: args, dir: dir}
	if p.Push, err = in.Git.NewPush(ctx, root, options); err != nil {
		return nil, err
	}
	p.git = newGitProgram(in, p.Repository)
	if p.git.file == "" {
		return nil, git.NeedsGit("pushing speaks to a remote")
	}
	p.git.inherit = append(p.git.inherit, pushVariables[p.Scheme]...)
	a := &tools.Action{
		Title:       "Push " + fault.Quote(fault.Clip(p.Name, 60)) + " to " + fault.Quote(fault.Clip(p.Remote, 60)),
		Description: "Pushes a branch to a remote. It is never forced.",
		Watch:       []string{p.Dir, filepath.Join(p.Dir, "refs", "heads")},
		AlwaysAsk:   true,
	}
	if p.Scheme == "file" {
		a.Because("remote_hooks", "the remote is a folder on this machine, and its hooks run here")
	}
	if err := canBeShown(len(p.Helpers) + len(p.Hooks) + len(p.Fetched)); err != nil {
		return nil, err
	}
	if err := p.git.confine(in, a, len(p.Hooks)+len(p.Fetched), true, true); err != nil {
		return nil, err
	}
	if args.SetUpstream && p.git.held.Level != process.None {
		return nil, fault.New(fault.PolicyDenied, "the settings require a sandbox for the hooks of this push, in which git's settings cannot be written; leave set_upstream out")
	}
	a.Preview = p.preview()
	a.Run = p.run
	in.Snapshot.RestOnState("push", p.State(), func() string {
		now := pushPlan{}
		var err error
		if now.Push, err = in.Git.NewPush(context.Background(), root, options); err != nil {
			return err.Error()
		}
		return now.State()
	})
	return a, nil
}

// pushVariables are what git needs of the environment to reach a remote, and to ask a
// credential helper.
var pushVariables = map[string][]string{
	"ssh":   {"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"},
	"http":  {"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"},
	"https": {"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"},
}

func (p pushPlan) preview() approval.Preview {
	var s approval.Sheet
	s.Deed, s.Question = "push "+fault.Quote(p.Name)+" to "+fault.Quote(p.Remote), "Push this?"
	s.Fact("branch", "Branch", fault.Quote(p.Name))
	s.Fact("remote", "Remote", fault.Quote(p.Remote)+", "+fault.Quote(p.URL))
	if p.Old == "" {
		s.Fact("before", "On the remote", "no such branch, as far as is known here")
	} else {
		s.Fact("before", "On the remote", short(p.Old))
	}
	s.Fact("after", "Afterwards", short(p.New))
	s.Fact("commits", "New there", p.news()...)
	if p.args.SetUpstream {
		s.Fact("upstream", "Upstream", fault.Quote(p.Name)+" will follow "+fault.Quote(p.Remote+"/"+p.Name))
	}
	if p.SSH != "" {
		s.Fact("ssh", "SSH command", fault.Quote(p.SSH))
	}
	s.Fact("credentials", "Credentials", tools.QuoteAll(p.Helpers)...)
	s.Fact("signature", "Signed", signingWords(p.Sign))
	p.git.hooks(&s, p.Repository)
	p.git.programs(&s, nil, p.Repository)
	return s.Shown()
}

// news are the commits that the remote gets, the youngest first.
func (p pushPlan) news() []string {
	if p.Ahead < 0 {
		return nil
	}
	about := ""
	if p.Old == "" && p.Ahead > 0 {
		about = "about "
	}
	out := []string{about + tools.Count(p.Ahead, "commit")}
	for _, c := range p.News {
		out = append(out, short(c.Hash)+" "+fault.Quote(fault.Clip(c.Subject, 100)))
	}
	if more := p.Ahead - len(p.News); more > 0 && len(p.News) > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

func (p pushPlan) run(ctx context.Context, effects tools.Effects) (*tools.Answer, error) {
	args := []string{"push", "--porcelain", "--no-progress", "--no-follow-tags", "--no-recurse-submodules", "--receive-pack=git-receive-pack"}
	ref := "refs/heads/" + p.Name
	got, err := p.git.run(ctx, effects, "", append(args, "--end-of-options", p.Remote, p.New+":"+ref)...) // wherever the branch is by now
	flag, summary := pushed(got.Stdout, ref)
	if err != nil || got.ExitCode != 0 {
		failed := p.git.gitFailed("push", got, err)
		if flag == "!" && (strings.Contains(summary, "non-fast-forward") || strings.Contains(summary, "fetch first")) {
			failed.Err.Message = fmt.Sprintf("%s has commits on %s that are not here; a push never overwrites them", fault.Quote(p.Remote), fault.Quote(p.Name))
			failed.Err.Hint = "fetch and merge or rebase first, or ask the user what is to become of them"
		}
		return failed, nil
	}
	a := p.answer(context.WithoutCancel(ctx), flag, summary, got)
	if p.args.SetUpstream { // git does it by itself only of a branch that is pushed by its name
		for key, value := range map[string]string{"remote": p.Remote, "merge": ref} {
			if got, err := p.git.run(ctx, effects, "", "config", "--replace-all", "branch."+p.Name+"."+key, value); err != nil || got.ExitCode != 0 {
				a.Notes = append(a.Notes, fmt.Sprintf("it is pushed, but its upstream could not be set: %s", gitOutput(got)))
			}
		}
	}
	return a, nil
}

// pushed reads what git push --porcelain says of one reference.
func pushed(output, ref string) (flag, summary string) {
	for line := range strings.Lines(output) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(fields) == 3 && strings.HasSuffix(fields[1], ":"+ref) {
			return fields[0], fields[2]
		}
	}
	return "", ""
}

var moved = regexp.MustCompile(`^([0-9a-f]{4,40})\.\.[0-9a-f]{4,40}`)

func (p pushPlan) answer(ctx context.Context, flag, summary string, got process.Result) *tools.Answer {
	old := ""
	switch found := moved.FindStringSubmatch(summary); {
	case flag == "=":
		old = p.New
	case found != nil:
		old = p.git.reader.FullHash(ctx, p.dir.RootDir(), p.dir.Abs(), found[1])
	}
	return p.answered(old, strings.TrimSpace(withoutCredentials(got.Stderr)))
}

var credentials = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s'"]*@`)

// withoutCredentials takes names and passwords out of the addresses in a text.
func withoutCredentials(text string) string { return credentials.ReplaceAllString(text, "$1") }

// answered tells of a push to where old was, "" where the branch is new.
func (p pushPlan) answered(old, output string) *tools.Answer {
	r := gitPushResult{Remote: p.Remote, Branch: p.Name, Old: old, New: p.New, Output: output}
	text := fmt.Sprintf("%s is at %s on %s", fault.Quote(p.Name), short(p.New), fault.Quote(p.Remote))
	switch old {
	case p.New:
		text += ", as it was"
	case "":
		text += ", where it is new"
	default:
		text += ", before " + short(old)
	}
	a := &tools.Answer{Result: r, Text: text, Summary: text}
	if r.Output != "" {
		a.Text += "\n" + r.Output
	}
	return a
}
