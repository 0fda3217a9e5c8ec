package git

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"pillion/internal/fault"
	"pillion/internal/pattern"
	"pillion/workspace/git/gitdir"
)

// PushOptions says what is to be pushed.
type PushOptions struct {
	Dir    string // absolute: a folder or file of the repository
	Remote string // the name of one; "" is the one that git would take
	Branch string // a local branch; "" is what is checked out
}

// Push is a push that could be made now.
type Push struct {
	Repository
	Remote string
	URL    string // without credentials
	Scheme string // file, http, https or ssh
	Name   string // of the branch, here and there
	New    string // the commit that it is on
	Old    string // the commit that the remote had when it was last asked; "" if it is not known
	Ahead  int    // how many commits are new to the remote then, as far as is known; of a new branch to its main one; -1: not known
	News   []News // the youngest of them
	SSH    string // the program that reaches the remote, if one is set
	// Helpers are asked for credentials.
	Helpers []string
	Sign    Signing // of the push itself, which some remotes ask for
}

// News is a commit that a remote does not have yet.
type News struct{ Hash, Subject string }

const mostNews = 20

// State is another text whenever anything of the push is another.
func (p Push) State() string { return stateOf(p) }

// Protocols are those by which is pushed. Each other way is one by which a
// configuration can have a program run.
const Protocols = "file:http:https:ssh"

// NewPush looks at a push of one branch to the branch of its name.
func (g *Reader) NewPush(ctx context.Context, root string, o PushOptions) (Push, error) {
	r, err := g.openToWrite(ctx, root, o.Dir)
	if err != nil {
		return Push{}, err
	}
	if r == nil {
		return Push{}, NeedsGit("pushing speaks to a remote")
	}
	p := Push{}
	if p.Repository, err = r.about(pushHooks); err != nil {
		return p, err
	}
	p.Name = cmp.Or(o.Branch, p.Branch)
	if p.Name == "" {
		return p, fault.New(fault.GitError, "no branch is checked out; name the branch to push")
	}
	if p.New, err = r.existing(p.Name); err != nil {
		return p, err
	}
	if p.Remote, err = remoteFor(r.Config, p.Name, o.Remote); err != nil {
		return p, err
	}
	address, err := r.pushAddress(p.Remote)
	if err != nil {
		return p, err
	}
	if p.Scheme, err = schemeOf(address); err != nil {
		return p, err
	}
	p.URL = Address(address)
	p.Sign = signs(r.Config, "push.gpgsign")
	switch p.Scheme {
	case "ssh":
		p.SSH = cmp.Or(os.Getenv("GIT_SSH_COMMAND"), r.Config.Get("core.sshcommand"), os.Getenv("GIT_SSH"))
	case "http", "https":
		p.Helpers = r.helpers()
	}
	p.Network, p.Reaches = r.network(), true
	r.writing(&p.Repository, nil, p.Sign)
	return p, r.beyond(&p)
}

// beyond counts what the remote does not have yet.
func (r *repository) beyond(p *Push) error {
	base := ""
	if tracking := r.Config.TrackingOf(p.Remote, "refs/heads/"+p.Name); tracking != "" { // it moves with the push
		if !gitdir.IsReference(tracking) {
			return fault.New(fault.GitError, "the remote %s has its branches kept in %s, which is no reference (remote.%s.fetch)", fault.Quote(p.Remote), fault.Quote(tracking), fault.Quote(p.Remote)).
				WithHint("ask the user about it")
		}
		if err := r.writable(tracking); err != nil {
			return err
		}
		var err error
		if p.Old, err = r.reference(tracking); err != nil {
			return err
		}
		base = p.Old
	}
	for _, name := range []string{"main", "master", "HEAD"} {
		if base == "" {
			var err error
			if base, err = r.reference("refs/remotes/" + p.Remote + "/" + name); err != nil {
				return err
			}
		}
	}
	if base == "" {
		base, _, _ = strings.Cut(r.line("for-each-ref", "--count=1", "--format=%(objectname) ", "refs/remotes/"+p.Remote+"/"), " ")
	}
	if base == "" {
		p.Ahead = -1
		return nil
	}
	count, err := r.output("rev-list", "--count", base+".."+p.New)
	if err != nil {
		return err
	}
	p.Ahead, _ = strconv.Atoi(strings.TrimSpace(count)) //nolint:errcheck // git writes a number
	found, err := r.commits("--topo-order", fmt.Sprintf("--max-count=%d", mostNews), base+".."+p.New, "--")
	for _, c := range found {
		p.News = append(p.News, News{c.Hash, c.Subject})
	}
	return err
}

