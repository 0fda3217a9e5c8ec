package main

import (
	"os"
	"path/filepath"
	"runtime"

	"pillion/config"
	"pillion/workspace/change"
	"pillion/workspace/journal"
)

// journalFolder depends on the home alone, as all that is kept does.
func journalFolder() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	state := filepath.Join(home, ".local", "state")
	if runtime.GOOS == "windows" {
		state = filepath.Join(home, "AppData", "Local")
	}
	return filepath.Join(state, "pillion", "journal"), nil
}

// locksFolder is beside the journal: all sidecars of one user share both.
func locksFolder() string {
	dir, err := besideJournal("locks")()
	if err != nil {
		return ""
	}
	return dir
}

func besideJournal(name string) func() (string, error) {
	return func() (string, error) {
		dir, err := journalFolder()
		return filepath.Join(filepath.Dir(dir), name), err
	}
}

// keep has the journal kept as the settings say.
func keep(j *change.Journal, set config.Journal) {
	noSync := set.Sync != nil && !*set.Sync
	j.Configure(change.JournalMode(set.Mode), noSync)
	j.Store.Configure(journal.Options{MaxBytes: set.MaxBytes, MaxAge: set.Age(), NoSync: noSync})
}

// newJournal is what change sets are written down in before they are made.
func newJournal() (*change.Journal, error) {
	dir, err := journalFolder()
	if err != nil {
		return nil, err
	}
	store, err := journal.Open(dir, journal.Options{})
	if err != nil {
		return nil, err
	}
	return &change.Journal{Store: store}, nil
}
