// Package command is the tools that run commands, and those for processes that go on
// after their call. command.go makes the plan of a command line; confine.go and network.go
// say how it is held and what it may reach.
//
// Not here: whether it may run (tools/policy), processes and sandboxes (tools/process).
package command
