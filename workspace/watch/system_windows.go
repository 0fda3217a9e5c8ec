package watch

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// rounds: what was told of one folder says nothing of another. What was there at the first
// write is over when the second is told of.
const rounds = 2

type folderID struct{ volume, high, low uint32 }

func identify(dir string) (identity, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return identity{}, err
	}
	const all = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, 0, all, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return identity{}, err
	}
	defer windows.CloseHandle(h) //nolint:errcheck // it was only read
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return identity{}, err
	}
	return identity{dir, folderID{info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow}}, nil
}

func share() int { return 10_000 }

func limitWords() string { return fmt.Sprintf("the %d that are watched at most", share()) }
