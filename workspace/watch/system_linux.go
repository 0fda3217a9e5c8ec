package watch

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// rounds: an inotify instance keeps one order for all that it watches.
const rounds = 1

type folderID struct{ dev, ino uint64 }

func identify(dir string) (identity, error) {
	var info unix.Stat_t
	err := unix.Lstat(dir, &info)
	return identity{dir, folderID{uint64(info.Dev), info.Ino}}, err //nolint:unconvert // of other types on other processors
}

// share is how many folders we may watch: a quarter of what the system gives the
// user, whose editor watches as well, and no more than what 100 MB of the kernel's
// memory hold.
func share() int { return min(systemLimit()/4, 100_000) }

func limitWords() string {
	return fmt.Sprintf("a system's limit of %d (fs.inotify.max_user_watches)", systemLimit())
}

func systemLimit() int {
	data, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 8192 // the default of old kernels
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 8192
	}
	return n
}
