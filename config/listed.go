package config

import "time"

// ListedRule is a rule that holds, as lists for people have it.
type ListedRule struct {
	Effect string     `json:"effect"` // deny, ask or allow
	Rule   string     `json:"rule"`
	From   string     `json:"from"`             // user, project or remembered
	Folder string     `json:"folder,omitempty"` // the only one that it is for
	File   string     `json:"file,omitempty"`   // of settings; the user's may be in their editor's instead
	Number int        `json:"number,omitempty"` // among those remembered for the folder
	Since  *time.Time `json:"since,omitempty"`
	Why    string     `json:"why,omitempty"`
}

// List are the rules that hold, in the order in which they apply.
func (v *View) List() []ListedRule {
	out := []ListedRule{}
	own, _ := UserFile() //nolint:errcheck // without a home there is none
	for _, effect := range []struct {
		name string
		of   func(Permissions) []Rule
	}{
		{"deny", func(p Permissions) []Rule { return p.Deny }},
		{"ask", func(p Permissions) []Rule { return p.Ask }},
		{"allow", func(p Permissions) []Rule { return p.Allow }},
	} {
		for _, r := range effect.of(v.Own.Permissions) {
			out = append(out, ListedRule{Effect: effect.name, Rule: r.Rule, From: "user", File: own, Why: r.Why})
		}
		for _, f := range v.Folders {
			for _, r := range effect.of(f.Project) {
				out = append(out, ListedRule{Effect: effect.name, Rule: r.Rule, From: "project", Folder: f.Root, File: f.File, Why: r.Why})
			}
		}
	}
	for _, f := range v.Folders {
		for i, r := range f.Remembered {
			out = append(out, ListedRule{Effect: "allow", Rule: r.Rule, From: "remembered", Folder: f.Root, Number: i + 1, Since: &r.Since})
		}
	}
	return out
}
