package tools

import (
	"context"
	"time"

	"pillion/tools/process"
	"pillion/tools/session"
)

// Processes runs commands, and knows those that go on after the call that started
// them; *process.Table does.
type Processes interface {
	Run(ctx context.Context, spec process.Spec, output func(process.Stream, []byte)) (process.Result, error)
	RunFor(ctx context.Context, most time.Duration, o process.Owner, about process.About, spec process.Spec,
		output func(process.Stream, []byte)) (soFar process.Result, next int64, kept *process.Named, err error)
	Start(ctx context.Context, o process.Owner, about process.About, spec process.Spec, output func(process.Stream, []byte)) (*process.Named, error)
	Taken(session, id string) error
	Find(session, id string) (*process.Named, error)
	List(session string) []*process.Named
}

// ownProcesses are the processes of one session: no tool can name another's.
type ownProcesses struct {
	all   Processes
	owner process.Owner
}

func (r *Registry) processesOf(s *session.Session) ownProcesses {
	agent := s.Agent()
	return ownProcesses{r.Processes, process.Owner{Session: s.ID(), Name: agent.Name, Via: agent.Via, Closed: s.Closed()}}
}

// Run runs a command to its end.
func (o ownProcesses) Run(ctx context.Context, spec process.Spec, output func(process.Stream, []byte)) (process.Result, error) {
	return o.all.Run(ctx, spec, output)
}

// RunFor runs a command, which becomes a process when it takes longer.
func (o ownProcesses) RunFor(ctx context.Context, most time.Duration, about process.About, spec process.Spec,
	output func(process.Stream, []byte),
) (soFar process.Result, next int64, kept *process.Named, err error) {
	return o.all.RunFor(ctx, most, o.owner, about, spec, output)
}

// Start starts a process.
func (o ownProcesses) Start(ctx context.Context, about process.About, spec process.Spec, output func(process.Stream, []byte)) (*process.Named, error) {
	return o.all.Start(ctx, o.owner, about, spec, output)
}

// Taken is why no process of that name can be started now.
func (o ownProcesses) Taken(id string) error { return o.all.Taken(o.owner.Session, id) }

// Unasked says whether the process of that name was started in a mode that asks for
// nothing.
func (o ownProcesses) Unasked(id string) bool {
	p, err := o.Find(id)
	return err == nil && p.About.Unasked
}

// Find gives the process of that name.
func (o ownProcesses) Find(id string) (*process.Named, error) { return o.all.Find(o.owner.Session, id) }

// List gives all processes, in the order of their start.
func (o ownProcesses) List() []*process.Named { return o.all.List(o.owner.Session) }
