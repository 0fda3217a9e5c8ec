//go:build !linux

package doctor

import (
	"context"
	"runtime"
)

// system: what would hold commands is Linux's alone.
func system(context.Context, exam) []Finding {
	return []Finding{{
		ID: "system.sandbox", Title: "sandbox", Status: Info,
		Detail: "nothing is looked for on " + runtime.GOOS + "; bubblewrap, Landlock and inotify are Linux's",
	}}
}
