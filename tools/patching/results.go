package patching

import "pillion/internal/fault"

// FileResult is what becomes of one file, in the wire form of apply_patch's results.
type FileResult struct {
	Path         string       `json:"path"`
	From         string       `json:"from,omitempty"` // of a rename or a copy
	Operation    string       `json:"operation"`
	HunksApplied int          `json:"hunks_applied"`
	Offset       int          `json:"offset"` // the largest of its hunks
	Additions    int          `json:"additions"`
	Deletions    int          `json:"deletions"`
	Mode         string       `json:"mode,omitempty"`   // the one that it gets, if that is another
	Binary       bool         `json:"binary,omitempty"` // its bytes are changed
	Hunks        []HunkResult `json:"hunks,omitempty"`  // those that are not where they should be, or not as they should
	Version      string       `json:"version,omitempty"`
	Saved        *bool        `json:"saved,omitempty"`
	Formatted    bool         `json:"formatted,omitempty"`
	Error        *fault.Error `json:"error,omitempty"`
}

// HunkResult is where a hunk is made.
type HunkResult struct {
	Hunk     int    `json:"hunk"` // from 1, in its file
	Line     int    `json:"line"` // in the file as it was
	Offset   int    `json:"offset"`
	Leniency string `json:"leniency,omitempty"`
}
