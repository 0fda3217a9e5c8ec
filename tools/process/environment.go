package process

import (
	"os"
	"runtime"
	"slices"
	"sort"
	"strings"
)

// passed are the variables that a command may inherit: who and where the user
// is, the language, and where toolchains live. A name is on this list when a
// build needs it and its value is no secret and no way to the user's screen,
// editor, keys or running services. So these are missing on purpose:
// SSH_AUTH_SOCK and the D-Bus and runtime folders (they let a command act as the
// user elsewhere, or leave its guardian), DISPLAY and WAYLAND_DISPLAY, GIT_*,
// LD_*, NODE_OPTIONS, PYTHONPATH, BASH_ENV and ENV (they change what programs
// do), NVIM*, VSCODE_* and PILLION_* (a command could approve itself), tokens of
// every kind. A call's own env, which the user sees, may add any of them.
var passed = strings.Fields(`
	PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR LOCALE_ARCHIVE
	XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME

	SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS

	GOROOT GOPATH GOBIN GOCACHE GOMODCACHE GOENV GOFLAGS GOTOOLCHAIN GOPRIVATE GONOPROXY GONOSUMDB GOSUMDB
	CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN
	JAVA_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT
	NVM_DIR FNM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR COREPACK_HOME
	PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PIPX_HOME POETRY_HOME UV_CACHE_DIR
	RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH
	DOTNET_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR
	HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY NIX_PATH NIX_PROFILES
`)

// passedURLs are inherited unless they hold a user or a password.
var passedURLs = strings.Fields(`
	HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy GOPROXY
`)

// passedWindows is what programs on Windows do not start without. Names have no
// case there.
var passedWindows = strings.Fields(`
	SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP OS
	USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH PUBLIC COMPUTERNAME
	APPDATA LOCALAPPDATA PROGRAMDATA ALLUSERSPROFILE
	PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432
	NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE PROCESSOR_IDENTIFIER
`)

// fixed are our own values: no colours, no pager, no question that nobody could
// answer.
var fixed = map[string]string{
	"TERM":                "dumb",
	"NO_COLOR":            "1",
	"PAGER":               "cat",
	"MANPAGER":            "cat",
	"GIT_PAGER":           "cat",
	"GIT_TERMINAL_PROMPT": "0",
}

// Environment is what a command gets of base, which has the form of os.Environ:
// an allow-list, and our own values for what would wait for a terminal. The
// result is sorted and holds each name once; of a repeated one the last counts.
func Environment(base []string) []string {
	return environment(base, runtime.GOOS == "windows")
}

func environment(base []string, windows bool) []string {
	values := map[string]string{}
	for _, entry := range base {
		name, value, ok := strings.Cut(entry, "=")
		key := name
		if windows {
			key = strings.ToUpper(name)
		}
		if ok && allowed(key, value, windows) {
			values[key] = name + "=" + value
		}
	}
	for name, value := range fixed {
		values[name] = name + "=" + value
	}
	out := make([]string, 0, len(values))
	for _, entry := range values {
		out = append(out, entry)
	}
	sort.Strings(out)
	return out
}

func allowed(name, value string, windows bool) bool {
	switch {
	case strings.ContainsRune(value, 0):
		return false
	case slices.Contains(passedURLs, name):
		return !strings.Contains(value, "@")
	case strings.HasPrefix(name, "LC_"):
		return true
	}
	return slices.Contains(passed, name) || windows && slices.Contains(passedWindows, name)
}

// inherited are variables of ours by their names, those that are set.
func inherited(names []string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		if value, set := os.LookupEnv(name); set {
			out[name] = value
		}
	}
	return out
}

// valueOf is the value of a name in a list such as Environment gives.
func valueOf(env []string, name string) string {
	for _, entry := range env {
		if key, value, _ := strings.Cut(entry, "="); sameName(key, name) {
			return value
		}
	}
	return ""
}

// sameName compares names of variables as this system does.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}
