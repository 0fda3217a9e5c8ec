//go:build linux || darwin

package relay

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// checkPeer lets this user's processes in and nobody else's, root included.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("cannot identify the connecting user: %w", err)
	}
	var uid uint32
	var failed error
	err = raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) })
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("cannot identify the connecting user: %w", err)
	}
	if int(uid) != os.Getuid() {
		return fmt.Errorf("it is from user %d", uid)
	}
	return nil
}
