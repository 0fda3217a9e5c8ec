package test

import (
	"os"
	"path/filepath"
	"testing"

	"pillion/internal/testrig/gateway"
)

// TestAChatInATerminal: a message, words, a request, a refusal, the context, and a
// connection that breaks.
func TestAChatInATerminal(t *testing.T) {
	t.Parallel()
	w, g := newWatched(t), gateway.New(t)
	chat := w.inTerminal("chat", "--gateway", g.URL, "--session", "one")
	c := g.Accept()
	chat.sees("Connected; session one.")
	chat.types("please mend a.txt")
	if f := c.Next(); f.Text("type") != "user_message" || f.Text("content") != "please mend a.txt" {
		t.Errorf("the message is %v", f)
	}
	for _, token := range []string{"I will ", "look", " at it.\nThen", " I mend it."} {
		c.Send(object{"type": "assistant_message", "token": token})
	}
	chat.sees("agent: I will look at it.")
	c.Send(object{"type": "assistant_message", "token": "", "is_final": true})
	chat.sees("Then I mend it.")
	c.Call("1", "read_file", object{"path": "a.txt"})
	c.Next()
	chat.sees("read_file")
	c.Call("2", "edit_file", object{"path": "a.txt", "old_string": "one", "new_string": "two"})
	chat.answers("asks: Edit a.txt", "a")
	if got := sums([]gateway.Frame{c.Next(), c.Next()}); got != `approve "" null, result` || w.read("a.txt") != "two\n" {
		t.Errorf("%s; a.txt is %q", got, w.read("a.txt"))
	}
	chat.types("/add a.txt")
	if f := c.Next(); f.Text("action") != "add_file" || f.Object("data").Text("path") != "a.txt" {
		t.Errorf("the context is %v", f)
	}
	chat.types("/context")
	chat.sees("Context: a.txt")
	chat.types("/nonsense")
	chat.sees("there is no /nonsense")
	c.Break()
	chat.sees("Not connected")
	g.Accept()
	chat.sees("Connected; session one.")
}

// TestAChatThatIsRefused: it ends, and says why.
func TestAChatThatIsRefused(t *testing.T) {
	t.Parallel()
	w, g := newWatched(t), gateway.New(t)
	g.Token.Store("another")
	chat := w.inTerminal("chat", "--gateway", g.URL)
	chat.sees("refused the token")
	if err := <-chat.ended; err == nil || err.Error() != "exit status 1" {
		t.Errorf("it ends with %v", err)
	}
	chat.ended <- nil
}

// TestAChatOverTLS: a certificate that the system does not know is refused, and one that the
// user made known is not.
func TestAChatOverTLS(t *testing.T) {
	t.Parallel()
	w, g := newWatched(t), gateway.NewTLS(t)
	chat := w.inTerminal("chat", "--gateway", g.URL)
	chat.sees("certificate")
	if g.Met() > 0 {
		t.Error("the token went to somebody unknown")
	}
	known := filepath.Join(w.home, "gateway.pem")
	must(t, os.WriteFile(known, g.Certificate, 0o600))
	w.env = append(w.env, "SSL_CERT_FILE="+known)
	chat = w.inTerminal("chat", "--gateway", g.URL)
	chat.sees("Connected")
	g.Accept()
}