// remotesOf are the names of those that are configured.
func remotesOf(c gitdir.Config) []string {
	var out []string
	for key := range c {
		name, ok := strings.CutPrefix(key, "remote.")
		at := strings.LastIndex(name, ".")
		if ok && at > 0 && name[at:] == ".url" { // without one, git looks for older files
			out = append(out, name[:at])
		}
	}
	slices.Sort(out)
	return out
}

// remoteFor is the remote that a branch is pushed to, as git chooses it.
func remoteFor(c gitdir.Config, branch, asked string) (string, error) {
	known := remotesOf(c)
	names := "none is configured"
	if len(known) > 0 {
		const most = 20
		names = "there are " + listed(known, most)
	}
	if asked != "" {
		if !slices.Contains(known, asked) {
			return "", fault.New(fault.GitError, "no remote is called %s: %s", fault.Quote(Address(asked)), names).
				WithHint("give the name of a remote, not an address; the user adds remotes with git remote add")
		}
		return asked, nil
	}
	for _, name := range []string{c.Get("branch." + branch + ".pushremote"), c.Get("remote.pushdefault"), c.Get("branch." + branch + ".remote"), "origin"} {
		if slices.Contains(known, name) {
			return name, nil
		}
	}
	if len(known) == 1 {
		return known[0], nil
	}
	return "", fault.New(fault.GitError, "%s is set to no remote: %s; name one", fault.Quote(branch), names)
}

// pushAddress is where git pushes to, after all that a configuration makes of it, in its own words.
func (r *repository) pushAddress(remote string) (string, error) {
	c, key := r.Config, "remote."+remote+"."
	program := c.Get(key + "receivepack")
	switch {
	case c.Get(key+"vcs") != "":
		return "", fault.New(fault.GitError, "the remote %s is reached by a program of its own (remote.%s.vcs); the user pushes there by hand", fault.Quote(remote), fault.Quote(remote))
	case program != "" && program != "git-receive-pack":
		return "", fault.New(fault.GitError, "the remote %s has a program set that is run there (remote.%s.receivepack); the user pushes there by hand", fault.Quote(remote), fault.Quote(remote))
	case c.Bool(key+"mirror", false):
		return "", fault.New(fault.GitError, "the remote %s is a mirror, to which git pushes by force; the user pushes there by hand", fault.Quote(remote))
	}
	out, err := r.output("remote", "get-url", "--push", "--all", "--", remote)
	if err != nil {
		return "", err
	}
	if n := strings.Count(out, "\n"); n != 1 {
		return "", fault.New(fault.GitError, "the remote %s has %d addresses; the user pushes there by hand", fault.Quote(remote), n)
	}
	return strings.TrimSuffix(out, "\n"), nil
}

var (
	helperAddress = pattern.New(`^[A-Za-z0-9][A-Za-z0-9+.-]*::`)
	schemed       = pattern.New(`^([A-Za-z0-9][A-Za-z0-9+.-]*)://`)
	misleading    = pattern.New(`^[A-Za-z0-9][A-Za-z0-9+.-]*://[^/]*[?#\\]`) // there a host ends for some
)

