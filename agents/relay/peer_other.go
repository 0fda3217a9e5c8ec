//go:build !linux && !darwin

package relay

import "net"

// checkPeer knows nothing of the peer here: the folder and the token must do.
func checkPeer(*net.UnixConn) error { return nil }
