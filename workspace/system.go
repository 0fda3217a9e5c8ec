package workspace

import (
	"os"
	"path/filepath"

	"pillion/internal/fault"
)

// systemPlaces are never an agent's business, however wide the folder is that
// the human opened. They are refused only below a root that holds them: a root
// inside one of them was the human's own choice.
var systemPlaces = []string{"/proc", "/sys", "/dev", "/etc", "/boot"}

// privatePlaces are the same, below a home.
var privatePlaces = []string{".ssh", ".gnupg", ".aws", ".kube", ".docker", ".local/share/keyrings", ".password-store", "Library/Keychains"}

func (p Path) checkSystemPlace() error {
	abs := p.Abs()
	if target, err := p.Target(); err == nil {
		abs = target.Abs()
	}
	for _, place := range forbiddenPlaces() {
		_, rootInside := within(place, p.root.dir)
		if _, inside := within(place, abs); inside && !rootInside {
			return fault.New(fault.PermissionDenied, "%s is a system or private place, which is closed to agents", fault.Quote(p.String()))
		}
	}
	return p.checkOtherHome(abs)
}

func forbiddenPlaces() []string {
	places := systemPlaces
	if home, err := os.UserHomeDir(); err == nil {
		for _, name := range privatePlaces {
			places = append(places[:len(places):len(places)], filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	return places
}

// checkOtherHome refuses the homes of other users below a root like / or /home.
func (p Path) checkOtherHome(abs string) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	for _, homes := range []string{"/home", "/Users", "/root"} {
		_, rootInside := within(homes, p.root.dir)
		rel, inside := within(homes, abs)
		_, own := within(home, abs)
		_, above := within(abs, home)
		wide := !rootInside || p.root.dir == homes && homes != "/root"
		if inside && wide && !own && !above && (rel != "." || homes == "/root") {
			return fault.New(fault.PermissionDenied, "%s belongs to another user", fault.Quote(p.String()))
		}
	}
	return nil
}
