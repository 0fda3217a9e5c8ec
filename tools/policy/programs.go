package policy

import (
	"slices"
	"strings"

	"pillion/internal/pattern"
)

// What this file knows of programs errs towards asking: a program that is missing
// here is the user's own judgement when they write a rule for it, and no pattern
// is offered but for the few in listed.go.

// changesShell are the words that make the shell itself do something, so that what
// follows is not what it seems: reserved words of any shell, and builtins that
// change names, folders, descriptors or run text as code.
var changesShell = set(`
	if then elif else fi for foreach select case esac in while until repeat do done end function time coproc
	[ [[ ]] { } ! ( ) noglob nocorrect
	. source eval exec command builtin enable alias unalias hash rehash trap set shopt setopt unsetopt emulate
	cd pushd popd dirs chdir export unset readonly declare typeset local let integer float nameref
	read readarray mapfile getopts shift return exit break continue wait jobs bg fg disown suspend logout
	umask ulimit times caller compgen complete compopt bind fc history printenv autoload zmodload zle sched
	limit unlimit vared whence where functions zcompile`)

// runsWords are those of them that run the program which their words name, or code.
var runsWords = set(". source eval exec command builtin noglob nocorrect time coproc trap fc bind")

// runsOthers are the programs that run others, or code that they are given.
var runsOthers = set(`
	sh bash dash zsh ksh mksh lksh pdksh yash posh ash fish csh tcsh rc es elvish nu xonsh rbash busybox toybox sash
	pwsh powershell cmd wsl osascript
	python pypy ipython jython micropython perl raku ruby irb jruby node nodejs deno bun tsx ts-node php lua luajit tclsh wish expect
	guile racket scheme chez sbcl clisp ecl ghci ghc runghc runhaskell stack ocaml utop elixir iex erl escript julia r rscript octave
	groovy kotlin kotlinc scala java jshell clojure clj swift dotnet-script crystal nim zig
	awk gawk mawk nawk original-awk sed gsed ed ex vi vim vimdiff view rvim nvim emacs emacsclient nano pico joe micro helix hx less more most pg man info
	dc m4 gdb lldb sqlite sqlite3 psql mysql mariadb mongo mongosh redis-cli ftp telnet nc ncat netcat socat gnuplot
	env xargs parallel sudo sudoedit doas su runuser pkexec run0 setpriv capsh runcon newgrp sg
	timeout gtimeout nohup nice ionice chrt taskset numactl stdbuf unbuffer setsid setarch linux32 linux64 i386 x86_64 prlimit flock
	chroot unshare nsenter bwrap firejail systemd-run systemd-nspawn systemctl start-stop-daemon daemonize run-parts
	strace ltrace perf valgrind time gtime hyperfine watch watchexec entr script scriptreplay rlwrap tmux screen dtach at batch crontab
	ssh sshpass mosh scp sftp rsync rclone tar gtar bsdtar cpio zip 7z dpkg rpm apt apt-get dnf yum pacman brew snap flatpak
	npx bunx pnpx uvx pipx direnv mise asdf nix nix-shell nix-build guix docker podman nerdctl buildah kubectl oc helm vagrant
	git-shell gitk git-gui tig gh hub glab ssh-agent dbus-run-session dbus-launch xvfb-run xterm gnome-terminal
	wget aria2c gcc g++ cc c++ clang clang++ ld ansible ansible-playbook terraform tofu rake ant just task ninja cmake meson bazel`)

// subcommands are the programs whose first word says what they do. A rule must name it.
var subcommands = set("git go cargo npm pnpm yarn bun bundle composer conda dotnet gradle mix mvn pip poetry rustup uv")

// scripted are the programs whose subcommand needs a name of what it runs:
// npm run lint.
var scripted = map[string][]string{
	"npm":  words("run run-script"),
	"pnpm": words("run"),
	"yarn": words("run"),
}

// runsBySubcommand are the subcommands that run other programs, or say what later
// ones will run.
var runsBySubcommand = map[string][]string{
	"git": words(`config bisect submodule rebase filter-branch difftool mergetool send-email daemon instaweb hook credential shell svn p4 cvsimport
		cvsserver clone archive help web--browse gui citool maintenance for-each-repo upload-pack receive-pack upload-archive remote-ext init worktree
		fast-import sparse-checkout var alias imap-send http-backend quiltimport request-pull stash-push scalar remote fetch pull push ls-remote update-index`),
	"go":     words("run generate tool env bug telemetry install get work mod"),
	"cargo":  words("run install rustc rustdoc miri bench fix init new publish login owner"),
	"npm":    words("exec x config set init create explore edit install i ci add publish link version start-script pkg"),
	"pnpm":   words("exec x dlx config set init create install i add publish link env"),
	"yarn":   words("exec dlx config set init create install add publish link node plugin"),
	"dotnet": words("run exec tool script fsi new"),
	"poetry": words("run shell install add config self"),
	"pip":    words("install download wheel config"),
	"uv":     words("run tool pip sync add python"),
	"bundle": words("exec install config open console gem"),
	"mix":    words("run do archive.install escript.install cmd"),
	"rustup": words("run component toolchain override"),
	"conda":  words("run install create config"),
	"mvn":    words("exec:exec exec:java"),
	"gradle": words("run"),
}

