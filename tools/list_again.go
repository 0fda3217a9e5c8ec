package tools

import (
	"context"
	"errors"
	"sync"

	"pillion/workspace"
	"pillion/workspace/search"
)

// listings are the latest answers of list_files about whole trees. Encoding one of many
// files takes much longer than finding out that nothing has changed.
type listings struct {
	mu   sync.Mutex // guards kept
	kept []listed   // the latest last
}

type listed struct {
	of      *workspace.Contents
	pattern string
	limit   int
	answer  *Answer
}

const (
	worthKeeping  = 1000     // files
	mostListings  = 4        // answers
	largestListed = 32 << 20 // bytes of one
)

func (k *listings) find(of *workspace.Contents, args listFilesArgs, limit int) *Answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.kept {
		if one.of == of && one.pattern == args.Pattern && one.limit == limit {
			again := *one.answer
			return &again
		}
	}
	return nil
}

// keep drops what is out of date.
func (k *listings) keep(now listed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var kept []listed
	for _, one := range k.kept {
		if one.of == now.of || one.of.Folder != now.of.Folder {
			kept = append(kept, one)
		}
	}
	k.kept = append(kept[max(0, len(kept)-mostListings+1):], now)
}

// again gives the answer of before, if the tree is as it was, and else a new one.
func (l *listing) again(ctx context.Context, in Input, root workspace.Path, o workspace.WalkOptions, args listFilesArgs) (*Answer, error) {
	l.from = leading(root)
	c, err := in.Files.List(ctx, root, o, l.limit > fewFiles)
	switch {
	case errors.Is(err, workspace.ErrTooMany):
		err = search.Walk(ctx, root, o, l.visit)
		return l.answer(args.Path), err
	case err != nil:
		return nil, err
	}
	if a := in.Listings.find(c, args, l.limit); a != nil {
		return a, nil
	}
	if err := l.take(c); err != nil {
		return nil, err
	}
	a := l.answer(args.Path)
	if l.count >= worthKeeping && len(l.files)+l.text.Len() <= largestListed && in.Files.Keeps(c) {
		again := *a
		in.Listings.keep(listed{c, args.Pattern, l.limit, &again})
	}
	return a, nil
}
