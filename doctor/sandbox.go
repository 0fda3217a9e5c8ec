package doctor

import (
	"context"
	"fmt"
	"strings"

	"pillion/config"
	"pillion/tools/process"
)

// sandbox is what really holds the commands of agents here: found out by starting
// one, in the way in which theirs are started.
func sandbox(ctx context.Context, e exam) Finding {
	own, _ := config.ReadUser() // settings tells of its problems
	if e.Walls == nil {
		return Finding{ID: "system.sandbox", Title: "sandbox", Status: Info, Detail: "not tried"}
	}
	f := sandboxFinding(e.Walls(), own)
	if e.Escapes != nil && (f.Status == OK || f.Status == Missing && f.Data["level"] != string(process.None)) {
		escapes, err := e.Escapes(ctx)
		tellEscapes(&f, escapes, err)
	}
	return f
}

// tellEscapes adds which ways out are closed. One that the level is to close and does not
// is an error.
func tellEscapes(f *Finding, escapes []process.Escape, err error) {
	if err != nil {
		f.Status, f.Hint = Error, "please report this"
		f.Detail += "; the ways out of it could not be tried: " + err.Error()
		return
	}
	var open, broken []string
	data := map[string]bool{}
	for _, e := range escapes {
		data[e.Way] = e.Closed
		switch {
		case e.Closed:
		case e.Due:
			broken = append(broken, e.Way)
		default:
			open = append(open, e.Way)
		}
	}
	f.Data["closed"] = data
	f.Detail += fmt.Sprintf("; %d of %d ways out are closed", len(escapes)-len(open)-len(broken), len(escapes))
	if len(open) > 0 {
		f.Detail += ". A command can " + strings.Join(open, "; ")
	}
	if len(broken) > 0 {
		f.Status, f.Hint = Error, "please report this, with the output of pillion doctor --json"
		f.Detail += ". A command can, although it should not, " + strings.Join(broken, "; ")
	}
}

func sandboxFinding(w process.Walls, own config.Settings) Finding {
	f := Finding{ID: "system.sandbox", Title: "sandbox", Data: map[string]any{
		"level": string(w.Level), "offline": w.Offline, "setting": own.Sandbox,
		"bubblewrap": wallData(w.Bubblewrap), "landlock": wallData(w.Landlock), "layers": wallData(w.Layers), "landlock_abi": w.ABI,
	}}
	switch {
	case own.Sandbox == "off":
		f.Status, f.Detail = Info, "switched off in your settings: commands run with all your rights"
		return f
	case w.Level == process.Bubblewrap:
		f.Status, f.Detail = OK, "commands run under bubblewrap (tested)"
		if !w.Layers.Works {
			f.Detail += "; in mode auto they ask, since no layer can be mounted over the workspace: " + w.Layers.Why
		}
	case w.Level == process.Landlock:
		f.Status, f.Detail = Missing, "commands run under Landlock alone (tested). It keeps their writes in the workspace; "+
			"it does not protect .git and other protected files there, nor hide sockets and your processes"
		f.Hint = "bubblewrap protects more: " + w.Bubblewrap.Why + ". Debian, Fedora, Arch: bubblewrap"
	case own.Sandbox == "require":
		f.Status, f.Detail = Error, "your settings require a sandbox and none works, so no command runs. "+whyNone(w)
		f.Hint = "Debian, Fedora, Arch: bubblewrap; or set sandbox to prefer"
	default:
		f.Status, f.Detail = Missing, "none: commands run with all your rights. "+whyNone(w)
		f.Hint = "on Linux: Debian, Fedora, Arch: bubblewrap"
	}
	return f
}

func whyNone(w process.Walls) string {
	return "bubblewrap: " + w.Bubblewrap.Why + "; Landlock: " + w.Landlock.Why
}

func wallData(w process.Wall) map[string]any {
	out := map[string]any{"works": w.Works}
	if w.Path != "" {
		out["path"] = w.Path
	}
	if w.Why != "" {
		out["why"] = w.Why
	}
	return out
}
