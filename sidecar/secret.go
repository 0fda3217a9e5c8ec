package sidecar

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"pillion/config"
	"pillion/internal/fault"
	"pillion/internal/web"
	"pillion/tools/process"
)

// secret is what the command of a setting prints in its first line, else what the variable
// has. It is not kept.
func secret(ctx context.Context, setting, command, variable string) (string, error) {
	if command == "" {
		return os.Getenv(variable), nil
	}
	ctx, cancel := context.WithTimeout(ctx, secretTime)
	defer cancel()
	shell := process.Shell(command)
	out, err := exec.CommandContext(ctx, shell[0], shell[1:]...).Output()
	if err != nil {
		return "", fault.New(fault.ExecutionFailed, "the command of %s gave nothing: %w", setting, err)
	}
	first, _, _ := bytes.Cut(out, []byte("\n"))
	return strings.TrimSpace(string(first)), nil
}

const secretTime = 30 * time.Second // it may ask the user to unlock something

// searchVariable is where the key of a search provider may be.
const searchVariable = "PILLION_SEARCH_KEY"

// webSearch is where to search, with the key if there is one.
func webSearch(set config.WebSearch) web.Search {
	out := web.Search{Provider: set.Provider, URL: set.URL}
	if set.KeyCommand != "" || os.Getenv(searchVariable) != "" {
		out.Key = func(ctx context.Context) (string, error) {
			return secret(ctx, "web.search.keyCommand", set.KeyCommand, searchVariable)
		}
	}
	return out
}
