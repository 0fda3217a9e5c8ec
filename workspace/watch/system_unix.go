//go:build unix && !linux

package watch

import (
	"fmt"
	"os"
	"syscall"
)

// rounds: kqueue tells of what it has in no order. What it had when the first write was
// read is over when the second is.
const rounds = 2

type folderID struct{ dev, ino uint64 }

func identify(dir string) (identity, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return identity{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, fmt.Errorf("nothing is known of %s", dir)
	}
	return identity{dir, folderID{uint64(st.Dev), st.Ino}}, nil //nolint:unconvert // of other types on other systems
}

// share is small: kqueue holds every file of a folder open.
func share() int { return 1000 }

func limitWords() string { return fmt.Sprintf("the %d that are watched at most", share()) }
