package process

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// InLayers is this program with other arguments, as it starts where layers are mounted over folders, for it and all that it
// starts. It ends with ctx.
func InLayers(ctx context.Context, layers []Layer, args ...string) (*exec.Cmd, error) {
	program, err := self()
	if err != nil {
		return nil, err
	}
	mounts, err := json.Marshal(layers)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, append([]string{layeredPart, string(mounts)}, args...)...)
	cmd.Dir, cmd.SysProcAttr = "/", layerAttributes()
	return cmd, nil
}

const layeredPart = "layered"

func init() { Parts[layeredPart] = layered }

// layered is the body of that subcommand: it mounts the layers and becomes the program with its other arguments.
func layered(args []string) int {
	var h hold
	err := fmt.Errorf("%d arguments are too few", len(args))
	if len(args) > 1 {
		err = json.Unmarshal([]byte(args[0]), &h.Layers)
	}
	if err == nil {
		err = h.mountLayers()
	}
	if err == nil {
		err = syscall.Exec("/proc/self/exe", append([]string{os.Args[0]}, args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "pillion:", err)
	return 1
}
