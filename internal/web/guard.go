package web

import (
	"net/netip"
	"strings"
	"syscall"

	"golang.org/x/net/idna"

	"pillion/internal/fault"
)

// control looks at a connection before a byte is sent.
type control = func(network, address string, _ syscall.RawConn) error

// onlyPublic refuses one: what the kernel is about to connect to has to be a public
// address.
func onlyPublic(host string) control {
	return only(Public, func(to netip.Addr) error { return refused(host, to) })
}

// onlyHere refuses one that leaves this machine.
func onlyHere(host string) control {
	return only(func(to netip.Addr) bool { return to.Unmap().IsLoopback() }, func(netip.Addr) error {
		return fault.New(fault.PermissionDenied, "the key would go to %s in the clear; nothing was sent", fault.Quote(host)).
			WithHint("ask the user to set web.search.url to an address that begins with https://")
	})
}

func only(fits func(netip.Addr) bool, otherwise func(netip.Addr) error) control {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && !fits(to.Addr()) {
			err = otherwise(to.Addr())
		}
		return err
	}
}

// asciiHost is a host's name as it goes over the network, in which no letter looks like
// another. Each host has one: a point at its end, or an address in the form of a longer one,
// is another spelling.
func asciiHost(host string) (string, error) {
	if _, err := netip.ParseAddr(host); err != nil {
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return "", err
		}
		host = strings.TrimRight(host, ".")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().WithZone("").String(), nil
	}
	return host, nil
}
