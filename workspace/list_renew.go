package workspace

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// Renewed is the list c of a workspace folder with the folders read again in which
// something changed. They are given by their absolute names, each with the names of
// the entries that came or went. Ignore rules must be as they were. It is c itself when
// nothing changed.
func (c *Contents) Renewed(ctx context.Context, changed map[string]map[string]bool, sizes bool, most int) (*Contents, error) {
	if len(changed) == 0 {
		return c, nil
	}
	room := most - c.Facts().Total
	for dir, fresh := range changed {
		rel, ok := within(c.Folder.Abs(), dir)
		if !ok {
			continue
		}
		var names []string
		if rel != "." {
			names = strings.Split(rel, string(filepath.Separator))
		}
		l := lister{ctx: ctx, sizes: sizes, most: int64(room)}
		renewed, err := c.renewed(&l, names, fresh)
		if err != nil {
			return nil, err
		}
		c = renewed
	}
	return c, nil
}

// renewed is c with the folder read again that names lead to. What is not in the list
// was not there, or is ignored: then c stays as it is.
func (c *Contents) renewed(l *lister, names []string, fresh map[string]bool) (*Contents, error) {
	if len(names) == 0 {
		now := &Contents{Folder: c.Folder, rules: c.rules, base: c.base}
		err := l.list(listing{contents: now, name: ".", depth: 1, old: c, fresh: fresh})
		if err == nil {
			err = now.Err
		}
		return now, err
	}
	e := c.entry(names[0])
	if e == nil || e.Below == nil {
		return c, nil
	}
	below, err := e.Below.renewed(l, names[1:], fresh)
	if err != nil {
		return nil, err
	}
	now := *c
	now.Entries = slices.Clone(c.Entries)
	at := now.entry(names[0])
	if info, err := below.Folder.Lstat(); err == nil && l.sizes {
		*at = Of(info) // what came or went in a folder is seen in its own time
	}
	at.Name, at.Below = names[0], below
	return &now, nil
}

// stillHas says that the folder name is the one that was there before.
func (j *listing) stillHas(name string) bool {
	if j.old == nil || j.fresh[name] {
		return false
	}
	e := j.old.entry(name)
	return e != nil && e.Below != nil
}

// RulesAround is all that ignore files outside of the workspace folder p say about it,
// and those inside of its repository: what no look into the folder's tree shows.
func (p Path) RulesAround() string {
	var out strings.Builder
	add := func(text string) { out.WriteString(text + "\x00") }
	for dir := range foldersBetween(fileSystemTop(p.root.dir), p.root.dir) {
		f := ruleFolder{abs: dir}
		for _, name := range []string{".rgignore", ".ignore", ".gitignore"} {
			add(f.read(name))
		}
		add(f.exclude())
		if f.has(".git") {
			add("top")
		}
	}
	add(ruleFolder{path: p}.exclude())
	add(readUserIgnore())
	return out.String()
}

// HasOthers says that another workspace folder lies in the one of p.
func (p Path) HasOthers() bool {
	nested := p.root.nested.Load()
	return nested != nil && len(*nested) > 0
}

// Facts are what is to be known of a list as a whole.
type Facts struct {
	Total int  // entries, with those below
	Whole bool // every folder in it could be listed

	repositories []*Contents // below the first folder, whose own is part of RulesAround
}

// Facts goes through the whole list.
func (c *Contents) Facts() Facts {
	f := Facts{Whole: true}
	c.addFacts(&f)
	return f
}

func (c *Contents) addFacts(f *Facts) {
	f.Total += len(c.Entries)
	f.Whole = f.Whole && c.Err == nil
	for i := range c.Entries {
		below := c.Entries[i].Below
		if below == nil {
			continue
		}
		if below.rules != nil && below.rules != c.rules && below.rules.isTop {
			f.repositories = append(f.repositories, below)
		}
		below.addFacts(f)
	}
}

// RulesWithin is what the repositories in the list exclude for themselves, which lies
// where nobody looks.
func (f Facts) RulesWithin() string {
	var out strings.Builder
	for _, c := range f.repositories {
		out.WriteString(c.Folder.rel + "\x00" + ruleFolder{path: c.Folder}.exclude() + "\x00")
	}
	return out.String()
}

// Top is the workspace folder that holds p.
func (p Path) Top() Path { return Path{root: p.root, rel: "."} }

// Shallow is the folder's own entries alone.
func (c *Contents) Shallow() *Contents {
	now := *c
	now.Entries = slices.Clone(c.Entries)
	for i := range now.Entries {
		now.Entries[i].Below = nil
	}
	return &now
}
