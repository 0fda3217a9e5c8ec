package git

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"pillion/internal/fault"
)

// Pushed is what became of a push.
type Pushed struct {
	Old    string // what the remote had, "" of a branch that is new there
	Output string // what the remote said
	Note   string // what could not be written here afterwards
}

// Pushable refuses a push that only git can make. The remote is not asked.
func Pushable(root string, o PushOptions, p Push, upstream bool) error {
	r, err := openAt(root, o.Dir)
	if err != nil {
		return err
	}
	defer r.close()
	return r.pushable(p, upstream)
}

func (r *repository) pushable(p Push, upstream bool) error {
	set := r.config.onlyGitReaches(p)
	switch {
	case p.Scheme == "file":
		return needsGit("the remote is a folder of this machine, whose side of a push is git itself")
	case p.SSH != "":
		return needsGit("the remote is reached by a program, " + fault.Quote(p.SSH))
	case p.Sign.On:
		return needsGit("pushes are signed here (push.gpgSign)")
	case set != "":
		return needsGit("the configuration has " + fault.Quote(set))
	case len(r.objects.shallow) > 0:
		return needsGit("this is a shallow clone")
	case upstream && !r.config.follows(p.Name, p.Remote, "refs/heads/"+p.Name) && r.config.followsAny(p.Name):
		return needsGit(fault.Quote(p.Name) + " follows another branch, which is to be changed")
	}
	return nil
}

// onlyGitReaches is a setting of how the remote is reached, or of what it is told, that
// counts for git alone. Without them something else would happen.
func (c config) onlyGitReaches(p Push) string {
	for _, key := range []string{"push.pushoption", "remote." + p.Remote + ".proxy"} {
		if c.get(key) != "" {
			return key
		}
	}
	if p.Scheme == "ssh" {
		return ""
	}
	counts := []string{
		"proxy", "sslcainfo", "sslcapath", "sslcert", "sslkey", "pinnedpubkey", "extraheader", "cookiefile", "curloptresolve", "sslbackend", "sslversion", "sslcipherlist",
	}
	for key := range c {
		rest, ok := strings.CutPrefix(key, "http.")
		at := strings.LastIndex(rest, ".")
		if ok && slices.Contains(counts, rest[at+1:]) && c.get(key) != "" && (at < 0 || sameHost(rest[:at], p.URL)) {
			return key
		}
	}
	return ""
}

// sameHost says whether settings for one address may be for another.
func sameHost(pattern, address string) bool {
	a, err := url.Parse(pattern)
	b, other := url.Parse(address)
	return err != nil || other != nil || strings.Contains(a.Host, "*") || strings.EqualFold(a.Hostname(), b.Hostname())
}

// receiver is the remote's side of a push.
type receiver interface {
	AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error)
	ReceivePack(ctx context.Context, req *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error)
	Close() error
}

// pushing is a push on its way.
type pushing struct {
	*repository
	Push
	said said
}

// MakePush pushes what was looked at: that commit, to that address. It asks nobody for a
// password and runs no program. With upstream the branch follows the remote's from then on.
func MakePush(ctx context.Context, root string, o PushOptions, p Push, upstream bool) (Pushed, error) {
	now, err := NewPush(ctx, root, o)
	if err != nil {
		return Pushed{}, err
	}
	r, err := openAt(root, o.Dir)
	if err != nil {
		return Pushed{}, err
	}
	defer r.close()
	address, err := r.config.pushAddress(p.Remote)
	if err != nil {
		return Pushed{}, err
	}
	if now.State() != p.State() || Address(address) != p.URL {
		return Pushed{}, fault.New(fault.ConcurrentModification, "what is to be pushed has changed; look at it again")
	}
	if err := r.pushable(p, upstream); err != nil {
		return Pushed{}, err
	}
	r.objects.replaced, r.objects.grafts = nil, nil // of what is here, and not of what others get
	b := &pushing{repository: r, Push: p}
	done, err := b.run(ctx, address)
	done.Output = b.said.String()
	if err != nil {
		return done, err
	}
	done.Note = b.record(done.Old, upstream)
	return done, nil
}

// run asks the remote what it has, and sends it what it has not.
func (b *pushing) run(ctx context.Context, address string) (Pushed, error) {
	to, err := b.reach(ctx, address)
	if err != nil {
		return Pushed{}, b.failed(ctx, err)
	}
	defer to.Close()
	there, err := to.AdvertisedReferencesContext(ctx)
	if err != nil {
		return Pushed{}, b.failed(ctx, err)
	}
	ref, tip := "refs/heads/"+b.Name, plumbing.NewHash(b.New)
	old := there.References[ref]
	done := Pushed{}
	if !old.IsZero() {
		done.Old = old.String()
	}
	switch {
	case old == tip:
		return done, nil
	case !there.Capabilities.Supports(capability.ReportStatus):
		return done, needsGit("the remote does not say what becomes of a push")
	case there.Capabilities.Supports(capability.Capability("object-format")) && !slices.Contains(there.Capabilities.Get(capability.Capability("object-format")), "sha1"):
		return done, fault.New(fault.GitError, "the remote's repository has another hash than SHA-1")
	}
	if err := b.forwards(ctx, tip, old); err != nil {
		return done, err
	}
	pack, err := b.pack(ctx, tip, there)
	if err != nil {
		return done, err
	}
	req := packp.NewReferenceUpdateRequestFromCapabilities(there.Capabilities)
	if there.Capabilities.Supports(capability.Sideband64k) {
		if err := req.Capabilities.Set(capability.Sideband64k); err != nil {
			return done, err
		}
		req.Progress = &b.said
	}
	req.Commands = []*packp.Command{{Name: plumbing.ReferenceName(ref), Old: old, New: tip}}
	req.Packfile = pack
	report, err := to.ReceivePack(ctx, req)
	return done, b.reported(ctx, report, err)
}

