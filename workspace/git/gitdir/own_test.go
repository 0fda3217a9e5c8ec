package gitdir

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pillion/internal/testrig/machine"
)

// TestAnothersRepository: a folder that came from anywhere has no other work tree's repository read.
func TestAnothersRepository(t *testing.T) {
	dir := machine.NewFolder(t).Dir
	sh := exec.Command("sh", "-ec", `
		git init -q other && cd other && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git worktree add -q ../linked && cd ..
		git init -q --separate-git-dir apart.git separate
		git init -q plain
		mkdir file common links ws && echo "gitdir: $PWD/other/.git" >file/.git
		git init -q common && echo "$PWD/other/.git" >common/.git/commondir
		git init -q links && rm -r links/.git/objects && ln -s ../../other/.git/objects links/.git/objects
		git init -q lines && ln -s /etc/hostname lines/.git/shallow
		git init -q heads && rm -r heads/.git/refs/heads && ln -s ../../../other/.git/refs/heads heads/.git/refs/heads
		git init -q index && ln -s ../../other/.git/config index/.git/index
		git init -q secret && echo x >secret/.env && ln -s ../.env secret/.git/packed-refs
		git init -q alternate && echo nothing >alternate/.git/objects/info/alternates
		git init -q nested && mkdir -p nested/alt/info && echo ../../alt >nested/.git/objects/info/alternates && ln -s /etc/hostname nested/alt/info/alternates
		git init -q oddlink && ln -s refs/../../../secret/.env oddlink/.git/packed-refs
		git init -q oddobjects && rm -r oddobjects/.git/objects && ln -s refs/../../../other/.git/objects oddobjects/.git/objects
		git init -q loose && loose=$(ls other/.git/objects | head -n 1) && ln -s ../../../other/.git/objects/$loose loose/.git/objects/$loose
		git init -q lfs && mkdir -p lfs/.git/lfs/info && rm -r lfs/.git/info && ln -s lfs/info lfs/.git/info && ln -s /etc/hostname lfs/.git/lfs/info/grafts
		git init -q quoted && mkdir -p quoted/alt/info "quoted/.git/objects/\"$PWD/quoted/alt\"" && ln -s /etc/hostname quoted/alt/info/alternates && echo "\"$PWD/quoted/alt\"" >quoted/.git/objects/info/alternates
		git init -q moved && mkdir -p moved/sub moved/alt/info moved/sub/alt && mv moved/.git/objects moved/sub/objs && ln -s ../sub/objs moved/.git/objects && echo ../../alt >moved/sub/objs/info/alternates && ln -s /etc/hostname moved/alt/info/alternates
		git init -q deep && for i in 1 2 3 4 5; do mkdir -p deep/o$i/info; done && echo ../../o1 >deep/.git/objects/info/alternates && for i in 1 2 3 4; do echo ../o$((i+1)) >deep/o$i/info/alternates; done && echo nothing >deep/o5/info/alternates
		git init -q inner && mkdir -p inner/sub && git init -q inner/sub && ln -s ../sub/.git inner/.git/l && echo l/../.git >inner/.git/commondir
		git init -q blank && cp -r blank/.git "blank/ c" && mv "blank/ c" "blank/.git/ c" && cp -r "blank/.git/ c" blank/.git/c && echo " c" >blank/.git/commondir
		git init -q pointed && git init -q pointed/sub && echo "$PWD/pointed/sub/.git" >pointed/.git/commondir
		git init -q within && mkdir within/objs && mv within/.git/objects within/objs/o && ln -s ../objs/o within/.git/objects
		git init -q oldhead && git -C oldhead -c user.name=a -c user.email=b commit -q --allow-empty -m x && rm oldhead/.git/HEAD && ln -s refs/heads/main oldhead/.git/HEAD && git -C oldhead update-ref refs/heads/main $(cat oldhead/.git/refs/heads/*)
		git init -q shared && echo "$PWD/other/.git/objects" >shared/.git/objects/info/alternates
		git init -q exclude && rm -f exclude/.git/info/exclude && ln -s /etc/hostname exclude/.git/info/exclude
		git clone -q --bare other bare.git && mkdir tobare && echo "gitdir: $PWD/bare.git" >tobare/.git
		git init -q inside/a && git init -q inside/b && rm -r inside/b/.git && echo "gitdir: ../a/.git" >inside/b/.git`)
	sh.Dir, sh.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, own := range map[string]bool{
		"other": true, "linked": true, "separate": true, "plain": true, "inside/b": true, "file": false, "common": false, "links": false, "lines": false, "heads": false,
		"index": false, "secret": false, "alternate": false, "nested": false, "shared": true, "exclude": true, "tobare": false,
		"oddlink": false, "loose": false, "oddobjects": false, "lfs": false, "quoted": false, "moved": false, "deep": false, "inner": false, "blank": false, "pointed": false, "within": true, "oldhead": true,
	} {
		top := filepath.Join(dir, name)
		root := top
		if name == "inside/b" {
			root = filepath.Join(dir, "inside")
		}
		gitDir, err := GitDirOf(top)
		if err != nil || gitDir == "" {
			t.Fatalf("%s: %q, %v", name, gitDir, err)
		}
		if err := CheckOwn([]string{root}, top, gitDir); (err == nil) != own {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTooManyFilesToLookAt: what was not looked at may lead out.
func TestTooManyFilesToLookAt(t *testing.T) {
	defer func(was int) { mostLooked = was }(mostLooked)
	dir := machine.NewFolder(t).Dir
	gitDir := filepath.Join(dir, ".git")
	_, err := machine.Git(t, dir, "", "init", "-q")
	machine.Must(t, err)
	if err := CheckOwn([]string{dir}, dir, gitDir); err != nil {
		t.Error(err)
	}
	mostLooked = 5
	if err := CheckOwn([]string{dir}, dir, gitDir); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("%v", err)
	}
}

// TestYesAndNoAsGitReadsThem, git itself beside it.
func TestYesAndNoAsGitReadsThem(t *testing.T) {
	for _, value := range []string{"true", "YES", "on", "1", "2k", "0x1", "-1", "010", "false", "No", "off", "0", "0k", "0x0", ""} {
		out, err := machine.Git(t, t.TempDir(), "", "-c", "a.b="+value, "config", "--type=bool", "a.b")
		machine.Must(t, err)
		if got, want := (Config{"a.b": {value}}).Bool("a.b", false), out == "true\n"; got != want {
			t.Errorf("%q is %t, and %t for git", value, got, want)
		}
	}
}
