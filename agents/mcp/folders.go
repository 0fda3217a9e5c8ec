//lint:file-ignore SA1019 the newest revision has no roots, today's agents do

package mcp

import (
	"context"
	"os"
	"path/filepath"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pillion/internal/fault"
	"pillion/workspace"
)

// rootsTime is how long a client may take to say in which folders it works. One that
// does not answer is served in the folder that it was started in.
const rootsTime = 3 * time.Second

// folders are those to serve: the client's roots, or else the folder that the agent was
// started in. None is fit: nothing is served, and the error says why.
func (o Options) folders(ctx context.Context, client *sdk.ServerSession) ([]string, error) {
	var fit []string
	for _, dir := range o.roots(ctx, client) {
		if why := workspace.Unfit(dir); why != "" {
			o.Logf("the agent's folder %s is not served: it %s", fault.Quote(dir), why)
			continue
		}
		fit = append(fit, dir)
	}
	switch why := workspace.Unfit(o.Cwd); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(fit) > 0:
		return fit, nil
	case why != "":
		return nil, fault.New(fault.PermissionDenied, "nothing is served in %s: it %s", fault.Quote(o.Cwd), why).
			WithHint("ask the user to start the agent in a project's folder, or to name one: pillion mcp -C FOLDER")
	}
	return []string{o.Cwd}, nil
}

// roots asks the client for its folders, if it has such a thing.
func (o Options) roots(ctx context.Context, client *sdk.ServerSession) []string {
	p := client.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.RootsV2 == nil || p.ProtocolVersion >= newProtocol {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.rootsTime)
	defer cancel()
	list, err := client.ListRoots(ctx, nil)
	if err != nil {
		o.Logf("asking the agent for its folders: %v", err)
		return nil
	}
	var dirs []string
	for _, root := range list.Roots {
		if dir := folderOf(root.URI); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// folderOf is the folder that a file URI names, if it is there.
func folderOf(uri string) string {
	dir, ok := workspace.FilePathOf(uri)
	if !ok {
		return ""
	}
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}