// hazards are the options that make a program run another one, read its settings
// from elsewhere, or write where it says; those of one dash are whole words or,
// of one letter, may stand in a cluster.
var hazards = map[string][]string{
	"git": words(`-C -c -O --config --config-env --exec --exec-path --git-dir --work-tree --namespace --super-prefix --upload-pack --receive-pack
		--ext-diff --textconv --filters --output --output-directory --open-files-in-pager --extcmd --tool --gui --template --separate-git-dir
		--strategy --gpg-sign --paginate --show-signature`),
	"go": words(`-exec -toolexec -vettool -overlay -modfile -mod -ldflags -gccgoflags -gcflags -asmflags -compiler -C -pkgdir -o -outputdir
		-debug-trace -debug-actiongraph -debug-runtime-trace -trace -cpuprofile -memprofile -blockprofile -mutexprofile -coverprofile -testlogfile -gocoverdir -fuzzcachedir -http -args`),
	"find": words("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls"),
	"fd":   words("-x -X --exec --exec-batch"), "fdfind": words("-x -X --exec --exec-batch"),
	"rg":     words("--pre --hostname-bin"),
	"ag":     words("--pager"),
	"ack":    words("--pager"),
	"bat":    words("--pager"),
	"batcat": words("--pager"),
	"sort":   words("-o -T --output --compress-program --temporary-directory"),
	"shuf":   words("-o --output"),
	"tree":   words("-o -R"),
	"date":   words("-s --set"),
	"file":   words("-C -m --compile --magic-file"),
	"yq":     words("-i --inplace --in-place"),
	"make":   words("-f -C -I -E --file --makefile --directory --eval --include-dir --environment-overrides -e"),
	"gmake":  words("-f -C -I -E --file --makefile --directory --eval --include-dir --environment-overrides -e"),
	"cargo":  words("-C -Z --config --manifest-path --target-dir --artifact-dir --out-dir --open --fix --logfile"),
	"npm":    words("-C -c --prefix --script-shell --shell --call --globalconfig --userconfig --node-options --git --editor --viewer --browser"),
	"pnpm":   words("-C -c --dir --prefix --script-shell --shell-mode --config --node-options"),
	"yarn":   words("--cwd --script-shell --use-yarnrc --node-options"),
	"pytest": words("-c -p -o --rootdir --confcutdir --pdbcls --basetemp --override-ini --config-file --junitxml --junit-xml --log-file --debug"),
	"split":  words("--filter"),
	"mvn":    words("-f -s -gs --file --settings --global-settings"),
	"gradle": words("-I -b -c -p -g --init-script --build-file --settings-file --project-dir --gradle-user-home --include-build"),
	"curl":   words("-o -O -K -T -c -D --output --output-dir --remote-name --remote-name-all --config --upload-file --cookie-jar --dump-header --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc"),
	"diff":   words("-l --paginate --output"),
	"xxd":    words("-r"),
}

// readers are the programs that change no file that they are given.
var readers = set(`cat head tail ls stat wc grep egrep fgrep rg ag ack diff cmp comm file du df tree test true false echo printf pwd md5sum sha1sum sha256sum
	cksum cut nl od strings jq bat fd fdfind find tac rev basename dirname realpath readlink`)

// writers are the programs whose business is to change the files that they name.
var writers = set(`rm rmdir unlink mv cp ln install tee dd touch truncate shred chmod chown chgrp chattr setfacl setfattr mkdir mkfifo mknod mktemp rsync
	patch ed ex sponge`)

// changes says whether a command changes the files that it names.
func changes(words []word) bool {
	switch name := programName(words[0].text); name {
	case "sed", "gsed", "perl":
		return slices.ContainsFunc(words[1:], func(w word) bool {
			return strings.HasPrefix(w.text, "--i") || strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "i")
		})
	default:
		return writers[name]
	}
}

// interpreterNumber is what ends the name of one version of a program: python3.12.
const interpreterNumber = "0123456789.-"

