package tools

import (
	"maps"
	"slices"

	"pillion/workspace/language"
)

// severalCaused is what a change of several files did: what causedResult says of one,
// said of all of them, and how much of it is known of each.
type severalCaused struct {
	New       *[]placedDiagnostic     `json:"new,omitempty"`
	Fixed     *[]placedDiagnostic     `json:"fixed,omitempty"`
	Remaining *int                    `json:"remaining,omitempty"`
	Truncated bool                    `json:"truncated,omitempty"`
	Status    language.Freshness      `json:"status"` // of the first file that is not fresh, if there is one
	Compared  *bool                   `json:"compared,omitempty"`
	Files     map[string]causedResult `json:"files"` // without their lists
}

// placedDiagnostic is a diagnostic of one of several files.
type placedDiagnostic struct {
	Path string `json:"path"`
	language.Diagnostic
}

// together joins what is known of each file. An empty list is given only where all files
// are known, and a number only then.
func together(byPath map[string]causedResult) severalCaused {
	out := severalCaused{Status: language.Fresh, Files: map[string]causedResult{}}
	var created, fixed []placedDiagnostic
	remaining, compared := 0, true
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		r := byPath[path]
		if r.Status != language.Fresh && out.Status == language.Fresh {
			out.Status = r.Status
		}
		created, fixed = placed(created, path, r.New), placed(fixed, path, r.Fixed)
		if r.Remaining != nil {
			remaining += *r.Remaining
			compared = compared && *r.Compared
		}
		out.Truncated = out.Truncated || r.Truncated
		r.New, r.Fixed = nil, nil
		out.Files[path] = r
	}
	known := out.Status == language.Fresh
	if known || len(created) > 0 {
		out.New = &created
	}
	if known && compared || len(fixed) > 0 {
		out.Fixed = &fixed
	}
	if known {
		out.Remaining, out.Compared = &remaining, &compared
	}
	return out
}

func placed(all []placedDiagnostic, path string, list *[]language.Diagnostic) []placedDiagnostic {
	if all == nil {
		all = []placedDiagnostic{}
	}
	if list == nil {
		return all
	}
	for _, d := range *list {
		all = append(all, placedDiagnostic{path, d})
	}
	return all
}