// schemeOf says how an address is reached, as git reads it. Ways by which programs are
// run are refused; git is told to refuse them as well (Protocols).
func schemeOf(address string) (string, error) {
	if strings.ContainsFunc(address, unicode.IsControl) || misleading().MatchString(address) {
		return "", fault.New(fault.GitError, "the remote's address %s is not written as others are, and may lead to another host than it seems", fault.Quote(Address(address))).
			WithHint("the user pushes there by hand, or sets the address again")
	}
	refuse := func(what string) (string, error) {
		return "", fault.New(fault.GitError, "the remote's address begins with %s, by which git would run a program; only file, http, https and ssh are pushed to", fault.Quote(what)).
			WithHint("the user pushes there by hand")
	}
	if found := helperAddress().FindString(address); found != "" {
		return refuse(found)
	}
	if found := schemed().FindStringSubmatch(address); found != nil {
		switch scheme := strings.ToLower(found[1]); scheme {
		case "ssh", "git+ssh", "ssh+git":
			return "ssh", nil
		case "file", "http", "https":
			return scheme, nil
		}
		return refuse(found[0])
	}
	colon, slash := strings.Index(address, ":"), strings.Index(address, "/")
	switch {
	case address == "" || strings.HasPrefix(address, "-"):
		return "", fault.New(fault.GitError, "the remote's address %s is none", fault.Quote(address))
	case colon < 0 || slash >= 0 && slash < colon || filepath.IsAbs(address):
		return "file", nil
	}
	return "ssh", nil
}

// Address is a remote's address without the credentials in it.
func Address(address string) string {
	found := schemed().FindString(address)
	if found == "" {
		return address
	}
	rest := address[len(found):]
	end := strings.IndexAny(rest, "/?#\\")
	if end < 0 {
		end = len(rest)
	}
	host, path := rest[:end], rest[end:]
	if at := strings.LastIndex(host, "@"); at >= 0 {
		user, _, secret := strings.Cut(host[:at], ":")
		host = host[at+1:]
		if name, err := url.PathUnescape(user); !secret && err == nil && strings.HasPrefix(found, "ssh") {
			host = name + "@" + host
		}
	}
	return found + host + path
}

// helpers are the programs that are asked for credentials, and for a password: the latter by the user's settings alone.
func (r *repository) helpers() []string {
	var out []string
	for key, values := range r.Config {
		if strings.HasPrefix(key, "credential.") && strings.HasSuffix(key, ".helper") {
			out = append(out, values...)
		}
	}
	out = append(out, r.Users["core.askpass"]...)
	out = slices.DeleteFunc(out, func(v string) bool { return v == "" })
	slices.Sort(out)
	return slices.Compact(out)
}

// fetchers finds the addresses from which objects would be fetched that a partial clone has not, and the programs by which.
func (r *repository) fetchers(about *Repository) error {
	c := r.Config
	promising := []string{c.Get("extensions.partialclone")}
	for key := range c {
		name, ok := strings.CutPrefix(key, "remote.")
		at := strings.LastIndex(name, ".")
		if ok && at > 0 && (name[at:] == ".partialclonefilter" || name[at:] == ".promisor" && c.Bool(key, false)) {
			promising = append(promising, name[:at])
		}
	}
	slices.Sort(promising)
	for _, name := range slices.Compact(promising) {
		key := "remote." + name + "."
		switch {
		case name == "":
			continue
		case len(c[key+"url"]) == 0: // git takes the name for one
			return fault.New(fault.GitError, "git would fetch objects from the remote %s, which has no address", fault.Quote(name)).WithHint("ask the user about remote.%s.url", fault.Quote(name))
		}
		address, err := r.output("remote", "get-url", "--", name)
		if err != nil {
			return err
		}
		address = strings.TrimSuffix(address, "\n")
		about.Sources = append(about.Sources, Address(address))
		if program := c.Get(key + "uploadpack"); program != "" && program != "git-upload-pack" {
			about.Fetched = append(about.Fetched, program)
		}
		r.fetching = append(r.fetching, key+"uploadpack")
		switch scheme, _ := schemeOf(address); scheme { // others are not fetched from
		case "ssh":
			about.Fetched = append(about.Fetched, c["core.sshcommand"]...)
		case "http", "https":
			about.Fetched = append(about.Fetched, r.helpers()...)
		}
	}
	for _, list := range []*[]string{&about.Sources, &about.Fetched} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if len(about.Sources) > 0 {
		about.Network, about.Reaches = r.network(), true
	}
	return nil
}

// FullHash is the commit that a revision names in the repository of dir, "" if none.
func (g *Reader) FullHash(ctx context.Context, root, dir, revision string) string {
	r, err := g.openToWrite(ctx, root, dir)
	if err != nil || r == nil {
		return ""
	}
	hash, err := r.commit(revision)
	if err != nil {
		return ""
	}
	return hash
}
