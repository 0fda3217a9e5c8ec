package rpc

import (
	"context"
	"errors"
	"os"

	"go.lsp.dev/uri"

	"pillion/internal/fault"
	"pillion/internal/wire"
)

// A page is a question as a document. It is for an editor that has no message boxes
// with buttons, but shows what waits and runs commands (Helix 25.01): the question is
// announced, shown when the user asks for it, and answered by a command.

func (d *dialogs) usesPages() bool { return d.client.Commands && d.client.Progress }

const errNoBoxes = unavailable("the editor has no message boxes with buttons (window/showMessageRequest)")

// withoutBoxes is denied for a message box.
func withoutBoxes(err error) error {
	var broken *wire.Error
	if errors.As(err, &broken) && broken.Code == wire.CodeMethodNotFound {
		return errNoBoxes
	}
	return denied(err)
}

// announce tells of a question. It takes back that the question was shown: its box never opened.
func (d *dialogs) announce(q *question) {
	d.boxless.Store(true)
	d.questions.markShown(q, "")
	r := q.request // what is read of it does not change
	d.server.show(messageWarning, "%s asks: %s (pillion.show, then pillion.approve or pillion.reject)",
		clip(fault.Quote(r.Agent.Name), boxLine), clip(fault.Escape(r.Title), boxLine))
}

// showPage opens a question in the editor. From then on it can be approved.
func (d *dialogs) showPage(ctx context.Context, q *question) error {
	file, digest, err := d.questions.writePage(q)
	if err != nil {
		return wire.Errorf(wire.CodeRequestFailed, "the request cannot be shown: %v", err)
	}
	var answer struct {
		Success bool `json:"success"`
	}
	err = d.server.conn.Call(ctx, "window/showDocument", showDocument{string(uri.File(file)), true}, &answer)
	if err == nil && !answer.Success {
		err = errors.New("the editor did not open it")
	}
	if err != nil {
		return wire.Errorf(wire.CodeRequestFailed, "the request is in %s but cannot be shown: %v", fault.Quote(file), err)
	}
	d.questions.markShown(q, digest)
	return nil
}

type showDocument struct {
	URI       string `json:"uri"`
	TakeFocus bool   `json:"takeFocus"`
}

// writePage writes a question as it stands into a file that goes when it is answered,
// and gives the digest of what it shows.
func (q *questions) writePage(one *question) (file, digest string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f, err := os.CreateTemp("", "pillion-*.diff")
	if err != nil {
		return "", "", err
	}
	if one.page != "" {
		os.Remove(one.page) //nolint:errcheck // it is a temporary file
	}
	one.page = f.Name()
	text, whole := boxText(one.request, pageLimit)
	if digest = one.request.Digest; !whole {
		digest = "" // what is not shown cannot be approved
	}
	_, err = f.WriteString(text + pageEnd)
	return one.page, digest, errors.Join(err, f.Close())
}

const (
	pageLimit = 1 << 20 // bytes of a preview
	pageEnd   = "\n\nAnswer with pillion.approve, pillion.approveSession, pillion.reject or pillion.cancel.\n"
)
