//go:build unix

package git_test

import (
	"context"
	"crypto/ed25519"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"pillion/workspace/git"
)

// sshHost is a host that runs git's own git-receive-pack for whoever has its key.
type sshHost struct {
	*rig
	*ssh.ServerConfig
	listener net.Listener
	key      ssh.Signer
	working  sync.WaitGroup
	hangs    func() // if set, in place of an answer
}

func newSigner(t *testing.T) (ed25519.PrivateKey, ssh.Signer) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return private, signer
}

// newSSHHost is one that lets the keys of the test's agent in.
func newSSHHost(r *rig) *sshHost {
	private, mine := newSigner(r.T)
	_, key := newSigner(r.T)
	h := &sshHost{rig: r, key: key, ServerConfig: &ssh.ServerConfig{
		PublicKeyCallback: func(c ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if c.User() == "me" && string(k.Marshal()) == string(mine.PublicKey().Marshal()) {
				return nil, nil
			}
			return nil, os.ErrPermission
		},
	}}
	h.AddHostKey(key)
	var err error
	h.listener, err = net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	h.serve(h.listener, h.connection)
	keys := agent.NewKeyring()
	r.must(keys.Add(agent.AddedKey{PrivateKey: private}))
	dir, err := os.MkdirTemp("", "agent") // the path of a socket is to be short
	r.must(err)
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	r.must(err)
	h.serve(socket, func(c net.Conn) { _ = agent.ServeAgent(keys, c) }) // until it is closed
	r.Setenv("SSH_AUTH_SOCK", filepath.Join(dir, "s"))
	r.Cleanup(func() {
		h.listener.Close()
		socket.Close()
		h.working.Wait()
		os.RemoveAll(dir)
	})
	r.knows(key.PublicKey(), h.listener.Addr().String())
	return h
}

func (r *rig) knows(key ssh.PublicKey, host string) {
	r.Helper()
	r.write("../ssh/known", knownhosts.Line([]string{host}, key)+"\n")
	git.SSHFiles(r.T, r.path("../ssh/config"), r.path("../ssh/known"))
}

func (h *sshHost) serve(l net.Listener, each func(net.Conn)) {
	h.working.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			h.working.Go(func() {
				defer c.Close()
				each(c)
			})
		}
	})
}

func (h *sshHost) connection(c net.Conn) {
	conn, channels, requests, err := ssh.NewServerConn(c, h.ServerConfig)
	if err != nil {
		return
	}
	defer conn.Close()
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, asked, err := offered.Accept()
		if err != nil {
			return
		}
		for r := range asked {
			if r.Type != "exec" {
				_ = r.Reply(false, nil) // it may be gone
				continue
			}
			_ = r.Reply(true, nil)
			if h.hangs != nil {
				h.hangs()
				continue
			}
			h.command(channel, string(r.Payload[4:]))
		}
	}
}

func (h *sshHost) command(channel ssh.Channel, line string) {
	defer channel.Close()
	if !strings.HasPrefix(line, "git-receive-pack ") {
		return
	}
	command := exec.Command("/bin/sh", "-c", line)
	command.Stdout, command.Stderr, command.Dir = channel, channel.Stderr(), filepath.Dir(h.top)
	in, err := command.StdinPipe()
	if err != nil {
		return
	}
	h.working.Go(func() {
		_, _ = io.Copy(in, channel) // until one of the two ends
		_ = in.Close()
	})
	_ = command.Run() // its answer says it
}

func (r *rig) push(ctx context.Context) (git.Pushed, error) {
	o := git.PushOptions{Dir: r.top}
	p, err := git.NewPush(ctx, r.root, o)
	r.must(err)
	if err := git.Pushable(r.root, o, p, false); err != nil {
		return git.Pushed{}, err
	}
	return git.MakePush(ctx, r.root, o, p, false)
}

// TestPushBySSH: to a real git-receive-pack, with a key of the agent, to a host that is
// known, by each form of an address.
func TestPushBySSH(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("", func(t *testing.T) {
		r := newRig(t)
		r.write("a.txt", "one\n")
		r.commit()
		h := newSSHHost(r)
		where := h.listener.Addr().String()
		_, port, _ := net.SplitHostPort(where)
		r.write("../ssh/config", "Host alias\n\tHostName 127.0.0.1\n\tPort "+port+"\n\tUser me\n")
		bare := r.beside("it's a bare one!.git")
		r.git("init", "-q", "--bare", bare.top)
		r.git("remote", "add", "origin", "ssh://me@"+where+bare.top)
		for _, address := range []string{"ssh://me@" + where + bare.top, "alias:" + bare.top} {
			r.git("remote", "set-url", "origin", address)
			r.git("commit", "-q", "--allow-empty", "-m", "more")
			done, err := r.push(t.Context())
			if head := r.git("rev-parse", "HEAD"); err != nil || done.Note != "" || bare.git("rev-parse", "main") != head || r.git("rev-parse", "origin/main") != head {
				t.Errorf("%s: %+v, %v", address, done, err)
			}
		}
		bare.git("fsck", "--strict")
		r.git("remote", "set-url", "origin", "alias:/nowhere")
		if done, err := r.push(t.Context()); err == nil || !strings.Contains(err.Error(), "does not appear to be a git repository") {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// TestPushBySSHToNobodyElse: a host with another key, one that is not known, keys that it
// does not take, and settings that only ssh follows.
func TestPushBySSHToNobodyElse(t *testing.T) {
	r := newRig(t)
	r.write("a.txt", "one\n")
	r.commit()
	h := newSSHHost(r)
	where := h.listener.Addr().String()
	bare := r.beside("bare.git")
	r.git("init", "-q", "--bare", bare.top)
	r.git("remote", "add", "origin", "ssh://me@"+where+bare.top)
	refused := func(want string) {
		t.Helper()
		if _, err := r.push(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	_, other := newSigner(t)
	r.knows(other.PublicKey(), where)
	refused("another than ssh knows")
	r.knows(other.PublicKey(), "127.0.0.1:1")
	refused("is not known")
	r.remove("../ssh/known")
	refused("is not known")
	r.knows(h.key.PublicKey(), where)
	for _, line := range []string{"ProxyCommand touch fired", "ProxyJump other", "UserKnownHostsFile /dev/null", "IdentitiesOnly yes"} {
		r.write("../ssh/config", "Host 127.0.0.1\n\t"+line+"\n")
		refused(strings.Fields(line)[0])
	}
	r.write("../ssh/config", "Match host 127.0.0.1\n\tProxyCommand touch fired\n")
	refused("what only ssh reads")
	r.remove("../ssh/config")
	r.git("remote", "set-url", "origin", "ssh://other@"+where+bare.top)
	refused("takes none of the keys")
	r.git("remote", "set-url", "origin", "ssh://me@"+where+bare.top)
	r.Setenv("SSH_AUTH_SOCK", "")
	refused("no agent of ssh answers")
	if got := bare.git("for-each-ref"); got != "" {
		t.Errorf("pushed: %s", got)
	}
}

// TestPushBySSHEnds: with the call, whatever the host does.
func TestPushBySSHEnds(t *testing.T) {
	r := newRig(t)
	r.write("a.txt", "one\n")
	r.commit()
	h := newSSHHost(r)
	ctx, cancel := context.WithCancel(t.Context())
	h.hangs = cancel
	r.git("remote", "add", "origin", "ssh://me@"+h.listener.Addr().String()+"/x.git")
	if _, err := r.push(ctx); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Error(err)
	}
}
