package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"pillion/internal/state"
)

// layerPrefix is of a folder of layers, followed by the process whose it is.
const layerPrefix = "layer-"

// layersIn is the folder for them, of the state's.
const layersIn = "layers"

// NewLayers makes a layer over each folder, to be removed when what is in them was looked at. False where there can
// be none: overlayfs cannot be mounted here, or a folder's name is one that it cannot be told.
func (r *Runner) NewLayers(folders []string) (layers []Layer, remove func(), ok bool) {
	base, err := layersFolder()
	if err != nil || !r.Walls().Layers.Works {
		return nil, nil, false
	}
	dir, err := os.MkdirTemp(base, layerPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, nil, false
	}
	for i, folder := range folders {
		l := Layer{Folder: folder, Changes: filepath.Join(dir, strconv.Itoa(i)), Work: filepath.Join(dir, strconv.Itoa(i)+"-work")}
		for _, of := range folders {
			ok = of == folder || !within(of, folder)
			if !ok {
				break
			}
		}
		info, err := os.Stat(folder)
		if ok = ok && err == nil && utf8.ValidString(folder); ok {
			ok = os.Mkdir(l.Changes, info.Mode().Perm()|0o700) == nil && os.Mkdir(l.Work, 0o700) == nil
		}
		if !ok {
			RemoveAll(dir)
			return nil, nil, false
		}
		layers = append(layers, l)
	}
	return layers, func() { RemoveAll(dir) }, true
}

// layersFolder is on a disk: folders for temporary files may be memory.
func layersFolder() (string, error) {
	base, err := state.Folder(layersIn)
	if err == nil {
		err = os.MkdirAll(base, 0o700)
	}
	if err == nil {
		sweep(base, layerPrefix)
	}
	return base, err
}

// tryLayers finds out whether they work here.
func (r *Runner) tryLayers(f found) Wall {
	if f.Level != Bubblewrap || !f.Offline {
		return Wall{Why: "there is no bubblewrap"}
	}
	base, err := state.Folder(layersIn)
	for err == nil { // to try makes no folder that stays
		if _, missing := os.Lstat(base); missing == nil || base == filepath.Dir(base) {
			break
		}
		base = filepath.Dir(base)
	}
	var dir string
	if err == nil {
		dir, err = os.MkdirTemp(base, layerPrefix+strconv.Itoa(os.Getpid())+"-")
	}
	if err != nil {
		return Wall{Why: err.Error()}
	}
	defer RemoveAll(dir)
	l := Layer{Folder: filepath.Join(dir, "folder"), Changes: filepath.Join(dir, "changes"), Work: filepath.Join(dir, "work")}
	err = errors.Join(os.Mkdir(l.Folder, 0o700), os.Mkdir(l.Changes, 0o700), os.Mkdir(l.Work, 0o700))
	if err == nil {
		err = r.tryLayer(f.box, l)
	}
	switch {
	case err != nil:
		return Wall{Why: err.Error()}
	case !isRegular(filepath.Join(l.Changes, "made")) || isRegular(filepath.Join(l.Folder, "made")):
		return Wall{Why: "what a command writes does not go into its layer"}
	}
	return Wall{Works: true}
}

// layerAttributes are those of a guardian that mounts layers: it has mounts of its own, and unless it is root a user namespace in
// which it may mount them. Whoever looks at a file there sees the same owner as here.
func layerAttributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN, unix.CAP_FSETID}
	}
	return a
}

// mountLayers is done by the guardian, for itself and what it starts. Then it has no rights any more that
// it did not have outside.
func (h hold) mountLayers() error {
	if len(h.Layers) == 0 {
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts apart: %w", err)
	}
	for _, l := range h.Layers {
		if err := l.mount(); err != nil {
			return fmt.Errorf("mount a layer over %q: %w", l.Folder, err)
		}
	}
	if os.Geteuid() == 0 {
		return nil
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

func (l Layer) mount() error {
	fixed := make([]*os.File, 0, len(l.Fixed))
	for _, path := range l.Fixed {
		file, err := openStraight(path)
		if err != nil {
			continue // it is gone, or something else now: then it is in the layer as all is
		}
		defer file.Close()
		fixed = append(fixed, file)
	}
	// With its marks in a user's attributes there are no redirects, nor copies of metadata alone: what the layer has of a file is all of it.
	options := "userxattr,index=off,lowerdir=" + escapeOption(l.Folder, `\:`) + ",upperdir=" + escapeOption(l.Changes, `\`) + ",workdir=" + escapeOption(l.Work, `\`)
	if err := unix.Mount("overlay", l.Folder, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return err
	}
	for _, file := range fixed {
		if err := unix.Mount(linkOf(file), file.Name(), "", unix.MS_BIND, ""); err != nil {
			return err
		}
		if err := unix.Mount("", file.Name(), "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
			return err
		}
	}
	return nil
}

// escapeOption writes a path into the options of a mount, where a comma ends one.
func escapeOption(path, special string) string {
	var out strings.Builder
	for _, c := range []byte(path) {
		if c == ',' || strings.IndexByte(special, c) >= 0 {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
	return out.String()
}
