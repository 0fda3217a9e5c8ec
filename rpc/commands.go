package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/tools"
	"pillion/tools/approval"
	"pillion/tools/policy"
	"pillion/tools/session"
	"pillion/workspace/change"
)

// arguments are those of a command. What is missing or of another type is empty, which the
// command itself refuses where it must not be.
type arguments []json.RawMessage

func (a arguments) text(i int) (s string) {
	a.read(i, &s)
	return s
}

func (a arguments) number(i int) (n int) {
	a.read(i, &n)
	return n
}

func (a arguments) read(i int, into any) {
	if i < len(a) {
		json.Unmarshal(a[i], into) //nolint:errcheck // see above
	}
}

// commands are the actions for editors without a plugin. An editor with one has
// commands of its own, and two of one name would fail its start. Filled by init
// because its functions refer to it.
var commands map[string]func(s *server, ctx context.Context, args arguments) (any, error)

func init() {
	commands = map[string]func(s *server, ctx context.Context, args arguments) (any, error){
		"pillion.setMode": func(s *server, _ context.Context, args arguments) (any, error) {
			return s.changeSession(sessionParams{SessionID: args.text(1), Mode: policy.Mode(args.text(0))}, (*server).sessionSetMode)
		},
		"pillion.newTurn": func(s *server, _ context.Context, args arguments) (any, error) {
			return s.resume(args.text(0))
		},
		"pillion.pause": func(s *server, _ context.Context, args arguments) (any, error) {
			return s.changeSession(sessionParams{SessionID: args.text(0), Reason: args.text(1)}, (*server).sessionPause)
		},
		"pillion.approve": func(s *server, _ context.Context, args arguments) (any, error) {
			return s.answer(args.text(0), approval.Answer{Decision: approval.Approve, DecisionID: approval.ApproveID})
		},
		"pillion.approveSession": func(s *server, _ context.Context, args arguments) (any, error) {
			return s.answer(args.text(0), approval.Answer{Decision: approval.Approve, DecisionID: forSession})
		},
		"pillion.reject": func(s *server, _ context.Context, args arguments) (any, error) {
			return s.answer(args.text(1), approval.Answer{Decision: approval.Reject, Feedback: args.text(0)})
		},
		"pillion.cancel": func(s *server, _ context.Context, args arguments) (any, error) {
			return s.answer(args.text(0), approval.Answer{Decision: approval.Cancel})
		},
		"pillion.endProcess": func(s *server, ctx context.Context, args arguments) (any, error) {
			return s.endProcess(ctx, args.text(0), args.text(1))
		},
		"pillion.trustSettings": func(s *server, _ context.Context, args arguments) (any, error) {
			return s.trustShown(args.text(0))
		},
		"pillion.revertCall": func(s *server, ctx context.Context, args arguments) (any, error) {
			return s.revertByCommand(ctx, journalParams{CallID: args.text(0)}, func(last change.EntryInfo) journalParams {
				return journalParams{CallID: last.CallID}
			})
		},
		"pillion.revertTurn": func(s *server, ctx context.Context, args arguments) (any, error) {
			return s.revertByCommand(ctx, journalParams{SessionID: args.text(0), Turn: args.number(1)}, func(last change.EntryInfo) journalParams {
				return journalParams{SessionID: last.SessionID, Turn: last.Turn}
			})
		},
		"pillion.revertSession": func(s *server, ctx context.Context, args arguments) (any, error) {
			return s.revertByCommand(ctx, journalParams{SessionID: args.text(0)}, func(last change.EntryInfo) journalParams {
				return journalParams{SessionID: last.SessionID}
			})
		},
		"pillion.show":   func(s *server, ctx context.Context, _ arguments) (any, error) { return s.showAgain(ctx) },
		"pillion.status": func(s *server, _ context.Context, _ arguments) (any, error) { return s.status(), nil },
	}
}

type executeCommandParams struct {
	Command   string    `json:"command"`
	Arguments arguments `json:"arguments"`
}

func (s *server) executeCommand(ctx context.Context, p executeCommandParams) (any, error) {
	run, ok := commands[p.Command]
	if !ok {
		return nil, wire.Errorf(wire.CodeInvalidParams, "unknown command: %s", p.Command)
	}
	result, err := run(s, ctx, p.Arguments)
	if err != nil && s.asks().boxless.Load() {
		s.show(messageError, "Pillion: %v", err) // Helix writes the errors of commands only into its log
	}
	return result, err
}

