// Package git is the tools that read a repository and change it. git_diff, git_log,
// git_show and git_status only read. git_branch, git_commit and git_push plan what a
// dialog shows, and run the user's own git for it, held as git_write.go says.
//
// Not here: what a repository has and what a write would do to it (workspace/git), and the
// sandbox (tools/process).
package git
