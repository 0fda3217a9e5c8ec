package patching

import (
	"fmt"

	"pillion/internal/fault"
	"pillion/workspace/change"
	"pillion/workspace/patch"
)

// The modes of git.
const (
	modeLink      = 0o120000
	modeSubmodule = 0o160000
	modeRegular   = 0o100000
	modeType      = 0o170000

	ModeFile, ModeProgram = "100644", "100755"
)

// checkModes refuses what is no file, and modes that git does not keep.
func checkModes(f patch.File) error {
	name := fault.Quote(f.New)
	for _, mode := range []uint32{f.OldMode, f.NewMode} {
		switch mode & modeType {
		case modeLink:
			return fault.New(fault.NotAFile, "%s is a symbolic link in the patch, which is not supported", name).
				WithHint("leave it out of the patch; delete_file and move_file accept links, and a command can create one")
		case modeSubmodule:
			return fault.New(fault.NotAFile, "%s is a submodule in the patch, which is not supported", name).WithHint("leave it out of the patch")
		}
	}
	switch f.NewMode {
	case 0, modeRegular | 0o644, modeRegular | 0o755:
		return nil
	}
	return fault.New(fault.PatchApplyFailed, "the patch wants the mode %o for %s, and a file has %s, or %s if it can be run", f.NewMode, name, ModeFile, ModeProgram).
		WithHint("use one of the two in the patch; other permissions are up to the user")
}

// isProgram: the file on disk can be run.
func (f *fileState) isProgram() bool {
	if f.before != nil {
		return change.IsExecutable(f.before.Mode)
	}
	info, err := f.target.Stat()
	return err == nil && change.IsExecutable(info.Mode())
}

// setMode has a file be one that can be run or not: as the patch says, else as what it
// comes from.
func (p *Patch) setMode(f patch.File, to *fileState, like bool, row *FileResult) error {
	exec := like
	if f.NewMode != 0 {
		exec = f.NewMode&0o100 != 0
	}
	isNew := f.Operation == patch.Create || f.Operation == patch.Copy
	switch {
	case exec == like && !(exec && isNew):
	case !change.HasModes:
		p.Notes = append(p.Notes, fmt.Sprintf("the mode %o of %s is skipped: this system has no modes", f.NewMode, fault.Quote(row.Path)))
		exec = like
	case to.link:
		return fault.New(fault.NotAFile, "%s is a symbolic link, which has no mode of its own", fault.Quote(row.Path)).WithHint("name its target")
	case exec:
		row.Mode = ModeProgram
	case like:
		row.Mode = ModeFile
	}
	to.exec = exec
	return nil
}

// changeMode plans that what was a file gets the mode that another one is to have.
func (p *Patch) changeMode(set *change.Set, f *fileState, exec bool) error {
	if !f.was || f.wasExec == exec {
		return nil
	}
	c, err := change.NewMode(p.in.Snapshot, f.path, exec)
	if err == nil && c.Operation != change.Unchanged {
		set.Tree = append(set.Tree, c)
	}
	return err
}
