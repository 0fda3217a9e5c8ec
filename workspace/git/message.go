package git

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"pillion/workspace/git/odb"
	"pillion/workspace/git/worktree"
)

// Person is who made something.
type Person struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// LogCommit is a commit for people, in UTF-8.
type LogCommit struct {
	Hash    string   `json:"hash"`
	Short   string   `json:"short"` // as git abbreviates it
	Author  Person   `json:"author"`
	Date    string   `json:"date"` // when it was written, in RFC 3339 with the author's zone
	Subject string   `json:"subject"`
	Body    string   `json:"body"` // without the line ends around it
	Parents []string `json:"parents"`
}

// describe reads what people want to know out of a commit's bytes.
func describe(data []byte) LogCommit {
	if end := bytes.IndexByte(data, 0); end >= 0 {
		data = data[:end] // git's messages end there too
	}
	data = decoded(data)
	head, message, _ := bytes.Cut(data, []byte("\n\n"))
	message = readable(message)
	var c LogCommit
	for line := range bytes.Lines(head) {
		if bytes.HasPrefix(line, []byte("author ")) {
			c.Author, c.Date = whoAndWhen(bytes.TrimSuffix(line[len("author "):], []byte("\n")))
			break
		}
	}
	c.Subject, c.Body = splitMessage(string(message))
	return c
}

// What people and agents are told of a message and of a name. Nobody writes longer ones,
// but for who means to fill somebody's memory.
const (
	longestMessage = 64 << 10
	longestName    = 1000
)

// readable is a message as far as anybody reads it.
func readable(message []byte) []byte {
	if len(message) <= longestMessage {
		return message
	}
	return fmt.Appendf(bytes.ToValidUTF8(message[:longestMessage:longestMessage], nil), "\n[%d bytes of the message are left out]\n", len(message)-longestMessage)
}

// decoded is a commit in UTF-8: as its encoding header says, and, where that
// does not help, with U+FFFD for what is not UTF-8.
func decoded(data []byte) []byte {
	name := headerOf(data, "encoding ")
	if e := worktree.EncodingOf(name); e != nil {
		if text, err := e.NewDecoder().Bytes(data); err == nil {
			data = text
		}
	}
	return bytes.ToValidUTF8(data, []byte("\ufffd"))
}

// headerOf is the value of a header line.
func headerOf(data []byte, key string) string {
	for line := range bytes.Lines(data) {
		if len(line) == 1 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte(key)); ok {
			return strings.TrimRight(string(value), "\n")
		}
	}
	return ""
}

// whoAndWhen reads "Name <email> seconds zone".
func whoAndWhen(line []byte) (Person, string) {
	seconds, zone := odb.IdentTime(line)
	minutes := zone/100*60 + zone%100
	at := time.Unix(seconds, 0).In(time.FixedZone("", minutes*60))
	who, rest, _ := bytes.Cut(line, []byte("<"))
	email, _, _ := bytes.Cut(rest, []byte(">"))
	name := func(text []byte) string {
		return strings.TrimSpace(strings.ToValidUTF8(string(text[:min(len(text), longestName)]), ""))
	}
	return Person{name(who), name(email)}, at.Format("2006-01-02T15:04:05-07:00")
}

// splitMessage parts a message as git does: the subject is the first paragraph
// in one line, the body what follows.
func splitMessage(message string) (subject, body string) {
	message = skipBlank(message)
	var lines []string
	for message != "" {
		line, rest, _ := strings.Cut(message, "\n")
		message = rest
		if line = trimRight(line); line == "" {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " "), strings.TrimRight(skipBlank(message), "\n")
}

// skipBlank leaves out the lines at the beginning that have nothing but blanks.
func skipBlank(text string) string {
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		if trimRight(line) != "" {
			break
		}
		text = rest
	}
	return text
}

func trimRight(line string) string { return strings.TrimRight(line, " \t\r\n") }
