package tools

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/workspace"
)

// listEncoder makes the answer of list_files as it goes: what a program reads, and what
// a model reads, the latter as it is and as it stands in JSON. Each name is escaped once.
type listEncoder struct {
	files []byte          // the result, up to the newest entry
	text  strings.Builder // a line an entry
	json  []byte          // text in JSON, without the quote at its end

	prefix string // of the names in the folder
	inJSON []byte // prefix in JSON, with the quote before it alone
	plain  bool   // people can be shown prefix as it is
	times  timestamps
}

// listFilesFields is what the encoder writes.
type listFilesFields struct {
	Files []struct {
		Name     string `json:"name"`
		Path     string `json:"path"`
		Type     string `json:"type"`
		Size     int64  `json:"size"`
		Modified string `json:"modified"`
	} `json:"files"`
	Count     int  `json:"count"`
	Truncated bool `json:"truncated"`
}

func newListEncoder() listEncoder {
	return listEncoder{files: []byte(`{"ok":true,"success":true,"files":[`), json: []byte{'"'}}
}

// grow makes room for so many entries, as they mostly are.
func (l *listEncoder) grow(entries int) {
	l.files = slices.Grow(l.files, entries*150)
	l.json = slices.Grow(l.json, entries*50)
	l.text.Grow(entries * 50)
}

func (l *listEncoder) size() int { return len(l.files) + l.text.Len() }

// enter begins a folder, whose names all begin with prefix.
func (l *listEncoder) enter(prefix string) {
	l.prefix = prefix
	l.inJSON = wire.AppendString(l.inJSON[:0], prefix)
	l.inJSON = l.inJSON[:len(l.inJSON)-1]
	l.plain = fault.Quote(prefix+"x") == prefix+"x"
}

func (l *listEncoder) add(e *workspace.Listed) {
	if l.files[len(l.files)-1] == '}' {
		l.files = append(l.files, ',')
	}
	l.files = append(l.files, `{"name":`...)
	start := len(l.files)
	l.files = wire.AppendString(l.files, e.Name)
	end := len(l.files)
	l.files = append(append(l.files, `,"path":`...), l.inJSON...)
	l.files = append(l.files, l.files[start+1:end]...)
	kind, mark := "file", ""
	switch {
	case e.Type.IsDir():
		kind, mark = "directory", "/"
	case e.Type&fs.ModeSymlink != 0:
		kind, mark = "symlink", "@"
	}
	l.line(e.Name, l.files[start+1:end-1], mark)
	l.files = append(append(append(l.files, `,"type":"`...), kind...), `","size":`...)
	l.files = append(strconv.AppendInt(l.files, e.Size, 10), `,"modified":"`...)
	if t := e.Modified(); !t.IsZero() {
		l.files = l.times.append(l.files, t)
	}
	l.files = append(l.files, `"}`...)
}

// line is the entry in the text; escaped is its name in JSON.
func (l *listEncoder) line(name string, escaped []byte, mark string) {
	if l.plain && fault.Quote(name) == name {
		l.text.WriteString(l.prefix)
		l.text.WriteString(name)
		l.json = append(append(l.json, l.inJSON[1:]...), escaped...)
	} else {
		quoted := fault.Quote(l.prefix + name)
		l.text.WriteString(quoted)
		start := len(l.json)
		l.json = wire.AppendString(l.json, quoted)
		l.json = slices.Delete(l.json[:len(l.json)-1], start, start+1) // its quotes
	}
	l.text.WriteString(mark)
	l.text.WriteByte('\n')
	l.json = append(append(l.json, mark...), `\n`...)
}

// timestamps writes times as RFC 3339 has them, in UTC. Most files of a tree were
// written on few days, many in the same second.
type timestamps struct {
	day, second int64 // since 1970, of text
	text        []byte
}

const secondsADay = 24 * 60 * 60

func (s *timestamps) append(dst []byte, t time.Time) []byte {
	second := t.Unix()
	day, within := second/secondsADay, second%secondsADay
	if within < 0 {
		day, within = day-1, within+secondsADay
	}
	switch {
	case len(s.text) > 0 && second == s.second:
	case len(s.text) > 0 && day == s.day:
		at := len(s.text) - len("15:04:05Z")
		for i, n := range [...]int64{within / 3600, within / 60 % 60, within % 60} {
			s.text[at+3*i], s.text[at+3*i+1] = byte('0'+n/10), byte('0'+n%10)
		}
	default:
		s.text = t.UTC().AppendFormat(s.text[:0], time.RFC3339)
	}
	s.day, s.second = day, second
	return append(dst, s.text...)
}
