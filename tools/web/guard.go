package web

import (
	"net/netip"
	"strings"
	"syscall"

	"golang.org/x/net/idna"
)

// onlyPublic refuses a connection before a byte is sent: what the kernel is about to
// connect to has to be a public address.
func onlyPublic(host string) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !Public(to.Addr()) {
			return refused(host, to.Addr())
		}
		return nil
	}
}

// asciiHost is a host's name as it goes over the network, in which no letter looks like
// another.
func asciiHost(host string) (string, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.WithZone("").String(), nil
	}
	return idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
}
