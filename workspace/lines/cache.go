package lines

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"
)

// Cache keeps the indexes of the files that were looked through last. The zero
// Cache is ready to use, and a nil one keeps nothing.
type Cache struct {
	mu   sync.Mutex // guards kept
	kept []kept     // the latest last
}

type kept struct {
	key   string
	index *Index
}

const (
	mostKept = 32
	// clockSlack is how far the times that a file system writes may lag behind: a
	// file that was written so short a time ago may have been written again since.
	clockSlack = 100 * time.Millisecond
)

// Index gives the index of f as it is now. The stamp names a version of the file,
// and says when it was last touched.
func (c *Cache) Index(ctx context.Context, f *os.File, size int64, unit Unit, stamp func() (name string, touched time.Time)) (*Index, error) {
	if c == nil {
		return NewIndex(ctx, f, size, unit)
	}
	began := time.Now()
	name, touched := stamp()
	key := name + string(rune('0'+unit))
	if x := c.find(key); x != nil {
		return x, nil
	}
	x, err := NewIndex(ctx, f, size, unit)
	if err != nil {
		return nil, err
	}
	if after, _ := stamp(); after == name && touched.Before(began.Add(-clockSlack)) {
		c.keep(key, x)
	}
	return x, nil
}

func (c *Cache) find(key string) *Index {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(k kept) bool { return k.key == key })
	if i < 0 {
		return nil
	}
	k := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), k)
	return k.index
}

func (c *Cache) keep(key string, x *Index) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) == mostKept {
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	c.kept = append(c.kept, kept{key, x})
}
