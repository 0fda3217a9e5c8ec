package search

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"pillion/workspace"
)

// index knows what the files of workspace folders cannot hold. It is made in the
// background (indexing.go), and never trusted further than its records can be: each says
// until when it is known to be right, and which file it is about.
type index struct {
	mu      sync.Mutex // guards all below
	folders map[workspace.Path]*indexed
	words   int    // of all signatures
	files   int    // that have records
	turn    uint32 // of the last record that was begun
}

// indexed is a folder with a record for each of its entries, in the same order.
type indexed struct {
	of      *workspace.Contents
	records []record
	pass    int // the last in which it was come to
}

// record is about one file.
type record struct {
	kind      kind
	odd       bool // see isOdd
	linked    bool // it has several names: what happens by another is not told
	signature signature
	// since is the list from which on every change was told, and none was of this file;
	// nil: the stamp is to be compared first.
	since *kept
	stamp uint64 // 0: the file may change and keep its stamp
	turn  uint32 // who reads the file; 0: it changed since
}

type kind uint8

const (
	kindUnknown kind = iota
	kindText         // text as it is on disk; of this kind alone there are signatures
	kindBinary
	kindOther // its text is not the bytes on disk, or it cannot be read
)

var stampSeed = maphash.MakeSeed()

// hashStamp is never 0.
func hashStamp(s workspace.FileStamp) uint64 { return maphash.Comparable(stampSeed, s) | 1 }

// at is the folder dir as it is now. What is known of an entry goes by its name; whether
// it is still the same file, its record says.
func (x *index) at(dir *workspace.Contents) *indexed {
	f := x.folders[dir.Folder]
	if f == nil {
		f = &indexed{of: dir, records: make([]record, len(dir.Entries))}
		x.folders[dir.Folder] = f
	}
	if f.of == dir {
		return f
	}
	records, old := make([]record, len(dir.Entries)), 0
	for i := range dir.Entries {
		for ; old < len(f.records) && f.of.Entries[old].Name < dir.Entries[i].Name; old++ {
			x.forget(&f.records[old])
		}
		if old < len(f.records) && f.of.Entries[old].Name == dir.Entries[i].Name {
			records[i] = f.records[old]
			old++
		}
	}
	for ; old < len(f.records); old++ {
		x.forget(&f.records[old])
	}
	f.of, f.records = dir, records
	return f
}

// forget leaves a record as that of a file of which nothing is known.
func (x *index) forget(r *record) {
	if r.kind != kindUnknown {
		x.files--
		x.words -= r.signature.words()
	}
	*r = record{}
}

// record is that of the entry name of a folder, nil if there is none.
func (x *index) record(folder workspace.Path, name string) *record {
	f := x.folders[folder]
	if f == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(f.of.Entries, name, func(e workspace.Listed, name string) int { return strings.Compare(e.Name, name) })
	if !found {
		return nil
	}
	return &f.records[i]
}

// changed takes that something happened to an entry of a folder: see Files.Changed.
func (x *index) changed(folder workspace.Path, name string, cameOrWent bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.record(folder, name); r != nil {
		r.since, r.turn = nil, 0
	}
	if !cameOrWent {
		return
	}
	if below := folder.Join(name); x.folders[below] != nil {
		for p, f := range x.folders {
			if p == below || p.Top() == below.Top() && strings.HasPrefix(p.Rel(), below.Rel()+"/") {
				f.doubt()
			}
		}
	}
}

// doubt has all stamps of a folder compared.
func (f *indexed) doubt() {
	for i := range f.records {
		f.records[i].since, f.records[i].turn = nil, 0
	}
}

// verdict is what the index says of a file.
type verdict struct {
	kind kind // of a file that cannot match; unknown: it is to be read
	// stamp is what the file must have for that; 0: it is known.
	stamp uint64
}

// sift says of each entry of a folder what is known, and whether there is something to
// bring up to date. since is the list by which all changes were told, nil if they were
// not.
func (x *index) sift(dir *workspace.Contents, since *kept, s *sieve, out []verdict) (_ []verdict, behind bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	out = slices.Grow(out[:0], len(dir.Entries))[:len(dir.Entries)]
	f := x.at(dir)
	for i := range f.records {
		r := &f.records[i]
		out[i] = verdict{}
		if !dir.Entries[i].Type.IsRegular() {
			continue
		}
		known := since != nil && r.since == since
		behind = behind || r.kind == kindUnknown || since != nil && !known && !r.linked
		switch {
		case r.kind == kindUnknown || r.kind == kindOther || r.kind == kindText && s.admits(&r.signature, r.odd):
		case known:
			out[i] = verdict{kind: r.kind}
		case r.stamp != 0:
			out[i] = verdict{r.kind, r.stamp}
		}
	}
	return out, behind
}

// wanting are the files of a folder whose records are to be made or mended.
func (x *index) wanting(dir *workspace.Contents, since *kept, pass int) (names []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f := x.at(dir)
	f.pass = pass
	for i := range f.records {
		if r := &f.records[i]; dir.Entries[i].Type.IsRegular() && (r.kind == kindUnknown || r.since == nil || r.since != since) {
			names = append(names, dir.Entries[i].Name)
		}
	}
	return names
}

// begin gives the stamp that the record of a file wants compared, and what is to be given
// back when the file has been looked at.
func (x *index) begin(folder workspace.Path, name string) (stamp uint64, turn uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn++
	r := x.record(folder, name)
	if r == nil {
		return 0, x.turn
	}
	r.turn = x.turn
	return r.stamp, x.turn
}

// confirm takes that the file is the one that its record is about.
func (x *index) confirm(folder workspace.Path, name string, turn uint32, since *kept) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.record(folder, name); r != nil && r.turn == turn && !r.linked {
		r.since = since
	}
}

// end takes a new record. If the file changed since it was begun, its stamp is to be
// compared.
func (x *index) end(folder workspace.Path, name string, turn uint32, now record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.record(folder, name)
	if r == nil {
		return
	}
	if r.turn != turn || now.linked {
		now.since = nil
	}
	x.forget(r)
	if *r = now; now.kind != kindUnknown {
		x.files++
		x.words += now.signature.words()
	}
}

// sweep forgets the folders in a workspace folder that the last pass did not come to.
func (x *index) sweep(top workspace.Path, pass int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for p, f := range x.folders {
		if f.pass != pass && p.RootDir() == top.RootDir() {
			for i := range f.records {
				x.forget(&f.records[i])
			}
			delete(x.folders, p)
		}
	}
}

// size is how many files the index knows, and the bytes that it takes, about.
func (x *index) size() (files int, bytes int64) {
	const record = 120 // with what there is for a folder
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.files, int64(x.words)*8 + int64(x.files)*record
}
