package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	sshconfig "github.com/kevinburke/ssh_config"
	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"pillion/internal/fault"
)

// reach begins to speak with the remote.
func (b *pushing) reach(ctx context.Context, address string) (receiver, error) {
	if b.Scheme == "ssh" {
		return b.bySSH(ctx, address)
	}
	end, err := transport.NewEndpoint(address)
	if err != nil || end.Host == "" || end.Protocol != b.Scheme {
		return nil, fault.New(fault.GitError, "the remote's address %s is none", fault.Quote(b.URL))
	}
	follow := githttp.FollowInitialRedirects
	if b.config.get("http.followredirects") == "false" {
		follow = githttp.NoFollowRedirects
	}
	const greeting = 30 * time.Second
	over := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableKeepAlives: true, TLSHandshakeTimeout: greeting}
	client := githttp.NewClientWithOptions(&http.Client{Transport: bounded{over}, CheckRedirect: b.stays}, &githttp.ClientOptions{RedirectPolicy: follow})
	session, err := client.NewReceivePackSession(end, nil)
	if err != nil {
		return nil, err
	}
	return session, nil
}

// stays refuses to be led to another host than the human was shown.
func (b *pushing) stays(req *http.Request, via []*http.Request) error {
	port := func(u *url.URL) string {
		if p := u.Port(); p != "" {
			return p
		}
		return map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	from, to := via[0].URL, req.URL
	upgraded := from.Scheme == "http" && port(from) == "80" && to.Scheme == "https" && port(to) == "443"
	if !strings.EqualFold(from.Hostname(), to.Hostname()) || port(from) != port(to) && !upgraded {
		return fault.New(fault.GitError, "%s leads to another host, %s; nothing was pushed", fault.Quote(b.Remote), fault.Quote(to.Host)).
			WithHint("ask the human whether that is the remote's address now")
	}
	return nil
}

// bounded has no answer be larger than memory can hold.
type bounded struct{ http.RoundTripper }

func (t bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.RoundTripper.RoundTrip(req)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, mostAnswered), res.Body}
	}
	return res, err
}

// mostAnswered is what a third of a million references take.
const mostAnswered = 32 << 20

// place is where an address leads by ssh.
type sshPlace struct{ user, host, port, path string }

// sshPlaceOf reads an address as git does.
func sshPlaceOf(address string) (p sshPlace, err error) {
	bad := fault.New(fault.GitError, "the remote's address %s is none", fault.Quote(Address(address)))
	if !schemed.MatchString(address) {
		host, rest, found := strings.Cut(address, ":")
		if at := strings.LastIndex(host, "@"); at >= 0 {
			p.user, host = host[:at], host[at+1:]
		}
		p.host, p.path = host, rest
		if !found || host == "" || rest == "" || strings.ContainsAny(address, "[]") {
			return p, bad
		}
		return p, nil
	}
	u, err := url.Parse(strings.NewReplacer("#", "%23", "?", "%3F").Replace(address))
	if err != nil || u.Hostname() == "" {
		return p, bad
	}
	p.user, p.host, p.port, p.path = u.User.Username(), u.Hostname(), u.Port(), u.Path
	if strings.HasPrefix(p.path, "/~") {
		p.path = p.path[1:]
	}
	if p.path == "" || p.path == "/" {
		return p, bad
	}
	return p, nil
}

