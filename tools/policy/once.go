package policy

import (
	"slices"
	"strings"

	"pillion/internal/fault"
)

// onceQuestion is one that a yes answers for the session, about one file or host.
type onceQuestion struct {
	key    string
	reason Reason
	named  bool // a rule that allows names this very file
}

// onceQuestions are about secrets that the call reads, about files that it writes and the
// user's own next command runs, and about hosts that a command may reach, in stable order.
func onceQuestions(r Request) []onceQuestion {
	var out []onceQuestion
	for _, name := range secretReads(r) {
		out = append(out, onceQuestion{key: "secret:" + name, reason: Reason{ReasonSecret, secretReason(name)}})
	}
	return slices.Concat(out, nextWrites(r), reach(r))
}

// nextWrites judges each file by the names that it has, and keeps the yes for the one that
// is reached.
func nextWrites(r Request) []onceQuestion {
	given := r.given()
	var out []onceQuestion
	for _, fact := range r.Paths {
		clause := ""
		for _, name := range fact.names() {
			if clause == "" {
				clause = RunsNext(name)
			}
		}
		if !fact.Write || clause == "" {
			continue
		}
		file := fact.real()
		out = append(out, onceQuestion{
			key: "runs:" + fault.Quote(file), reason: Reason{ReasonNext, fault.Quote(file) + " " + clause},
			named: slices.ContainsFunc(given, func(rule Rule) bool { return !rule.pattern && rule.Folder == "" && rule.Specifier == file }),
		})
	}
	slices.SortStableFunc(out, func(a, b onceQuestion) int { return strings.Compare(a.key, b.key) })
	return slices.CompactFunc(out, func(a, b onceQuestion) bool { return a.key == b.key })
}

// onceReasons are why it asks. A folder that is moved may hold very many files of one kind.
func onceReasons(questions []onceQuestion) []Reason {
	var out []Reason
	for _, code := range []string{ReasonSecret, ReasonNext, ReasonNetwork} {
		var texts []string
		for _, q := range questions {
			if q.reason.Code == code {
				texts = append(texts, q.reason.Text)
			}
		}
		if code == ReasonNext {
			texts = bounded(texts)
		}
		out = append(out, reasons(code, texts...)...)
	}
	return out
}
