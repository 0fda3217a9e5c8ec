//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"pillion/internal/testrig/machine"
	"pillion/workspace"
)

// TestTargetsAreTheKernels: also behind absolute links, links that climb, and what is missing.
func TestTargetsAreTheKernels(t *testing.T) {
	outer, err := filepath.EvalSymlinks(t.TempDir())
	machine.Must(t, err)
	ws := filepath.Join(outer, "ws")
	tree(t, outer, map[string]string{
		"ws/deep/dir/x": "", "ws/lnk": "->deep/dir", "ws/abs": "->" + ws + "/lnk/../cfg", "ws/rel": "->lnk/../cfg", "ws/climbs": "->../ws/lnk/../cfg", "ws/up": "->lnk/../../cfg",
		"ws/late": "->gone/../lnk/cfg", "ws/out": "->" + ws + "/../elsewhere", "ws/loop": "->loop",
	})
	w, err := workspace.Open(workspace.Folder{Dir: ws})
	machine.Must(t, err)
	defer w.Close()
	for name, want := range map[string]string{
		"abs/x": "deep/cfg/x", "rel/x": "deep/cfg/x", "climbs/x": "deep/cfg/x", "up/x": "cfg/x", "late/x": "deep/dir/cfg/x", "out/x": "", "loop": "",
	} {
		p, err := w.Resolve(name)
		if err == nil {
			p, err = p.Target()
		}
		if want == "" {
			if err == nil {
				t.Errorf("%s leads to %s", name, p)
			}
			continue
		}
		if err != nil || p.Rel() != want {
			t.Errorf("%s leads to %s, %v, want %s", name, p, err, want)
		}
		if os.MkdirAll(filepath.Join(ws, filepath.Dir(p.Rel())), 0o755) != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Join(ws, filepath.Dir(name)))
		if err == nil && real != filepath.Join(ws, filepath.Dir(want)) {
			t.Errorf("the kernel says %s of %s, want %s", real, name, want)
		}
	}
}
