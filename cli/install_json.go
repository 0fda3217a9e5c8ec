package cli

import (
	"os"
	"os/exec"

	"pillion/agents/install"
	"pillion/workspace/diff"
)

// knownAgent is an agent that can be set up, and how it stands: connected, installed,
// or missing on this machine.
type knownAgent struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
}

// plannedInstall is what installing an agent would write.
type plannedInstall struct {
	Agent string        `json:"agent"`
	Name  string        `json:"name"`
	Files []plannedFile `json:"files"` // empty: nothing is to be done
	Notes []string      `json:"notes"`
}

// plannedFile is a file of it. Pillion's own record has no diff.
type plannedFile struct {
	Path string   `json:"path"`
	What string   `json:"what,omitempty"` // new or deleted; else it is changed
	Why  []string `json:"why"`
	Diff string   `json:"diff,omitempty"`
}

// printInstallJSON prints what mcpInstall would write, or without an agent how each stands.
func printInstallJSON(operands []string, project, uninstall bool) error {
	var out any
	var err error
	if len(operands) == 0 {
		out, err = knownAgents()
	} else {
		out, err = plannedFor(operands[0], project, uninstall)
	}
	if err != nil {
		return err
	}
	return printJSON(out)
}

func plannedFor(agent string, project, uninstall bool) (plannedInstall, error) {
	plan, err := planInstall(agent, project, uninstall)
	out := plannedInstall{agent, install.Name(agent), []plannedFile{}, append([]string{}, plan.Notes...)}
	for _, f := range plan.Files {
		one := plannedFile{Path: f.Path, Why: append([]string{}, f.Why...)}
		switch {
		case f.Delete:
			one.What = "deleted"
		case !f.Existed:
			one.What = "new"
		}
		if !isOwnRecord(f.Path) {
			one.Diff = diff.Unified(diff.Hunks(f.Before, f.After, 3))
		}
		out.Files = append(out.Files, one)
	}
	return out, err
}

// knownAgents are all of them. One whose configuration cannot be read is not connected; its
// plan says what is wrong.
func knownAgents() ([]knownAgent, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var out []knownAgent
	for _, id := range install.Agents() {
		one := knownAgent{id, install.Name(id), "missing"}
		if _, err := exec.LookPath(id); err == nil {
			one.State = "installed"
		}
		if s, err := install.Look(id, install.Options{Binary: launcher(), Project: cwd, Home: home, Getenv: os.Getenv}); err == nil && len(s.Scopes) > 0 {
			one.State = "connected"
		}
		out = append(out, one)
	}
	return out, nil
}
