package sidecar

import (
	"pillion/config"
	"pillion/internal/state"
	"pillion/tools/policy"
	"pillion/workspace/change"
	"pillion/workspace/journal"
)

// OpenJournal gives what change sets are written down in before they are made, kept as
// the settings say.
func OpenJournal(set config.Journal) (*change.Journal, error) {
	dir, err := state.Folder("journal")
	if err != nil {
		return nil, err
	}
	store, err := journal.Open(dir, journal.Options{})
	if err != nil {
		return nil, err
	}
	j := &change.Journal{Store: store, Note: policy.RunsNext}
	keep(j, set)
	return j, nil
}

// LocksFolder is shared by all sidecars of one user; "" where there is no place for it.
func LocksFolder() string {
	dir, err := state.Folder("locks")
	if err != nil {
		return ""
	}
	return dir
}

// keep has the journal kept as the settings say.
func keep(j *change.Journal, set config.Journal) {
	noSync := set.Sync != nil && !*set.Sync
	j.Configure(change.JournalMode(set.Mode), noSync)
	j.Store.Configure(journal.Options{MaxBytes: set.MaxBytes, MaxAge: set.Age(), NoSync: noSync})
}