// forwards refuses a push by which the remote would lose commits.
func (b *pushing) forwards(ctx context.Context, tip, old plumbing.Hash) error {
	if old.IsZero() {
		return nil
	}
	_, err := b.objects.commit(old)
	if err == nil {
		var behind int
		if _, behind, err = b.apart(ctx, tip, old); err == nil && behind == 0 {
			return nil
		}
	}
	if ctx.Err() != nil {
		return fault.From(ctx.Err())
	}
	return fault.New(fault.GitError, "%s has commits on %s that are not here; a push never overwrites them", fault.Quote(b.Remote), fault.Quote(b.Name)).
		WithHint("fetch and merge or rebase first, or ask the human what is to become of them")
}

// reported is what the remote says of the push.
func (b *pushing) reported(ctx context.Context, report *packp.ReportStatus, err error) error {
	if report == nil {
		if err == nil {
			err = errors.New("it said nothing of it")
		}
		failed := b.failed(ctx, err)
		return fault.New(fault.CodeOf(failed), "%w; whether the commits arrived is not known", failed).WithHint("the same push once more tells")
	}
	refused := func(why string) error {
		return fault.New(fault.GitError, "%s refused the push: %s", fault.Quote(b.Remote), oneLine(why))
	}
	if report.UnpackStatus != "ok" {
		return refused(report.UnpackStatus)
	}
	for _, s := range report.CommandStatuses {
		if s.ReferenceName.String() == "refs/heads/"+b.Name {
			if s.Status == "ok" {
				return nil
			}
			return refused(s.Status)
		}
	}
	return fault.New(fault.GitError, "%s does not say what became of the branch, so that is not known", fault.Quote(b.Remote)).WithHint("the same push once more tells")
}

// failed says why the remote could not be spoken with.
func (b *pushing) failed(ctx context.Context, err error) error {
	var known *fault.Error
	name := fault.Quote(b.Remote) + ", " + fault.Quote(b.URL) + ","
	switch {
	case ctx.Err() != nil:
		return fault.From(ctx.Err())
	case errors.As(err, &known):
		return known
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return fault.New(fault.GitError, "%s asks who you are, and without a git program nobody can be asked for a name and a password", name).
			WithHint("ask the human to install git, whose credential helper knows them, or to push there by ssh")
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return fault.New(fault.GitError, "%s does not let you push there", name).WithHint("ask the human who may")
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fault.New(fault.GitError, "%s has no such repository, or shows it to nobody whom it does not know", name).
			WithHint("ask the human for the address; without a git program there are no credentials but those in it")
	}
	return fault.New(fault.GitError, "%s cannot be spoken with: %s", name, oneLine(err.Error()))
}

// record writes down here what the remote has now.
func (b *pushing) record(old string, upstream bool) (note string) {
	files := osfs.New(b.commonDir)
	common := &builtin{b.repository, files, filesystem.NewStorage(files, cache.NewObjectLRUDefault())}
	tip := plumbing.NewHash(b.New)
	tracking := b.config.trackingOf(b.Remote, "refs/heads/"+b.Name)
	if known, _ := b.reference(tracking); strings.HasPrefix(tracking, "refs/remotes/") && checkBranchName(tracking) == nil && known != tip {
		if err := common.store.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(tracking), tip)); err != nil {
			note = "it could not be noted here what the remote has now: " + err.Error()
		} else {
			common.note(path.Join("logs", tracking), common.logLine(known, tip, "update by push"))
		}
	}
	if upstream && !b.config.follows(b.Name, b.Remote, "refs/heads/"+b.Name) {
		if err := b.writeFollow(b.Name, b.Remote, "refs/heads/"+b.Name); err != nil {
			note = fmt.Sprintf("it is pushed, but %s does not follow it: %v", fault.Quote(b.Name), err)
		}
	}
	return note
}

// said is the beginning of what a remote says, who may say anything, on two ways.
type said struct {
	mu   sync.Mutex
	text []byte
}

func (s *said) Write(p []byte) (int, error) {
	const most = 64 << 10
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p[:min(len(p), most-len(s.text))]...)
	return len(p), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ToValidUTF8(string(s.text), "\uFFFD")
}

// oneLine is the beginning of what a remote said, for a sentence.
func oneLine(text string) string {
	const most = 500
	text = strings.Join(strings.Fields(WithoutCredentials(text)), " ")
	return fault.Escape(strings.ToValidUTF8(text[:min(len(text), most)], "\uFFFD"))
}

var credentials = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s'"]*@`)

// WithoutCredentials takes names and passwords out of the addresses in a text.
func WithoutCredentials(text string) string { return credentials.ReplaceAllString(text, "$1") }
