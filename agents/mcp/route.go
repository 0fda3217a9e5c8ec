package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/session"
)

// door is what calls go through: a sidecar's, or our own. Whoever was given one calls
// Done when it needs it no longer.
type door interface {
	tools(ctx context.Context) ([]tools.Definition, error)
	call(ctx context.Context, name string, e *pendingCall) (relay.Result, error)
	close() error

	Add(int)
	Done()
	Wait()
}

// sidecar is one that was found; connect connects to it.
type sidecar struct {
	editor  string
	watch   bool // it is no editor, and is left for one
	connect func(ctx context.Context, h relay.Hello) (*relay.Client, error)
}

func findSidecar(cwd string) (sidecar, bool, error) {
	e, ok, err := relay.Find(cwd)
	return sidecar{editor: e.Editor, watch: e.Kind == relay.KindWatch, connect: func(ctx context.Context, h relay.Hello) (*relay.Client, error) {
		return relay.Dial(ctx, e, h)
	}}, ok, err
}

// route knows the way of a call: to the editor that is open on one of the folders, as
// long as there is none to a watch, and without either to tools of our own.
type route struct {
	o     Options
	moved atomic.Bool // the client works in other folders now

	turn    turn // whoever has it may use what follows
	known   bool // folders and refused are up to date
	folders []string
	refused error // why nothing is served
	editor  *editorDoor
	watch   *editorDoor // used where no editor is open, and kept meanwhile: what the user is asked there stays there
	alone   *aloneDoor

	sessions map[string]*back // by folder: what a sidecar that comes back is given

	leaving sync.WaitGroup
	lost    time.Time // when a sidecar went that was there
}

// back is the session that the agent had in a folder.
type back struct {
	session.Proof
	key Key // nil: it is in memory alone
}

func newRoute(o Options) *route {
	return &route{o: o, turn: make(turn, 1), sessions: map[string]*back{}}
}

// connectTime bounds the wait for an editor that does not answer.
const connectTime = 10 * time.Second

// door finds the way for one call. An editor that is there but cannot be reached
// is an error: working behind its back would lose what is unsaved in it.
func (r *route) door(ctx context.Context, client *sdk.ServerSession) (door, error) {
	leave, err := r.turn.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := r.settle(ctx, client); err != nil {
		return nil, err
	}
	d, err := r.find(ctx, client)
	if err == nil {
		d.Add(1)
	}
	return d, err
}

// settle looks which folders are served, when that is not known.
func (r *route) settle(ctx context.Context, client *sdk.ServerSession) error {
	if r.moved.Swap(false) {
		r.known = false
	}
	if r.known {
		return r.refused
	}
	folders, err := r.o.folders(ctx, client)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !slices.Equal(folders, r.folders) {
		r.leave()
	}
	r.known, r.folders, r.refused = true, folders, err
	return err
}

