package lspbridge

import "time"

// sentText is one text of a document, as the server was sent it.
type sentText struct {
	since, sent int32       // the versions of the document that have this text
	changed     time.Time   // when the server was sent it first
	told        time.Time   // and when last
	came        []published // reports since then, in their order
	old         int         // how many of the reports to come may be of an earlier text
	resent      int         // how often it was sent only to have it reported again
}

// evidence is what is known of one text of a document. freshness says what it proves.
type evidence struct {
	sentText
	// pull is the answer to a question about this text, nil if none was asked or answered.
	pull *published
	// versions: the server has named the version of a document, ever.
	versions bool
	// single: the server reports once for each text, and then all it has found.
	single bool
	// debounce is how long the server is known to wait before it looks at a text.
	debounce time.Duration
	// busy: it says that it is at work on something; notified, when it was last told
	// anything.
	busy     bool
	notified time.Time
}

// verdict is what evidence comes to.
type verdict struct {
	proof *published // what is wrong in the text, for certain; nil: not known
	// again is when to look again if nothing happens until then. resend: the server is to
	// be sent the same text once more, for what it has said cannot be told apart.
	again  time.Time
	resend bool
}

const (
	quietTime  = 250 * time.Millisecond // without another report from a server that may send several
	silentTime = 2 * time.Second        // without any
	mostResent = 4
)

// freshness is the one place that says whether a server's list is about a text. It is,
//
//   - if the server was asked for it and answered (pull): messages are read in order;
//   - if the report names a version that had the text;
//   - from a server that never names versions, if the report cannot be of an earlier
//     text. Each thing that the server is told causes at most one report. So of the
//     reports that come after a text at most as many are of an earlier one as were still
//     to come then (old), and one more that says the same proves it. After a pause that is
//     the first report; after quick edits too, if the server is known to debounce
//     (reports.passed). Otherwise it is told the text again.
//
// From a server that may send several reports for one text (syntax first), the last
// counts, once it is quiet and does not say that it is at work. That is as much as the
// protocol shows.
func freshness(e evidence, now time.Time) verdict {
	if e.pull != nil {
		return verdict{proof: e.pull}
	}
	proof, doubtful := e.proven()
	switch {
	case proof == nil:
		return e.unproven(doubtful, now)
	case e.single:
		return verdict{proof: proof}
	case e.busy:
		return verdict{}
	}
	quiet := proof.at
	if e.notified.After(quiet) {
		quiet = e.notified
	}
	if quiet = quiet.Add(quietTime); now.Before(quiet) {
		return verdict{again: quiet}
	}
	return verdict{proof: proof}
}

// unproven has the server told the text again when what it said leaves doubt, and once
// when it says nothing: there are servers that lose a text.
func (e evidence) unproven(doubtful bool, now time.Time) verdict {
	most, silent := 1, e.told.Add(e.debounce+silentTime)
	if doubtful {
		most = mostResent
	}
	switch {
	case e.resent >= most:
		return verdict{}
	case doubtful && e.came[len(e.came)-1].at.After(e.told), !now.Before(silent):
		return verdict{resend: true}
	}
	return verdict{again: silent}
}

// proven is the last report that is about the text for certain. If there is none, but
// one that may be, it is doubtful.
func (e evidence) proven() (proof *published, doubtful bool) {
	if e.versions {
		for i := len(e.came) - 1; i >= 0; i-- {
			if v := e.came[i].version; v != nil && *v >= e.since && *v <= e.sent {
				return &e.came[i], false
			}
		}
		return nil, false
	}
	if len(e.came) == 0 {
		return nil, false
	}
	last, same := &e.came[len(e.came)-1], 0
	for _, one := range e.came {
		if one.items == last.items {
			same++
		}
	}
	old := e.old
	if e.debounce == 0 {
		old = min(old, 1) // nobody looks at more than two texts at once
	}
	if same > old {
		return last, false
	}
	return nil, true
}
