package terminal

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"pillion/internal/fault"
	"pillion/tools/approval"
)

// choice is one letter that answers.
type choice struct {
	letter, word string
	label        string
	// answer gives the answer, or an error that the person is told before they
	// are asked again. What stands after the letter is rest.
	answer func(ctx context.Context, rest string) (approval.Answer, error)
	rest   bool // text may stand after the letter
}

type choices []choice

// askAgain is why a line was no answer: a sentence for the person, who is asked again.
type askAgain string

func (t askAgain) Error() string { return string(t) }

// choices are what can be answered to a request, of which a part may be hidden.
func (a *Asker) choices(r approval.Request, hidden bool) choices {
	decided := func(d approval.Decision, id string) func(context.Context, string) (approval.Answer, error) {
		return func(context.Context, string) (approval.Answer, error) {
			return approval.Answer{Decision: d, DecisionID: id, Digest: r.Digest}, nil
		}
	}
	out := choices{{letter: "a", word: "approve", label: "approve", answer: decided(approval.Approve, approval.ApproveID)}}
	if !a.o.Own {
		out = append(out, remembering(r, decided)...)
	}
	if len(a.editor) > 0 && canEdit(r.Preview) {
		out = append(out, choice{
			letter: "e", word: "edit", label: "edit it first, in " + fault.Quote(filepath.Base(a.editor[0])),
			answer: func(ctx context.Context, _ string) (approval.Answer, error) { return a.editProposal(ctx, r) },
		})
	}
	if hidden {
		out = append(out, choice{letter: "v", word: "view", label: "view all of it", answer: func(context.Context, string) (approval.Answer, error) {
			return approval.Answer{}, a.view(r)
		}})
	}
	stop := "stop the agent: reject this, and pause it"
	if a.o.Own {
		stop = "cancel"
	}
	return append(out,
		choice{letter: "r", word: "reject", label: "reject; say why after it, if you like", answer: a.reject, rest: true},
		choice{letter: "c", word: "cancel", label: stop, answer: decided(approval.Cancel, "")})
}

// remembering are the choices that keep a rule: s, s2, … for the session, w, w2, …
// for the workspace.
func remembering(r approval.Request, decided func(approval.Decision, string) func(context.Context, string) (approval.Answer, error)) choices {
	var out choices
	for _, kind := range []struct {
		scope                 approval.Scope
		letter, word, lasting string
	}{
		{approval.Session, "s", "session", "for this session"},
		{approval.Workspace, "w", "workspace", "in this folder from now on"},
	} {
		n, found := "", 0
		for _, c := range r.Decisions {
			if c.Scope != kind.scope {
				continue
			}
			if found++; found > 1 {
				n = strconv.Itoa(found)
			}
			out = append(out, choice{
				letter: kind.letter + n, word: kind.word + n, label: lasting(c, kind.lasting),
				answer: decided(approval.Approve, c.ID),
			})
		}
	}
	return out
}

// lasting is what a choice keeps, and for how long. A rule without a specifier is a name that
// says too little by itself.
func lasting(c approval.Choice, howLong string) string {
	rule := fault.Escape(c.Rule)
	if strings.Contains(rule, "(") || c.Title == "" {
		return "approve, and " + howLong + " allow " + rule
	}
	return strings.ToLower(c.Title[:1]) + fault.Escape(c.Title[1:]) + ": " + rule
}

func (l choices) letters() string {
	var out []string
	for _, c := range l {
		out = append(out, c.letter)
	}
	return strings.Join(out, " ")
}

// answer finds the choice that a line makes. Nothing but a letter or its word,
// alone on the line, is a yes.
func (l choices) answer(ctx context.Context, line string) (approval.Answer, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	word = strings.ToLower(word)
	for _, c := range l {
		if (word == c.letter || word == c.word) && (rest == "" || c.rest) {
			return c.answer(ctx, strings.TrimSpace(rest))
		}
	}
	return approval.Answer{}, askAgain("Please type one of the letters and press Enter: " + l.letters())
}

func (a *Asker) reject(ctx context.Context, reason string) (approval.Answer, error) {
	if reason == "" {
		// An end of the input here is still a no.
		question := "Why? The agent reads it (Enter for no reason): "
		if a.o.Own {
			question = "Why? (Enter for no reason): "
		}
		reason, _ = a.read(ctx, question, nil)
	}
	return approval.Answer{Decision: approval.Reject, Feedback: strings.TrimSpace(reason)}, ctx.Err()
}