// sshFiles are the person's settings for ssh, and the system's.
var sshFiles = func() (config, known []string) {
	home := ""
	if me, err := user.Current(); err == nil { // as ssh finds it, which asks no $HOME
		home = filepath.Join(me.HomeDir, ".ssh")
	}
	return []string{filepath.Join(home, "config"), "/etc/ssh/ssh_config"},
		[]string{filepath.Join(home, "known_hosts"), filepath.Join(home, "known_hosts2"), "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}
}

// settle fills in what the person's settings say of the host. What of them only ssh can
// do is refused.
func (p *sshPlace) settle(files []string) (err error) {
	defer func() {
		if recover() != nil { // so the reader says that there is a Match
			err = needsGit("the settings of ssh have what only ssh reads")
		}
	}()
	values := map[string]string{}
	for _, name := range files {
		text, err := readSmall(name)
		if err != nil {
			continue
		}
		c, err := sshconfig.DecodeBytes(text)
		if err != nil {
			return needsGit("the settings of ssh in " + fault.Quote(name) + " have what only ssh reads")
		}
		for _, key := range slices.Concat(sshRead, sshRefused) {
			if value, err := c.Get(p.host, key); err == nil && values[key] == "" {
				values[key] = value
			}
		}
	}
	for _, key := range sshRefused {
		if v := strings.ToLower(values[key]); v != "" && v != "no" && v != "none" {
			return needsGit("the settings of ssh for " + fault.Quote(p.host) + " have " + key)
		}
	}
	if p.port == "" {
		p.port = values["Port"]
	}
	if p.user == "" {
		p.user = values["User"]
	}
	if to := values["HostName"]; to != "" {
		p.host = strings.ReplaceAll(to, "%h", p.host)
	}
	if p.port == "" {
		p.port = "22"
	}
	if me, err := user.Current(); p.user == "" && err == nil {
		p.user = me.Username
	}
	return nil
}

var (
	sshRead    = []string{"HostName", "Port", "User"}
	sshRefused = []string{
		"ProxyCommand", "ProxyJump", "HostKeyAlias", "HostKeyAlgorithms", "UserKnownHostsFile", "GlobalKnownHostsFile", "KnownHostsCommand", "RevokedHostKeys", "IdentityAgent",
		"IdentitiesOnly", "CertificateFile", "BindAddress", "BindInterface", "RemoteCommand",
	}
)

// sshReceiver is git-receive-pack at the other end of an ssh connection.
type sshReceiver struct {
	client *ssh.Client
	in     io.WriteCloser
	out    io.Reader
	said   *said
	stop   func() bool
	sent   bool
}

// bySSH has git-receive-pack started there. Who the host is must be known, and who we are
// says the agent alone. All of it ends with ctx.
func (b *pushing) bySSH(ctx context.Context, address string) (_ receiver, err error) {
	configs, known := sshFiles()
	at, err := sshPlaceOf(address)
	if err == nil {
		err = at.settle(configs)
	}
	if err != nil {
		return nil, err
	}
	where := net.JoinHostPort(at.host, at.port)
	known = slices.DeleteFunc(known, func(name string) bool { return !lexists(name) })
	hosts, err := knownhosts.NewDB(known...)
	if err != nil {
		return nil, fault.New(fault.GitError, "the hosts that ssh knows cannot be read: %w", err)
	}
	keys, err := (&net.Dialer{}).DialContext(ctx, "unix", os.Getenv("SSH_AUTH_SOCK"))
	if err != nil {
		return nil, fault.New(fault.GitError, "no agent of ssh answers (SSH_AUTH_SOCK), and without a git program no other keys are used").
			WithHint("ask the human to start ssh-agent and ssh-add a key, or to install git")
	}
	defer keys.Close()
	defer context.AfterFunc(ctx, func() { keys.Close() })()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", where)
	if err != nil {
		return nil, err
	}
	r := &sshReceiver{said: &b.said, stop: context.AfterFunc(ctx, func() { conn.Close() })}
	defer func() {
		if err != nil {
			r.stop()
			conn.Close()
		}
	}()
	through, channels, requests, err := ssh.NewClientConn(conn, where, &ssh.ClientConfig{
		User: at.user, Auth: []ssh.AuthMethod{ssh.PublicKeysCallback(agent.NewClient(keys).Signers)},
		HostKeyCallback: hosts.HostKeyCallback(), HostKeyAlgorithms: hosts.HostKeyAlgorithms(where),
	})
	if err != nil {
		return nil, sshFailed(at.host, err)
	}
	r.client = ssh.NewClient(through, channels, requests)
	return r, r.start("git-receive-pack '" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(at.path) + "'")
}

func sshFailed(host string, err error) error {
	switch {
	case knownhosts.IsHostKeyChanged(err):
		return fault.New(fault.GitError, "the key of %s is another than ssh knows (known_hosts): somebody may be in between; nothing was pushed", fault.Quote(host)).
			WithHint("ask the human; do not try again")
	case knownhosts.IsHostUnknown(err):
		return fault.New(fault.GitError, "the key of %s is not known (known_hosts); nothing was pushed", fault.Quote(host)).
			WithHint("ask the human to connect with ssh once, and to look at the key")
	case strings.Contains(err.Error(), "unable to authenticate"):
		return fault.New(fault.GitError, "%s takes none of the keys that the agent of ssh has, and without a git program no others are used", fault.Quote(host)).
			WithHint("ask the human to ssh-add the key, or to install git")
	}
	return err
}

func (r *sshReceiver) start(command string) error {
	session, err := r.client.NewSession()
	if err != nil {
		return err
	}
	if r.in, err = session.StdinPipe(); err != nil {
		return err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return err
	}
	r.out = io.LimitReader(out, mostAnswered)
	session.Stderr = r.said
	return session.Start(command)
}

// AdvertisedReferencesContext is what the remote has.
func (r *sshReceiver) AdvertisedReferencesContext(context.Context) (*packp.AdvRefs, error) {
	there := packp.NewAdvRefs()
	err := there.Decode(r.out)
	if errors.Is(err, packp.ErrEmptyInput) {
		return nil, errors.New("it ended the connection: " + oneLine(r.said.String()))
	}
	if err != nil && !errors.Is(err, packp.ErrEmptyAdvRefs) {
		return nil, err
	}
	return there, nil
}

// ReceivePack sends a push, and reads what became of it.
func (r *sshReceiver) ReceivePack(_ context.Context, req *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	r.sent = true
	if err := req.Encode(r.in); err != nil {
		return nil, err
	}
	if err := r.in.Close(); err != nil {
		return nil, err
	}
	from := r.out
	if req.Capabilities.Supports(capability.Sideband64k) {
		demuxer := sideband.NewDemuxer(sideband.Sideband64k, r.out)
		demuxer.Progress = req.Progress
		from = demuxer
	}
	report := packp.NewReportStatus()
	if err := report.Decode(from); err != nil {
		return nil, fmt.Errorf("it broke off: %w", err)
	}
	return report, nil
}

// Close ends it. A remote that was sent nothing is told so.
func (r *sshReceiver) Close() error {
	if !r.sent {
		_, _ = r.in.Write(pktline.FlushPkt) //nolint:errcheck // it is the end anyway
	}
	r.stop()
	return r.client.Close()
}
