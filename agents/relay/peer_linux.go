package relay

import (
	"net"

	"golang.org/x/sys/unix"
)

func peerUID(conn *net.UnixConn) (uid uint32, err error) {
	err = control(conn, func(fd int) error {
		who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			uid = who.Uid
		}
		return err
	})
	return uid, err
}
