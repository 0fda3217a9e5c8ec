//go:build !linux

package process

import (
	"context"
	"errors"
	"os/exec"
)

// InLayers starts nothing: there are no layers here.
func InLayers(context.Context, []Layer, ...string) (*exec.Cmd, error) {
	return nil, errors.ErrUnsupported
}
