package tools

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"pillion/workspace"
)

// listings are the latest answers of list_files about whole trees. Encoding one of many
// files takes much longer than finding out that nothing has changed.
type listings struct {
	mu   sync.Mutex // guards all below
	kept []listed   // the latest last
	end  *time.Timer
}

type listed struct {
	of      *workspace.Contents
	pattern string
	limit   int
	answer  *Answer
	size    int // of the answer, in bytes
}

const (
	worthKeeping    = 1000     // files
	mostListings    = 4        // answers
	mostListedBytes = 48 << 20 // bytes of all together
	listingsUnused  = 2 * time.Minute
)

func (k *listings) find(of *workspace.Contents, args listFilesArgs, limit int) *Answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.kept {
		if one.of == of && one.pattern == args.Pattern && one.limit == limit {
			k.used()
			again := *one.answer
			return &again
		}
	}
	return nil
}

// keep drops what is out of date, and the oldest of what is too much.
func (k *listings) keep(now listed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = slices.DeleteFunc(k.kept, func(one listed) bool { return one.of != now.of && one.of.Folder == now.of.Folder })
	k.kept = append(k.kept, now)
	size := 0
	for i := range slices.Backward(k.kept) {
		if size += k.kept[i].size; size > mostListedBytes || len(k.kept)-i > mostListings {
			k.kept = slices.Delete(k.kept, 0, i+1)
			break
		}
	}
	k.used()
}

// used has all dropped when nobody wants them for a while. It needs k.mu.
func (k *listings) used() {
	if k.end == nil {
		k.end = time.AfterFunc(listingsUnused, k.drop)
		return
	}
	k.end.Reset(listingsUnused)
}

func (k *listings) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = nil
}

// again gives the answer of before, if the tree is as it was, and else a new one.
func (l *listing) again(ctx context.Context, in Input, root workspace.Path, o workspace.WalkOptions, args listFilesArgs) (*Answer, error) {
	l.from = leading(root)
	c, err := in.Files.List(ctx, root, o, l.limit > fewFiles)
	switch {
	case errors.Is(err, workspace.ErrTooMany):
		err = root.WalkListed(ctx, o, true, l.visit)
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
	if l.count >= worthKeeping && in.Files.Keeps(c) {
		again := *a
		in.Listings.keep(listed{c, args.Pattern, l.limit, &again, cap(l.out.files) + cap(l.out.json) + l.out.text.Cap()})
	}
	return a, nil
}
