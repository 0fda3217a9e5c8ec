// Package code is the tools that ask language servers about code. answer.go has the
// question and the failure of it that all share, place.go a place in a file and the lines
// that results show, edits.go the changes that a server proposes.
//
// Not here: the servers (lspbridge, behind tools.Languages), and what the door tells of the
// diagnostics that an edit caused (tools).
package code
