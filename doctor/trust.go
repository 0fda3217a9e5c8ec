package doctor

import (
	"context"
	"fmt"

	"pillion/config"
	"pillion/workspace"
)

// projectSettings looks at the settings that a project brings along, and at what the
// user agreed to for the folder.
func projectSettings(_ context.Context, e exam) Finding {
	f := Finding{ID: "folder.settings", Title: "its settings", Status: OK}
	w, err := workspace.Open(workspace.Folder{Dir: e.Folder})
	if err != nil {
		f.Status, f.Detail = Info, "not looked at"
		return f
	}
	defer w.Close() //nolint:errcheck // it was only read
	book, err := config.OpenConsent()
	if err != nil {
		book = nil // the state folder's finding tells of it
	}
	own, _ := config.ReadUser()
	found := config.NewLayers(own, book).Look(w.Roots()).Folders[0]
	f.Data = map[string]any{"file": found.File, "trusted": found.Trusted, "loosens": len(found.Loosens), "remembered": len(found.Remembered)}
	switch {
	case len(found.Problems) > 0:
		f.Status, f.Detail, f.Hint = Warning, redact(found.Problems[0]), "docs/settings.md has every key"
		if more := len(found.Problems) - 1; more > 0 {
			f.Detail += fmt.Sprintf("; and %d more", more)
		}
	case found.Hash == "":
		f.Detail = "none of its own"
	case found.Untrusted():
		f.Detail, f.Hint = "they ask for more than you trust; that is ignored", "pillion trust shows it, and asks"
		f.Status = Info
	case found.Trusted:
		f.Detail = "trusted"
	default:
		f.Detail = "they only tighten"
	}
	if n := len(found.Remembered); n > 0 {
		f.Detail += fmt.Sprintf("; remembered rules: %d (pillion rules)", n)
	}
	return f
}