// programName is the name by which a program is known here: without folder and
// version, in lower case.
func programName(word string) string {
	name := fold(word[strings.LastIndexAny(word, `/\`)+1:])
	name = strings.TrimSuffix(name, ".exe")
	if _, known := hazards[name]; known || runsOthers[name] {
		return name
	}
	if plain := strings.TrimRight(name, interpreterNumber); plain != "" {
		return plain
	}
	return name
}

// runsOther says why no pattern can stand for what the program does, "" if one can.
func runsOther(program string) string {
	name := programName(program)
	switch {
	case changesShell[name] || changesShell[program]:
		return program + " changes what the shell does next"
	case runsOthers[name]:
		return program + " can run other programs or code"
	}
	return ""
}

// hazard says what about a literal command keeps every pattern off it.
func hazard(words []string) string {
	program := words[0]
	if why := runsOther(program); why != "" {
		return why
	}
	name := programName(program)
	switch {
	case program == "" || strings.ContainsAny(program[:1], "-+%@:^,=") && program != ":":
		return "its program has no plain name"
	case name == "test" && slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "[$`") }),
		name == "printf" && len(words) > 1 && strings.HasPrefix(words[1], "-"):
		return "some shells run code that is in the words of " + name
	case name == "uniq" && operands(words) > 1, name == "xxd" && operands(words) > 1:
		return name + " writes to the second file that it is given"
	case (name == "make" || name == "gmake") && slices.ContainsFunc(words[1:], func(w string) bool { return strings.Contains(w, "=") }):
		return "a variable can change what make runs"
	case len(words) > 2 && words[1] == "audit" && slices.ContainsFunc(words[2:], func(w string) bool { return strings.HasSuffix(w, "fix") }):
		return name + " audit fix installs packages, which run programs"
	case name == "git" && len(words) > 1 && words[1] == "grep" && slices.ContainsFunc(words, func(w string) bool { return clusterWithO().MatchString(w) }):
		return "git grep can open files with another program"
	case name == "git" && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "%G") }):
		return "git has another program check signatures"
	case name == "mvn" && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "exec:") || strings.Contains(w, ":exec-maven-plugin") }):
		return "mvn would run another program"
	case name == "cargo" && len(words) > 1 && strings.HasPrefix(words[1], "+"):
		return "cargo would run another toolchain"
	}
	if sub := runsBySubcommand[name]; sub != nil && len(words) > 1 {
		if strings.HasPrefix(words[1], "-") {
			return "what " + name + " does is not the word after it"
		}
		if slices.Contains(sub, fold(words[1])) {
			return name + " " + words[1] + " can run other programs, or change what runs later"
		}
	}
	for _, word := range words[1:] {
		if slices.ContainsFunc(hazards[name], func(option string) bool { return isOption(name, word, option) }) {
			return name + " " + word + " can run other programs, or write files"
		}
	}
	return ""
}

func operands(words []string) int {
	n := 0
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") || w == "-" {
			n++
		}
	}
	return n
}

// isOption says whether a word may be the option of a program: with its value, cut
// short as programs allow, with one dash or two, or, a single letter, in a cluster.
func isOption(program, word, option string) bool {
	name, _, _ := strings.Cut(word, "=")
	if program == "go" { // each option of a test has two names
		name = strings.Replace(name, "-test.", "-", 1)
	}
	letter := option[1:]
	switch {
	case !strings.HasPrefix(word, "-") || name == "-" || name == "--":
		return false
	case strings.HasPrefix(option, "--"):
		short := strings.TrimLeft(name, "-") // npm takes one dash for two
		return strings.HasPrefix(option[2:], short) && (len(short) > 2 || strings.HasPrefix(name, "--"))
	case name == option || name == "-"+option:
		return true
	case len(letter) > 1 || oneDash[program] || strings.HasPrefix(word, "--"):
		return false
	}
	if at := strings.IndexAny(name, "./_"); attached[program] && at > 0 { // -ro.envrc
		name = name[:at]
	}
	return strings.HasPrefix(word, option) || (len(name) <= 6 || strings.HasPrefix(program, "fd")) && strings.Contains(name, letter)
}

// clusterWithO is what git grep may take for -O, with the name of a program behind it.
var clusterWithO = pattern.New(`^-[^-]*O`)

// attached are the programs of which the letter before a name is hardly anything else than its option.
var attached = set("sort shuf curl tree")

// oneDash are the programs whose options of one dash are words.
var oneDash = set("go find")

func words(list string) []string { return strings.Fields(list) }

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words(list) {
		out[w] = true
	}
	return out
}
