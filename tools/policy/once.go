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
		out = append(out, onceQuestion{key: secretKey(name), reason: Reason{ReasonSecret, secretReason(name)}})
	}
	return slices.Concat(out, keyReads(r), nextWrites(r), reach(r))
}

// SecretKey is what stands for a secret file in Decision.OncePerSession.
func SecretKey(file string) string { return secretKey(fault.Quote(file)) }

func secretKey(quoted string) string { return "secret(" + quoted + ")" }

// keyReads are of files that nobody would take for secrets by their names. In mode plan they
// ask as well: whoever only reads may read the rest of the project.
func keyReads(r Request) []onceQuestion {
	var out []onceQuestion
	for _, fact := range r.Keys {
		if file := fact.real(); !fact.isSecret() {
			name := fault.Quote(file)
			out = append(out, onceQuestion{key: secretKey(name), reason: Reason{ReasonSecret, name + " seems to hold " + fact.Kind}, named: r.namesFile(file)})
		}
	}
	return inOrder(out)
}

// namesFile says whether a rule that allows calls of the tool is about this very file.
func (r Request) namesFile(file string) bool {
	return slices.ContainsFunc(r.given(), func(rule Rule) bool { return !rule.pattern && rule.Folder == "" && rule.Specifier == file })
}

func inOrder(questions []onceQuestion) []onceQuestion {
	slices.SortStableFunc(questions, func(a, b onceQuestion) int { return strings.Compare(a.key, b.key) })
	return slices.CompactFunc(questions, func(a, b onceQuestion) bool { return a.key == b.key })
}

// nextWrites judges each file by the names that it has, and keeps the yes for the one that
// is reached.
func nextWrites(r Request) []onceQuestion {
	var out []onceQuestion
	for _, fact := range r.Paths {
		clause := ""
		for _, name := range fact.names() {
			if clause == "" {
				clause = RunsNext(name)
			}
		}
		if !fact.Write || clause == "" || r.InDraft {
			continue
		}
		file := fact.real()
		out = append(out, onceQuestion{
			key: "runs(" + fault.Quote(file) + ")", reason: Reason{ReasonNext, fault.Quote(file) + " " + clause},
			named: r.namesFile(file),
		})
	}
	return inOrder(out)
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
