package workspace

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"pillion/internal/fault"
)

// systemPlaces are never an agent's business, however wide the folder is that
// the user opened. They are refused only below a root that holds them: a root
// inside one of them was the user's own choice.
var systemPlaces = []string{"/proc", "/sys", "/dev", "/etc", "/boot"}

// privatePlaces are the same, below a home.
var privatePlaces = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker",
	".local/share/keyrings", ".password-store", "Library/Keychains",
}

// homesOfAll hold one home a user.
var homesOfAll = []string{"/home", "/Users"}

// closedPlaces is what stays closed below one workspace folder. It is empty for
// every folder but a very wide one.
type closedPlaces struct {
	places []string // with all below them
	homes  []string // with all below them, but the user's own home
	own    []string // the spellings of the user's own home
}

func closedPlacesBelow(dir string) closedPlaces {
	var c closedPlaces
	c.own = spellings(homeDir())
	for _, place := range systemPlaces {
		c.places = append(c.places, spellings(place)...)
	}
	for _, home := range c.own {
		for _, name := range privatePlaces {
			c.places = append(c.places, spellings(filepath.Join(home, filepath.FromSlash(name)))...)
		}
	}
	if !isOwn("/root", c.own) {
		c.places = append(c.places, "/root")
	}
	for _, homes := range homesOfAll {
		c.homes = append(c.homes, spellings(homes)...)
	}
	c.places = strictlyBelow(dir, c.places)
	c.homes = below(dir, c.homes)
	return c
}

// homeDir does without the environment where it has to: an editor started by a
// service manager may have no HOME.
func homeDir() string {
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return home
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}

// spellings are name itself and what it leads to through symbolic links.
func spellings(name string) []string {
	if name == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil || real == name {
		return []string{name}
	}
	return []string{name, real}
}

func below(dir string, places []string) []string {
	var out []string
	for _, place := range places {
		if holds(dir, place) {
			out = append(out, place)
		}
	}
	return out
}

func strictlyBelow(dir string, places []string) []string {
	var out []string
	for _, place := range below(dir, places) {
		if !holds(place, dir) {
			out = append(out, place)
		}
	}
	return out
}

// holds reports whether name is dir or lies below it, as a file system that may
// ignore letter case would have it.
func holds(dir, name string) bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		dir, name = strings.ToLower(dir), strings.ToLower(name)
	}
	_, ok := within(dir, name)
	return ok
}

func isOwn(abs string, own []string) bool {
	for _, home := range own {
		if holds(home, abs) || holds(abs, home) {
			return true
		}
	}
	return false
}

// none reports that nothing can be closed, which spares every other check.
func (c *closedPlaces) none() bool { return len(c.places) == 0 && len(c.homes) == 0 }

// refusal says why abs is closed to agents, or nothing.
func (c *closedPlaces) refusal(abs string) string {
	for _, place := range c.places {
		if holds(place, abs) {
			return "is a system or private folder, which is closed to agents"
		}
	}
	for _, homes := range c.homes {
		if holds(homes, abs) && !holds(abs, homes) && !isOwn(abs, c.own) {
			return "belongs to another user"
		}
	}
	return ""
}

// checkSystemPlace judges both the name and what it leads to.
func (p Path) checkSystemPlace() error {
	if p.root.closed.none() {
		return nil
	}
	why := p.root.closed.refusal(p.Abs())
	if target, err := p.Target(); err == nil && why == "" {
		why = target.root.closed.refusal(target.Abs())
	}
	if why == "" {
		return nil
	}
	return fault.New(fault.PermissionDenied, "%s %s", fault.Quote(p.String()), why)
}