// find gives the door to the editor, or to our own tools.
func (r *route) find(ctx context.Context, client *sdk.ServerSession) (door, error) {
	if r.editor != nil && !r.editor.isGone() {
		return r.editor, nil
	}
	for _, d := range []**editorDoor{&r.editor, &r.watch} {
		if *d != nil && (*d).isGone() {
			(*d).ended.CompareAndSwap(0, time.Now().UnixNano())
			r.lost = time.Unix(0, (*d).ended.Load())
			r.leaveSidecar(d)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	who := agentOf(client)
	known := clientOf(clientName(client))
	for looks := 1; ; looks++ {
		found, cwd, ok := r.look()
		if !ok && time.Since(r.lost) < r.o.comeBack && pause(ctx, r.o.lookAgain) {
			looks = 0 // it may be starting anew
			continue
		}
		if !ok {
			return r.byOurselves(client)
		}
		if found.watch && r.watch != nil && !r.watch.isGone() {
			return r.watch, nil
		}
		had := r.had(who.Name, cwd)
		form := relay.FormText
		if r.o.Structured {
			form = ""
		}
		conn, err := found.connect(ctx, relay.Hello{Agent: relay.Agent{Name: who.Name, Version: who.Version}, Cwd: cwd, Form: form, PageBytes: known.page(), RangeBytes: known.most, Tools: r.o.Tools, Dialect: r.o.Dialect, Session: &had.Proof})
		if err == nil {
			r.keep(had, conn.Session())
			return r.enter(found, conn), nil
		}
		if !isDisconnect(err) || looks == mostLooks || !pause(ctx, r.o.lookAgain) {
			return nil, fault.New(fault.ExecutionFailed, "%w", err).
				WithHint("%s has this folder open but does not answer; ask the user to reload its window", fault.Quote(found.editor))
		}
	}
}

// had is the session that the agent had in a folder, in this program or an earlier one.
func (r *route) had(agent, folder string) *back {
	known := r.sessions[folder]
	if known == nil {
		known = &back{}
		if r.o.Key != nil {
			known.key = r.o.Key(agent, folder)
		}
		if known.key != nil {
			known.Proof = known.key.Load()
		}
		r.sessions[folder] = known
	}
	return known
}

// keep remembers the session that the agent has now.
func (r *route) keep(had *back, now session.Proof) {
	if now.Secret == "" {
		return
	}
	had.Proof = now
	if had.key == nil {
		return
	}
	if err := had.key.Save(now); err != nil {
		r.o.Logf("the session is not kept beyond this program: %v", err)
	}
}

// look finds the sidecar of the first folder that is open in an editor, else of the first
// that is watched.
func (r *route) look() (best sidecar, cwd string, ok bool) {
	for _, folder := range r.folders {
		found, there, err := r.o.find(folder)
		if err != nil {
			r.o.Logf("looking for an editor: %v", err)
		}
		if there && (!ok || best.watch && !found.watch) {
			best, cwd, ok = found, folder, true
		}
	}
	return best, cwd, ok
}

// watched says if there is a sidecar by now, on which folder.
func (r *route) watched(ctx context.Context) (folder string, yes bool) {
	leave, err := r.turn.acquire(ctx)
	if err != nil {
		return "", false
	}
	defer leave()
	_, _, yes = r.look()
	return strings.Join(r.folders, ", "), yes
}

// A sidecar that dies takes connections until the system has closed its socket, and ends
// them: it is looked for again for a second.
const (
	mostLooks = 50
	lookAgain = 20 * time.Millisecond
	comeBack  = 5 * time.Second // for a sidecar that was there to start anew
)

// isDisconnect: it was there a moment ago, and has hung up.
func isDisconnect(err error) bool {
	return errors.Is(err, wire.ErrClosed) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, fs.ErrNotExist)
}

// pause waits, and says whether there is time left.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *route) byOurselves(client *sdk.ServerSession) (door, error) {
	if r.alone != nil {
		return r.alone, nil
	}
	if r.o.Alone == nil {
		return nil, fault.New(fault.ExecutionFailed, "no editor is open on %s", fault.Quote(r.folders[0])).WithHint("%s", openAnEditor)
	}
	ask := newAsker(client, r.o.now, r.watched)
	d, err := r.o.Alone(r.folders, agentOf(client), ask, ask)
	if err != nil {
		return nil, fault.New(fault.ExecutionFailed, "cannot start the tools on %s: %w", fault.Quote(r.folders[0]), err)
	}
	d.Session.Offer(r.o.Tools)
	d.Session.SetDialect(r.o.Dialect)
	if d.OnToolsChanged != nil {
		d.OnToolsChanged(r.o.changed)
	}
	r.alone = &aloneDoor{Door: d, structured: r.o.Structured, beat: r.o.beat}
	return r.alone, nil
}

// enter needs the turn, as the three that follow do.
func (r *route) enter(found sidecar, conn *relay.Client) door {
	conn.OnToolsChanged(r.o.changed)
	d := &editorDoor{client: conn, name: "the editor"}
	go func() {
		<-conn.Done()
		d.ended.CompareAndSwap(0, time.Now().UnixNano())
	}()
	if !found.watch {
		r.editor = d
		return d
	}
	r.leaveSidecar(&r.watch)
	r.watch, d.name = d, "`pillion watch`"
	return d
}

// leave gives all doors up.
func (r *route) leave() {
	r.leaveSidecar(&r.editor)
	r.leaveSidecar(&r.watch)
	if r.alone != nil {
		r.closeLater(r.alone)
		r.alone = nil
	}
}

