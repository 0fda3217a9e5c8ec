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
	uid, err := peerUID(conn)
	if err != nil {
		return fmt.Errorf("cannot identify the connecting user: %w", err)
	}
	if int(uid) != os.Getuid() {
		return fmt.Errorf("it is from user %d", uid)
	}
	return nil
}

// control runs f on the connection's descriptor.
func control(conn *net.UnixConn, f func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = f(int(fd)) })
	return errors.Join(err, failed)
}
