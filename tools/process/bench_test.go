//go:build unix

package process

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// BenchmarkTrue compares the shortest command with what a bare login shell costs.
func BenchmarkTrue(b *testing.B) {
	b.Run("guarded", func(b *testing.B) {
		r := newRunner(b)
		for b.Loop() {
			if _, err := r.Run(b.Context(), Spec{Command: "true", Dir: "/"}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, level := range []Level{None, Landlock, Bubblewrap} {
		b.Run("guarded, warm, "+string(level), func(b *testing.B) {
			r := newRunner(b)
			if walls := r.Walls(); level == Landlock && !walls.Landlock.Works || level == Bubblewrap && !walls.Bubblewrap.Works {
				b.Skipf("%s does not work here: %+v", level, walls)
			}
			spec := Spec{Command: "true", Dir: "/", Confine: Confine{Level: level, Writable: []string{b.TempDir()}}}
			for b.Loop() {
				b.StopTimer()
				r.launcher.filling.Wait()
				time.Sleep(20 * time.Millisecond) // what an agent thinks at the very least
				b.StartTimer()
				if _, err := r.Run(b.Context(), spec, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/sh", "-lc", "true")
			cmd.Env = Environment(os.Environ())
			must(b, cmd.Run())
		}
	})
}

// BenchmarkThroughput is 64 MB on one line, of which 1 MiB is kept.
func BenchmarkThroughput(b *testing.B) {
	r := newRunner(b)
	b.SetBytes(64 << 20)
	for b.Loop() {
		if _, err := r.Run(b.Context(), Spec{Command: "head -c 67108864 /dev/zero", Dir: "/"}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
