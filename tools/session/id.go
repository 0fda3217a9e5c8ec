package session

import (
	"crypto/rand"
	"strings"
	"unicode"
	"unicode/utf8"

	"pillion/internal/fault"
)

const maxIDLength = 128 // characters

// NewID makes an id that nobody can guess.
func NewID() string { return "s-" + strings.ToLower(rand.Text()) }

// CheckID accepts an id that somebody else chose: visible on one line, so that it
// can stand in a log or a dialog as it is.
func CheckID(id string) error {
	switch {
	case id == "":
		return fault.Invalid("the session id is empty: leave it out or give one")
	case utf8.RuneCountInString(id) > maxIDLength:
		return fault.Invalid("the session id is longer than %d characters", maxIDLength)
	case !utf8.ValidString(id), strings.ContainsFunc(id, unprintable):
		return fault.New(fault.InvalidArguments,
			"the session id %s has characters that do not print: use letters, digits and punctuation", fault.Quote(id))
	}
	return nil
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || fault.Escape(string(r)) != string(r) }
