package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"pillion/internal/fault"
	"pillion/tools"
	"pillion/tools/approval"
)

// Watch is a terminal that stays open beside agents: it asks as an Asker does, says
// what becomes of their calls, and takes a word from the person between questions.
type Watch struct {
	*Asker
	resume func() []string // lets paused agents go on, and names them
	obeys  func(line string)

	mu    sync.Mutex             // guards calls
	calls map[string]*time.Timer // those that run, by their ids
}

// NewWatch makes a watch. Resume lets all paused agents go on, and gives their names.
func NewWatch(o Options, resume func() []string) *Watch {
	o.Bell = true
	w := &Watch{Asker: NewAsker(o), resume: resume, calls: map[string]*time.Timer{}}
	w.obeys = w.obey
	return w
}

// Ask asks, and says how an agent goes on that was stopped by the answer.
func (w *Watch) Ask(ctx context.Context, r approval.Request) (approval.Answer, error) {
	answer, err := w.Asker.Ask(ctx, r)
	if err == nil && answer.Decision == approval.Cancel {
		w.Paused(r.Agent.Name)
	}
	return answer, err
}

// Say tells the person something, in words.
func (w *Watch) Say(text string) {
	w.say(w.currentStyle().Wrap("  "+w.currentStyle().Yellow("!")+" ", "    ", fault.Escape(text)))
}

// Paused says that an agent is, and how it goes on.
func (w *Watch) Paused(agent string) {
	w.say(w.currentStyle().Yellow("  ! " + fault.Quote(agent) + " is paused. Type resume and press Enter to let it go on."))
}

// Elsewhere says where agents ask from now on: in that editor, or, if it is "", here.
func (w *Watch) Elsewhere(editor string) {
	if editor == "" {
		w.say(w.currentStyle().Wrap("", "", "No editor has this folder open any more: agents ask here."))
		return
	}
	w.say(w.currentStyle().Yellow(w.currentStyle().Wrap("  ", "  ", fault.Quote(editor)+" has this folder open: agents ask there, until it is closed.")))
}

// Heard says what a call came to, and of one that takes long that it runs.
func (w *Watch) Heard(a tools.Activity) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if timer := w.calls[a.CallID]; timer != nil {
		timer.Stop()
		delete(w.calls, a.CallID)
	}
	switch a.State {
	case tools.Running:
		w.calls[a.CallID] = time.AfterFunc(longCall, func() { w.say(w.line(w.currentStyle().Cyan("→"), a)) })
	case tools.Done:
		w.say(w.line(w.currentStyle().Green("✓"), a))
	case tools.Failed:
		w.say(w.line(w.currentStyle().Red("✗"), a))
	}
}

// longCall is from when on a call that runs is worth a line.
const longCall = time.Second

// line is a call on one line of the terminal.
func (w *Watch) line(sign string, a tools.Activity) string {
	text := fault.Quote(a.Agent.Name) + " " + a.Tool + ": " + strings.Join(strings.Fields(fault.Escape(a.Summary)), " ")
	style := w.currentStyle()
	if at, _ := fits(text, style.Width-len("  xx xx")); style.Width > 0 && at < len(text) {
		text = text[:at] + "…"
	}
	return "  " + sign + " " + style.Dim(text)
}

// Open says what is watched.
func (w *Watch) Open(folder string) {
	w.say(w.currentStyle().Bold("Pillion watches " + fault.Line(folder)))
	w.say(w.currentStyle().Wrap("", "", "Agents that you start in this folder ask here before they change a file or run a command. Ctrl+C ends this."))
}

// Serve takes what is typed between questions, until ctx or the input ends.
func (w *Watch) Serve(ctx context.Context) error {
	defer w.say("") // what follows stands on a line of its own, behind the ^C
	for {
		select {
		case w.turn <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		line, err := "", errWoken
		if w.queued.Load() == 0 {
			line, err = w.in.read(ctx, w.wake)
		}
		w.leaveTurn()
		switch {
		case errors.Is(err, errWoken):
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		default:
			w.obeys(strings.TrimSpace(line))
		}
	}
}

func (w *Watch) obey(word string) {
	switch strings.ToLower(word) {
	case "":
	case "resume":
		names := w.resume()
		if len(names) == 0 {
			w.say("No agent is paused.")
		}
		for _, name := range names {
			w.say(w.currentStyle().Green("  ✓ ") + fault.Quote(name) + " goes on: tell it so.")
		}
	default:
		w.say(fmt.Sprintf("No request is open. Type %s to let a paused agent go on; Ctrl+C ends this.", w.currentStyle().Bold("resume")))
	}
}