func (r *route) leaveSidecar(d **editorDoor) {
	if *d != nil {
		r.closeLater(*d)
		*d = nil
	}
}

// closeLater closes a door once the calls that went through it have ended.
func (r *route) closeLater(d door) {
	r.leaving.Go(func() {
		d.Wait()
		if err := d.close(); err != nil {
			r.o.Logf("ending the tools: %v", err)
		}
	})
}

// close is called when no call runs any more.
func (r *route) close() {
	r.turn <- struct{}{}
	r.leave()
	r.leaving.Wait()
}

// editorDoor leads to the sidecar of an editor, or of a watch.
type editorDoor struct {
	sync.WaitGroup
	client *relay.Client
	name   string // for the agent
	// ending: a call was told that the sidecar ends, which comes before the end
	// of the connection.
	ending atomic.Bool
	ended  atomic.Int64 // when the connection has, in ns
}

func (d *editorDoor) isGone() bool {
	select {
	case <-d.client.Done():
		return true
	default:
		return d.ending.Load()
	}
}

func (d *editorDoor) close() error {
	_ = d.client.Close() // the editor's end says more
	return nil
}

func (d *editorDoor) tools(ctx context.Context) ([]tools.Definition, error) {
	return d.client.Tools(ctx)
}

func (d *editorDoor) call(ctx context.Context, name string, e *pendingCall) (relay.Result, error) {
	body, err := d.client.Call(ctx, relay.Call{Name: name, Arguments: e.Arguments, Quiet: e.Meta.ProgressToken == nil}, e.progress)
	if err == nil || ctx.Err() != nil {
		return body, err
	}
	var refused *wire.Error
	switch {
	case errors.Is(err, wire.ErrClosed), errors.As(err, &refused) && refused.Code == wire.CodeRequestCancelled:
		d.ending.Store(true)
		if e.waits() {
			return nil, fault.New(fault.ApprovalUnavailable, "this call needs the user's approval and nobody could be asked: %s was closed; nothing was done", d.name).
				WithHint("%s", openAnEditor)
		}
		return nil, fault.New(fault.ExecutionFailed, "%s was closed while this call ran, so its outcome is unknown", d.name).
			WithHint("check the files before you call again; the next call looks for an editor again")
	case errors.As(err, &refused) && refused.Code == wire.CodeBusy:
		return nil, fault.New(fault.RateLimited, "%w", err)
	case errors.As(err, &refused) && refused.Code == wire.CodeInvalidParams:
		return nil, fault.Invalid("%w", err)
	}
	return nil, fmt.Errorf("the editor's pillion failed: %w", err)
}

// aloneDoor is our own tools.
type aloneDoor struct {
	sync.WaitGroup
	*Door
	structured bool // whatever the settings say
	beat       time.Duration
}

func (d *aloneDoor) close() error {
	if d.Close == nil {
		return nil
	}
	return d.Close()
}

func (d *aloneDoor) tools(context.Context) ([]tools.Definition, error) {
	definitions := d.Registry.DefinitionsIn("", d.Session, nil)
	if d.structures() {
		definitions = tools.WithResults(definitions)
	}
	return definitions, nil
}

// structures: results have structuredContent.
func (d *aloneDoor) structures() bool {
	return d.structured || d.Door.Structured != nil && d.Door.Structured()
}

func (d *aloneDoor) call(ctx context.Context, name string, e *pendingCall) (relay.Result, error) {
	known := clientOf(clientName(e.s.session()))
	call := tools.Call{
		Name: name, Arguments: e.Arguments, CallID: rand.Text(), Session: d.Session, PageBytes: known.page(), RangeBytes: known.most,
		Output: func(_, text string) { e.progress(relay.Progress{Text: text}) },
	}
	defer relay.Beat(d.beat, func() { e.progress(relay.StateOf(d.Registry, &call, "")) })()
	result := d.Registry.Execute(ctx, call)
	// What a sub-agent asks moves nothing: the call that runs it has been approved, and has begun.
	if moved := e.moved.Swap(false); moved && result.Err != nil && result.Err.Code == fault.ApprovalUnavailable {
		return nil, errMoved
	}
	return relay.NewResult(result, d.structures()), nil
}
