package gateway

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
)

// unmasking has what a gateway sends looked at once the WebSocket is open.
type unmasking struct{ http.RoundTripper }

func (u unmasking) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := u.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		return answer, err
	}
	if stream, ok := answer.Body.(io.ReadWriteCloser); ok {
		answer.Body = &unmasked{ReadWriteCloser: stream}
	}
	return answer, nil
}

// unmasked is a stream of frames that ends with the first masked one: RFC 6455 has a client close
// such a connection (5.1), which the library does not.
type unmasked struct {
	io.ReadWriteCloser
	head []byte // of a frame, as far as it has come
	left uint64 // bytes of the frame that follow
}

var errMasked = errors.New("the gateway masks its frames, which only clients do")

func (u *unmasked) Read(p []byte) (int, error) {
	n, err := u.ReadWriteCloser.Read(p)
	for at := 0; at < n; {
		if u.left > 0 {
			part := min(u.left, uint64(n-at)) //nolint:gosec // of what was read
			u.left -= part
			at += int(part) //nolint:gosec // likewise
			continue
		}
		u.head = append(u.head, p[at])
		at++
		if len(u.head) < 2 {
			continue
		}
		length := u.head[1]
		switch {
		case length&0x80 != 0:
			return 0, errMasked
		case length == 126 && len(u.head) == 4:
			u.left, u.head = uint64(binary.BigEndian.Uint16(u.head[2:])), nil
		case length == 127 && len(u.head) == 10:
			u.left, u.head = binary.BigEndian.Uint64(u.head[2:]), nil
		case length < 126:
			u.left, u.head = uint64(length), nil
		}
	}
	return n, err
}
