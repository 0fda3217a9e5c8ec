package rpc

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools/approval"
	"pillion/tools/process"
)

// processInfo is a process that an agent started, in process/list.
type processInfo struct {
	SessionID string         `json:"sessionId"`
	ProcessID string         `json:"processId"`
	Agent     approval.Agent `json:"agent"`
	PID       int            `json:"pid"`
	Command   string         `json:"command"`
	Cwd       string         `json:"cwd"`
	Running   bool           `json:"running"`
	ExitCode  *int           `json:"exitCode,omitempty"`
	Started   time.Time      `json:"started"`
}

// processOutput is process/output: the bytes from Start up to Next of all that the
// process ever printed.
type processOutput struct {
	SessionID string `json:"sessionId"`
	ProcessID string `json:"processId"`
	Text      string `json:"text"`
	Start     int64  `json:"start"`
	Next      int64  `json:"next"`
	Running   bool   `json:"running"`
	ExitCode  *int   `json:"exitCode,omitempty"`
}

// processParams name a process, and what is to be done with it.
type processParams struct {
	SessionID string `json:"sessionId"`
	ProcessID string `json:"processId"`
	Signal    string `json:"signal"`
	Input     string `json:"input"`
}

const (
	// outputPiece is the most that one process/output carries, and outputPause what
	// lies between two of a process: no editor shows more in that time.
	outputPiece = 64 << 10
	outputPause = 20 * time.Millisecond
	// outputUnread is how much the editor may leave unread before no output is sent:
	// a dialog must not wait behind a process that prints without end.
	outputUnread = 256 << 10
)

func (s *server) processList(_ context.Context, p processParams) (any, error) {
	out := []processInfo{}
	for _, one := range s.running().Processes.List(p.SessionID) {
		out = append(out, infoOf(one))
	}
	return map[string]any{"processes": out}, nil
}

func infoOf(p *process.Named) processInfo {
	running, code := ending(p)
	return processInfo{
		SessionID: p.Owner.Session, ProcessID: p.ID, Agent: approval.Agent{Name: p.Owner.Name, Via: p.Owner.Via},
		PID: p.PID(), Command: p.Command, Cwd: p.Cwd, Running: running, ExitCode: code, Started: p.Started.UTC(),
	}
}

func ending(p *process.Named) (running bool, code *int) {
	if p.Running() {
		return true, nil
	}
	result, _ := p.Wait(context.Background()) // at once; why it ended is the agent's to read
	return false, &result.ExitCode
}

func (s *server) processKill(ctx context.Context, params processParams) (any, error) {
	p, err := s.process(params)
	if err != nil {
		return nil, err
	}
	return kill(ctx, p, params.Signal)
}

// kill ends a process for the user.
func kill(ctx context.Context, p *process.Named, signal string) (any, error) {
	running := p.Running()
	if s, _ := process.ParseSignal(signal); running && (signal == "" || s == process.Kill) {
		p.NoteHuman() // before its agent sees that it has ended
	}
	if err := p.EndWith(ctx, signal); err != nil {
		return nil, invalid(err)
	}
	if running && !p.Running() {
		p.NoteHuman()
	}
	running, code := ending(p)
	return struct {
		Running  bool `json:"running"`
		ExitCode *int `json:"exitCode,omitempty"`
	}{running, code}, nil
}

// endProcess is pillion.endProcess: of all that run the one of that name, and without
// a name the one that was started last.
func (s *server) endProcess(ctx context.Context, id, session string) (any, error) {
	for _, p := range slices.Backward(s.running().Processes.List(session)) {
		if p.Running() && (id == "" || p.ID == id) {
			return kill(ctx, p, "")
		}
	}
	if id == "" {
		return nil, wire.Errorf(wire.CodeRequestFailed, "no process is running")
	}
	return nil, wire.Errorf(wire.CodeInvalidParams, "no process called %s is running; pillion.status lists the running ones", fault.Quote(id))
}

func (s *server) processWrite(ctx context.Context, params processParams) (any, error) {
	p, err := s.process(params)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	n, err := p.Write(ctx, params.Input)
	if err != nil && n == 0 {
		return nil, wire.Errorf(wire.CodeRequestFailed, "%v", err)
	}
	return map[string]int{"bytesWritten": n}, nil
}

// process finds the process that params name.
func (s *server) process(named processParams) (*process.Named, error) {
	p, err := s.running().Processes.Find(cmp.Or(named.SessionID, EditorSession), named.ProcessID)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInvalidParams, "%s; %s", err, fault.From(err).Hint)
	}
	return p, nil
}

// screens are the processes whose output goes to the editor.
type screens struct {
	mu   sync.Mutex // guards last
	last map[processKey]chan struct{}
}

type processKey struct{ session, id string }

// add shows a process, after the last one of its name has been shown to its end.
func (s *screens) add(p *process.Named, show func(*process.Named)) {
	key, done := processKey{p.Owner.Session, p.ID}, make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[processKey]chan struct{}{}
	}
	before := s.last[key]
	s.last[key] = done
	go func() {
		if before != nil {
			<-before
		}
		show(p)
		close(done)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.last[key] == done {
			delete(s.last, key)
		}
	}()
}

// showProcesses tells the editor of every process from now on.
func (s *server) showProcesses(table *process.Table) {
	table.Watch(func(p *process.Named) { s.screens.add(p, s.showProcess) })
}

// showProcess sends what a process prints until it has ended. Nothing is queued: an
// editor that reads slowly gets, at its own pace, what is still kept, and the offsets
// say what is missing.
func (s *server) showProcess(p *process.Named) {
	out := processOutput{SessionID: p.Owner.Session, ProcessID: p.ID, Running: true}
	if s.sendOutput(out) != nil {
		return
	}
	var shown terminalText
	for {
		running, code := ending(p) // before the output, which is all there is once it has ended
		piece, changed := p.Next(out.Next, outputPiece)
		switch {
		case piece.Next > piece.Start:
			if piece.Start != out.Next {
				shown = terminalText{} // what is missing may have ended a sequence
			}
			out.Text, out.Start, out.Next = shown.take(piece.Text), piece.Start, piece.Next
			if s.sendOutput(out) != nil {
				return
			}
			select {
			case <-time.After(outputPause):
			case <-s.conn.Done():
				return
			}
		case !running:
			out.Text, out.Start, out.Running, out.ExitCode = "", out.Next, false, code
			s.sendOutput(out) //nolint:errcheck // it was the last
			return
		default:
			select {
			case <-changed:
			case <-s.conn.Done():
				return
			}
		}
	}
}

// sendOutput waits until the editor has read what was sent before.
func (s *server) sendOutput(out processOutput) error {
	if err := s.conn.Unread(context.Background(), outputUnread); err != nil {
		return err
	}
	return s.conn.Notify("process/output", out)
}
