package lspbridge

import (
	"context"
	"errors"
	"strings"
	"time"

	"pillion/internal/fault"
	"pillion/internal/wire"
	"pillion/workspace"
)

// instead is what every hint about a missing server ends with.
const instead = "use search_in_project or read the source instead"

var errClosed = fault.New(fault.LSPUnavailable, "language servers are stopped: the sidecar ends")

func noServer(p workspace.Path, lang string) error {
	if lang == "" {
		return fault.New(fault.LSPUnavailable, "no language server is known for %s", fault.Quote(p.String())).WithHint("%s", instead)
	}
	return fault.New(fault.LSPUnavailable, "no language server is set for %s", lang).
		WithHint("name one in the settings (languageServers.servers), or %s", instead)
}

func notInstalled(spec Server) error {
	err := fault.New(fault.LSPUnavailable, "%s is not installed", spec.Name)
	if spec.Install == "" {
		return err.WithHint("%s", instead)
	}
	return err.WithHint("install it (%s), or %s", spec.Install, instead)
}

func held(spec Server) error {
	return fault.New(fault.LSPUnavailable, "%s is disabled by default: %s", spec.Name, spec.Held).
		WithHint("if you trust the repository, set languageServers.servers.%s.enabled to true in your own settings; else %s", spec.Name, instead)
}

func notOffered(spec Server, what string) error {
	return fault.New(fault.LSPUnavailable, "%s does not offer %s", spec.Name, what).WithHint("%s", instead)
}

// gaveUp: nobody is there, and will not be soon.
func gaveUp(spec Server, within time.Duration, why string) error {
	return fault.New(fault.LSPUnavailable, "%s has ended too often and is not started again before %v are over: %s", spec.Name, within, why).WithHint("%s", instead)
}

// hangs: there is no use in asking now.
func hangs(spec Server, silent time.Duration) error {
	return fault.New(fault.LSPUnavailable, "%s has not said anything for %v, although it was asked", spec.Name, silent.Round(time.Second)).
		WithHint("ask again later, or %s", instead)
}

// errGone is of what was never sent, because the server ended before.
var errGone = errors.New("it has just ended and is started again")

// answered makes what an agent reads of an error of the server's, or of having asked it.
func answered(ctx context.Context, spec Server, method string, err error) error {
	var said *wire.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said) && said.Code == wire.CodeMethodNotFound:
		return notOffered(spec, method)
	case errors.As(err, &said):
		return fault.New(fault.ExecutionFailed, "%s cannot answer %s: %s", spec.Name, method, clip(said.Message, 500))
	case errors.Is(err, errGone):
		return fault.New(fault.LSPUnavailable, "%s cannot be asked: %w", spec.Name, err).WithHint("ask again, or %s", instead)
	case errors.Is(err, wire.ErrClosed):
		return fault.New(fault.LSPUnavailable, "%s ended while it was asked; it is started again", spec.Name).WithHint("ask again, or %s", instead)
	case errors.Is(err, wire.ErrBacklog):
		return fault.New(fault.LSPUnavailable, "%s does not read what it is sent", spec.Name).WithHint("ask again later, or %s", instead)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Timeout, "%s did not answer %s within %v", spec.Name, method, questionTime).WithHint("ask again later, or %s", instead)
	}
	return err
}

// clip bounds what a server says.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
