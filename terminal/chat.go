package terminal

import (
	"strings"
	"sync"

	"pillion/conversation"
	"pillion/internal/fault"
)

// Chat is a conversation in a terminal: it asks as an Asker does, shows what the agent says
// and does, and what is typed between questions is said to the agent.
type Chat struct {
	*Watch
	talk    func() (*conversation.Conversation, error)
	resolve func(path string) (string, error)

	mu      sync.Mutex        // guards all below
	said    map[string]string // by the entry: the agent's words that are no whole line yet
	speaker string            // the entry that was shown last
}

// NewChat makes one of the conversation that talk gives; resolve names the workspace's files.
func NewChat(o Options, talk func() (*conversation.Conversation, error), resolve func(path string) (string, error)) *Chat {
	c := &Chat{Watch: NewWatch(o, nil), talk: talk, resolve: resolve, said: map[string]string{}}
	c.obeys = c.take
	return c
}

// Open says what it is.
func (c *Chat) Open(folder, url string) {
	c.say(c.currentStyle().Bold("Connecting to " + fault.Line(url)))
	c.say(c.currentStyle().Wrap("", "  ", "The agent works in "+fault.Line(folder)+". Type a message and press Enter. /add FILE gives it a file as context, /remove FILE and /clear take files back, /context lists them; Ctrl+C ends this."))
}

// take is for a line that answers no question.
func (c *Chat) take(line string) {
	if line == "" {
		return
	}
	talk, err := c.talk()
	word, rest, _ := strings.Cut(line, " ")
	file := &conversation.ContextData{Path: strings.TrimSpace(rest)}
	switch {
	case err != nil:
	case word == "/add":
		if file.Path, err = c.resolve(file.Path); err != nil {
			break
		}
		err = talk.Update(conversation.ContextUpdate{Action: conversation.AddFile, Data: file}, conversation.FromUser)
	case word == "/remove":
		err = talk.Update(conversation.ContextUpdate{Action: conversation.RemoveFile, Data: file}, conversation.FromUser)
	case word == "/clear":
		err = talk.Update(conversation.ContextUpdate{Action: conversation.Clear}, conversation.FromUser)
	case word == "/context":
		c.showContext(talk.Context())
	case strings.HasPrefix(word, "/"):
		err = fault.Invalid("there is no %s; there are /add FILE, /remove FILE, /clear and /context", fault.Quote(word))
	default:
		_, err = talk.User(line)
	}
	if err != nil {
		c.Say(err.Error())
	}
}

func (c *Chat) showContext(files []conversation.ContextFile) {
	if len(files) == 0 {
		c.say("The agent has no files as context.")
		return
	}
	var names []string
	for _, f := range files {
		names = append(names, fault.Quote(f.Path))
	}
	c.say("Context: " + strings.Join(names, ", "))
}

// Follower shows the conversation.
func (c *Chat) Follower() conversation.Follower { return heard{c} }

type heard struct{ *Chat }

// Appended shows the lines of the agent's words as they become whole.
func (c heard) Appended(a conversation.Appended) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.said[a.EntryID] + a.Text
	at := strings.LastIndexByte(text, '\n')
	if at >= 0 {
		c.speak(a.EntryID, text[:at])
	}
	c.said[a.EntryID] = text[at+1:]
}

// speak needs the lock.
func (c *Chat) speak(entryID, text string) {
	first := "       "
	if c.speaker != entryID {
		c.speaker, first = entryID, c.currentStyle().Cyan("agent:")+" "
	}
	for line := range strings.SplitSeq(text, "\n") {
		c.say(c.currentStyle().Wrap(first, "       ", fault.Escape(line)))
		first = "       "
	}
}

// Changed shows what is not shown as words, as a call or as a question.
func (c heard) Changed(now conversation.Changed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range now.Entries {
		switch {
		case e.Kind == conversation.FromAgent && e.Done:
			if rest := c.said[e.ID]; rest != "" {
				c.speak(e.ID, rest)
			}
			delete(c.said, e.ID)
		case e.Kind == conversation.OfError:
			c.say(c.currentStyle().Wrap("  "+c.currentStyle().Red("✗")+" ", "    ", fault.Escape(e.Text)))
		case e.Kind == conversation.OfNotice:
			c.say(c.currentStyle().Wrap("  "+c.currentStyle().Yellow("!")+" ", "    ", fault.Escape(e.Text)))
		}
	}
	if now.Context != nil && now.Title == "" { // of a new conversation it is empty
		c.showContext(now.Context)
	}
}
