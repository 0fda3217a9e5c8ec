package gateway

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"pillion/conversation"
	"pillion/internal/fault"
)

// Times of a connection.
const (
	dialTime  = 15 * time.Second
	writeTime = 30 * time.Second // a gateway that takes nothing for so long is gone
	pingTime  = 20 * time.Second // between pings, and how long an answer to one may take
	firstWait = 250 * time.Millisecond
	longWait  = 30 * time.Second
	byeTime   = time.Second // for a gateway to say goodbye
	maxDrain  = 64 << 20    // bytes of a frame that is too large, until the connection ends
)

// socket keeps a link connected to its gateway, until it is stopped.
type socket struct {
	link  *link
	to    address
	token string

	ended chan struct{}
	end   context.CancelFunc

	mu    sync.Mutex // guards state
	state State
}

func connect(l *link, to address, token string) *socket {
	s := &socket{link: l, to: to, token: token, ended: make(chan struct{})}
	s.state = State{State: conversation.Connecting, URL: to.shown, SessionID: l.id, ConversationID: l.talk.ID()}
	ctx, end := context.WithCancel(l.ctx)
	s.end = end
	s.tell(s.state)
	go func() {
		defer close(s.ended)
		s.keep(ctx)
	}()
	return s
}

// stop ends the connection; what the calls of the session come to is not sent any more.
func (s *socket) stop() {
	s.end()
	<-s.ended
}

func (s *socket) status() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *socket) tell(now State) {
	now.URL, now.SessionID, now.ConversationID = s.to.shown, s.link.id, s.link.talk.ID()
	s.mu.Lock()
	s.state = now
	s.mu.Unlock()
	s.link.talk.Connected(now.State)
	s.link.owner.Connected(now.State == conversation.Connected)
	s.link.host.Changed(now)
}

