package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"pillion/internal/fault"
)

// A push that is larger goes by git, which needs less memory for it.
const (
	mostPushed       = 128 << 20
	mostPushedPieces = 200_000
)

// pack is all of the branch that the remote has not, as a packfile.
func (b *pushing) pack(ctx context.Context, tip plumbing.Hash, there *packp.AdvRefs) (io.ReadCloser, error) {
	commits, err := b.missing(ctx, tip, there)
	if err != nil {
		return nil, err
	}
	p := &packing{ctx: ctx, objects: b.objects, seen: map[plumbing.Hash]bool{}}
	for _, c := range commits.edge {
		if err := p.passOver(c); err != nil {
			return nil, err
		}
	}
	for _, c := range commits.news {
		if err := p.take(c, plumbing.CommitObject); err != nil {
			return nil, err
		}
		commit, err := b.objects.commit(c)
		if err == nil {
			err = p.tree(commit.TreeHash, false)
		}
		if err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	if _, err := packfile.NewEncoder(&out, p, false).Encode(p.found, 0); err != nil {
		var known *fault.Error
		if errors.As(err, &known) {
			return nil, known
		}
		return nil, fault.New(fault.GitError, "the commits cannot be packed: %w", err)
	}
	return io.NopCloser(&out), nil
}

// missing are the commits that a remote has not, and those that it has at their edge.
type missing struct{ news, edge []plumbing.Hash }

func (b *pushing) missing(ctx context.Context, tip plumbing.Hash, there *packp.AdvRefs) (missing, error) {
	var haves []plumbing.Hash
	for _, h := range there.References {
		if c, err := b.objects.commit(h); err == nil {
			haves = append(haves, c.Hash)
		}
	}
	p, err := b.parting(ctx, tip, haves...)
	if err != nil {
		return missing{}, err
	}
	var out missing
	for _, c := range p.only(byUs) {
		out.news = append(out.news, c.Hash)
		for _, h := range c.ParentHashes {
			if p.reached[h].by&byThem != 0 {
				out.edge = append(out.edge, h)
			}
		}
	}
	return out, nil
}

// packing collects objects for go-git's encoder, and reads them for it.
type packing struct {
	storer.EncodedObjectStorer // what the encoder does not ask for
	ctx                        context.Context
	objects                    *objects
	seen                       map[plumbing.Hash]bool
	found                      []plumbing.Hash
	size                       int
}

// passOver notes what is in a commit that the remote has.
func (p *packing) passOver(h plumbing.Hash) error {
	c, err := p.objects.commit(h)
	if err != nil {
		return err
	}
	return p.tree(c.TreeHash, true)
}

// tree takes a tree with all that is in it, or passes over it.
func (p *packing) tree(h plumbing.Hash, known bool) error {
	if p.seen[h] {
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return fault.From(err)
	}
	if known {
		p.seen[h] = true
	} else if err := p.take(h, plumbing.TreeObject); err != nil {
		return err
	}
	entries, err := p.objects.tree(h)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Mode == modeSubmodule:
		case e.Mode == modeDir:
			err = p.tree(e.Hash, known)
		case known:
			p.seen[e.Hash] = true
		default:
			err = p.take(e.Hash, plumbing.BlobObject)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take has an object be sent.
func (p *packing) take(h plumbing.Hash, kind plumbing.ObjectType) error {
	if p.seen[h] {
		return nil
	}
	p.seen[h] = true
	data, err := p.objects.of(kind, h)
	if err != nil {
		return err
	}
	p.found = append(p.found, h)
	if p.size += len(data); p.size > mostPushed || len(p.found) > mostPushedPieces {
		return needsGit("there is much to push")
	}
	if kind == plumbing.BlobObject && len(data) < 1024 && strings.HasPrefix(string(data), lfsHead) {
		return needsGit("files are in Git LFS, whose own program sends them")
	}
	return nil
}

// EncodedObject reads an object, which must be what its name says.
func (p *packing) EncodedObject(_ plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	if err := p.ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	found, err := p.objects.get(h, maxObject)
	if err != nil {
		return nil, err
	}
	o := &plumbing.MemoryObject{}
	o.SetType(found.kind)
	if _, err := o.Write(found.data); err != nil {
		return nil, err
	}
	if o.Hash() != h {
		return nil, fault.New(fault.GitError, "the object %s is damaged; git fsck says more", h)
	}
	return o, nil
}
