package worktree

import (
	"strings"

	"pillion/workspace/git/gitdir"
)

// branch tells what is checked out, and how far it is from the branch that it follows.
func (s *status) branch(result *StatusResult) error {
	text, there := s.Repo.Loose("HEAD")
	head, born := s.Repo.Follow("HEAD", text, there)
	if born {
		result.Commit = head.String()
	}
	target, symbolic := gitdir.SymbolicTarget(text)
	if result.Detached = !symbolic; result.Detached {
		return nil
	}
	result.Branch = strings.TrimPrefix(target, "refs/heads/")
	follows, ok := s.Repo.Tracked(result.Branch)
	if !ok {
		return nil
	}
	result.Upstream = s.Repo.Shortest(follows)
	upstream, exists := s.Repo.Reference(follows)
	if result.UpstreamGone = !exists; result.UpstreamGone || !born {
		return nil
	}
	var err error
	result.Ahead, result.Behind, err = s.Repo.Apart(s.Ctx, head, upstream)
	return err
}