// keep connects, and connects again, until ctx ends or the gateway will not have us.
func (s *socket) keep(ctx context.Context) {
	for attempt := 1; ; attempt++ {
		useful, err := s.once(ctx)
		if ctx.Err() != nil {
			s.tell(State{State: conversation.Disconnected})
			return
		}
		if useful {
			attempt = 1
		}
		shown := fault.From(err)
		if shown.Code == fault.PermissionDenied { // another attempt would not mend that
			s.link.talk.Note(conversation.OfError, shown.Message)
			s.tell(State{State: conversation.Disconnected, Error: shown})
			return
		}
		wait := backOff(attempt)
		s.tell(State{State: conversation.Reconnecting, Attempt: attempt, RetryInMS: wait.Milliseconds(), Error: shown})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// backOff is how long to wait before an attempt: twice as long each time, and not all
// clients at the same moment.
func backOff(attempt int) time.Duration {
	most := min(firstWait<<min(attempt-1, 16), longWait)
	return most/2 + rand.N(most/2)
}

// once connects and serves one connection to its end. It was useful if a frame came.
func (s *socket) once(ctx context.Context) (useful bool, err error) {
	conn, err := s.dial(ctx)
	if err != nil {
		return false, err
	}
	defer conn.CloseNow() //nolint:errcheck // it has ended
	s.link.out.open()
	s.tell(State{State: conversation.Connected})
	inner, stop := context.WithCancelCause(ctx)
	// What is under way on the connection is not cut off when the user disconnects: the
	// goodbye comes after it, unless that takes too long.
	whole, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	var works sync.WaitGroup
	works.Go(func() { stop(s.write(inner, whole, conn)) })
	works.Go(func() { stop(s.confirm(inner, whole, conn)) })
	works.Go(func() {
		<-inner.Done()
		hangUp(ctx, conn, cut)
	})
	err = s.read(inner, whole, conn, &useful)
	stop(err)
	works.Wait()
	status := max(websocket.CloseStatus(err), websocket.CloseStatus(context.Cause(inner)))
	s.link.out.close(status >= 0)
	switch {
	case status == websocket.StatusPolicyViolation:
		return useful, fault.New(fault.PermissionDenied, "the gateway ended the connection%s", reason(err))
	case status >= 0:
		return useful, fault.New(fault.ExecutionFailed, "the gateway closed the connection%s", reason(err))
	}
	return useful, fault.New(fault.ExecutionFailed, "the connection to the gateway broke")
}

// hangUp ends a connection: in order, for a moment, where it is the user who ends it.
func hangUp(ctx context.Context, conn *websocket.Conn, cut func()) {
	if ctx.Err() != nil {
		timer := time.AfterFunc(byeTime, cut)
		defer timer.Stop()
		_ = conn.Close(websocket.StatusNormalClosure, "the user disconnected") // it ends either way
	}
	_ = conn.CloseNow()
}

func reason(err error) string {
	var closed websocket.CloseError
	if errors.As(err, &closed) && closed.Reason != "" {
		return ": " + fault.Line(fault.Clip(closed.Reason, 200))
	}
	return ""
}

// dial opens the connection. No error of it has the token, or what the address has behind
// its path.
func (s *socket) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	header := http.Header{"User-Agent": {"pillion/" + s.link.host.Version}}
	if s.token != "" {
		header.Set("Authorization", "Bearer "+s.token)
	}
	dialer := net.Dialer{}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	if s.to.loopback {
		dialer.Control = onlyLoopback
	} else {
		transport.Proxy = http.ProxyFromEnvironment
	}
	conn, answer, err := websocket.Dial(ctx, s.to.dial, &websocket.DialOptions{
		HTTPHeader: header,
		HTTPClient: &http.Client{Transport: unmasking{transport}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	})
	if err == nil {
		conn.SetReadLimit(-1) // read has its own
		return conn, nil
	}
	if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
		if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden {
			return nil, fault.New(fault.PermissionDenied, "the gateway refused the token (%d); connect again with another one", answer.StatusCode)
		}
		return nil, fault.New(fault.ExecutionFailed, "the gateway answered %d %s instead of opening a WebSocket; check the address", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	return nil, fault.New(fault.ExecutionFailed, "the gateway cannot be reached: %s", fault.Line(err.Error()))
}

// onlyLoopback refuses to connect to another machine, whatever a name leads to.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !to.Addr().Unmap().IsLoopback() {
		return errors.New("without TLS only this machine is connected to")
	}
	return nil
}

// read passes on what comes in, until the connection ends, and notes that something did.
func (s *socket) read(ctx, whole context.Context, conn *websocket.Conn, some *bool) error {
	for {
		if err := s.link.out.waitForRoom(ctx); err != nil {
			return err
		}
		kind, from, err := conn.Reader(whole)
		if err != nil {
			return err
		}
		*some = true
		set := s.link.host.Settings()
		most := set.frameBytes()
		data, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
		if err != nil {
			return err
		}
		switch {
		case len(data) > most:
			rest, err := io.Copy(io.Discard, io.LimitReader(from, maxDrain))
			if err != nil {
				return err
			}
			if rest == maxDrain {
				return fault.New(fault.ExecutionFailed, "the gateway sent a frame of more than %d bytes", maxDrain)
			}
			s.link.refuse(set, "", fault.New(fault.FileTooLarge, "the frame has %d bytes, over the limit of %d", len(data)+int(rest), most))
		case kind != websocket.MessageText:
			s.link.refuse(set, "", fault.Invalid("frames are text, not binary"))
		default:
			s.link.receive(data)
		}
	}
}

// write writes what goes out.
func (s *socket) write(ctx, whole context.Context, conn *websocket.Conn) error {
	for {
		f, ok := s.link.out.next()
		if !ok {
			select {
			case <-s.link.out.wake:
				continue
			case <-ctx.Done():
				return nil
			}
		}
		writing, cancel := context.WithTimeout(whole, writeTime)
		err := conn.Write(writing, websocket.MessageText, f.data)
		cancel()
		if err != nil {
			return err
		}
		s.link.out.done()
	}
}

// confirm finds out what has arrived, and whether the gateway is still there: an answer to
// a ping comes after all that was sent before it.
func (s *socket) confirm(ctx, whole context.Context, conn *websocket.Conn) error {
	tick := time.NewTicker(pingTime)
	defer tick.Stop()
	for {
		if s.link.out.unconfirmed() == 0 {
			select {
			case <-s.link.out.wrote:
				continue
			case <-tick.C:
			case <-ctx.Done():
				return nil
			}
		}
		n := s.link.out.unconfirmed()
		pinging, cancel := context.WithTimeout(whole, pingTime)
		err := conn.Ping(pinging)
		cancel()
		if err != nil {
			return err
		}
		s.link.out.confirm(n)
	}
}

// unmasking has what a gateway sends looked at once the WebSocket is open.
type unmasking struct{ http.RoundTripper }

func (u unmasking) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := u.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		return answer, err
	}
	if stream, ok := answer.Body.(io.ReadWriteCloser); ok {
		answer.Body = &unmasked{ReadWriteCloser: stream}
	}
	return answer, nil
}

// unmasked is a stream of frames that ends with the first masked one: RFC 6455 has a client close
// such a connection (5.1), which the library does not.
type unmasked struct {
	io.ReadWriteCloser
	head []byte // of a frame, as far as it has come
	left uint64 // bytes of the frame that follow
}

var errMasked = errors.New("the gateway masks its frames, which only clients do")

func (u *unmasked) Read(p []byte) (int, error) {
	n, err := u.ReadWriteCloser.Read(p)
	for at := 0; at < n; {
		if u.left > 0 {
			part := min(u.left, uint64(n-at)) //nolint:gosec // of what was read
			u.left -= part
			at += int(part) //nolint:gosec // likewise
			continue
		}
		u.head = append(u.head, p[at])
		at++
		if len(u.head) < 2 {
			continue
		}
		length := u.head[1]
		switch {
		case length&0x80 != 0:
			return 0, errMasked
		case length == 126 && len(u.head) == 4:
			u.left, u.head = uint64(binary.BigEndian.Uint16(u.head[2:])), nil
		case length == 127 && len(u.head) == 10:
			u.left, u.head = binary.BigEndian.Uint64(u.head[2:]), nil
		case length < 126:
			u.left, u.head = uint64(length), nil
		}
	}
	return n, err
}
