package process

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

func TestNothingOfAServiceIsLeft(t *testing.T) {
	const leaves = "trap '' TERM HUP; (sleep 999 &); setsid sleep 999 & setsid sh -c 'exec 0<&- 1>&- 2>&-; kill -STOP $$' & echo up >&2; "
	r := newRunner(t)
	for name, rest := range map[string]string{"its own end": "exit 1", "killed": "wait", "stopped": "kill -STOP $$", "its input": "sleep 999 <&0"} {
		env := mark(t)
		s := serve(t, r, leaves+rest, env)
		if name != "its own end" {
			eventually(t, name+": it runs", func() bool { return s.Said() != "" && len(marked(env)) > 1 })
			s.Kill()
		}
		_ = over(t, s)
		if left := marked(env); len(left) > 0 {
			t.Errorf("%s: left: %v", name, left)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range processes() {
		if p.parent == os.Getpid() {
			t.Errorf("a child is left, dead: %v, of %v", p.dead, p)
		}
	}
}

func TestAServiceDiesWithAKilledSidecar(t *testing.T) {
	env := mark(t)
	cmd := exec.Command(os.Args[0], "serving", env[markName])
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	eventually(t, "its three processes", func() bool { return len(marked(env)) == 3 }) // one that is being replaced shows no mark
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	eventually(t, "the end of all", func() bool { return len(marked(env)) == 0 })
}