// resume begins a session's next turn. Without an id that of the editor's own and of
// every session that is paused: an editor that takes no arguments can resume an agent.
func (s *server) resume(id string) (any, error) {
	if id == "" {
		for _, one := range s.running().Sessions.List() {
			if one.Paused && one.SessionID != EditorSession {
				s.changeSession(sessionParams{SessionID: one.SessionID}, (*server).sessionNewTurn) //nolint:errcheck // it has been closed meanwhile
			}
		}
	}
	return s.changeSession(sessionParams{SessionID: id}, (*server).sessionNewTurn)
}

// answer answers an approval that waits. Agents have no such way: their channel has
// no commands.
func (s *server) answer(id string, answer approval.Answer) (any, error) {
	d := s.asks()
	id, err := d.questions.give(id, answer)
	if err != nil {
		return nil, err
	}
	d.place.answeredElsewhere(id)
	return answered{id, answer.Decision}, nil
}

// answered is what the commands that answer an approval give back.
type answered struct {
	ApprovalID string            `json:"approvalId"`
	Decision   approval.Decision `json:"decision"`
}

// showAgain has the box on show opened anew; where there are no boxes, or none that could
// hold it, it shows the question in front as a document.
func (s *server) showAgain(ctx context.Context) (any, error) {
	d := s.asks()
	q := d.questions.front()
	if q != nil {
		_, fits := boxText(d.questions.current(q), boxPreview)
		if d.boxless.Load() || !fits {
			return json.RawMessage("null"), d.showPage(ctx, q)
		}
	}
	if d.place.reopen() {
		return json.RawMessage("null"), nil
	}
	return nil, wire.Errorf(wire.CodeRequestFailed, "no request is open")
}

// statusResult is the result of pillion.status.
type statusResult struct {
	Waiting   []waitingApproval `json:"waiting"`
	Running   []tools.Activity  `json:"running"`
	Processes []processInfo     `json:"processes"` // that run
	Sessions  []session.Info    `json:"sessions"`
	Text      string            `json:"text"` // all of it, for people
}

// waitingApproval is an approval as words.
type waitingApproval struct {
	ApprovalID string `json:"approvalId"`
	SessionID  string `json:"sessionId"`
	Title      string `json:"title"`
	Text       string `json:"text,omitempty"`
}

// status says what waits, what runs and who is there, and shows it to the user.
func (s *server) status() statusResult {
	out := statusResult{Waiting: []waitingApproval{}, Running: []tools.Activity{}, Processes: []processInfo{}, Sessions: s.running().Sessions.List()}
	d, room := s.asks(), statusPreviews
	look := d.questions.show
	if d.boxless.Load() {
		look = d.questions.current // its messages are one line long
	}
	for _, q := range d.questions.list() {
		w := waitingApproval{ApprovalID: q.request.ApprovalID, SessionID: q.request.SessionID, Title: q.request.Title}
		if room--; room >= 0 {
			w.Text, _ = boxText(look(q), boxPreview)
		}
		out.Waiting = append(out.Waiting, w)
	}
	for _, a := range s.statuses.underWay() {
		if a.State != tools.Waiting {
			out.Running = append(out.Running, a)
		}
	}
	for _, p := range s.running().Processes.List("") {
		if p.Running() {
			out.Processes = append(out.Processes, infoOf(p))
		}
	}
	out.Text = out.words()
	s.show(messageInfo, "%s", out.Text)
	return out
}

// statusPreviews is how many approvals pillion.status shows in full.
const statusPreviews = 4

func (r statusResult) words() string {
	var out strings.Builder
	fmt.Fprintf(&out, "Pillion: %s for your answer, %d running, %s.\n", fault.Plural(len(r.Waiting), "request is waiting", "requests are waiting"), len(r.Running), fault.Plural(len(r.Sessions), "session", "sessions"))
	for _, w := range r.Waiting {
		fmt.Fprintf(&out, "\nwaits: %s\n", w.ApprovalID)
		if w.Text == "" {
			w.Text = fault.Escape(w.Title)
		}
		out.WriteString(w.Text + "\n")
	}
	for _, a := range r.Running {
		fmt.Fprintf(&out, "\nruns: %s\n", barTitle(a))
	}
	for _, p := range r.Processes {
		fmt.Fprintf(&out, "\nprocess %s of %s: %s\n", fault.Quote(p.ProcessID), fault.Quote(p.Agent.Name), fault.Quote(p.Command))
	}
	for _, one := range r.Sessions {
		fmt.Fprintf(&out, "\nsession %s: %s, mode %s", fault.Quote(one.SessionID), fault.Quote(one.Agent.Name), one.Mode)
		if one.Paused {
			out.WriteString(", paused: " + fault.Escape(one.PauseReason))
		}
		out.WriteString("\n")
	}
	return out.String()
}
