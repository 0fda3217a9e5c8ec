package house

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNothingOfThisMachine: no committed file names the place where it was written
// or the registries that this machine happens to use.
func TestNothingOfThisMachine(t *testing.T) {
	forbidden := map[string]string{}
	if abs, err := filepath.Abs(root); err == nil {
		if above := filepath.Dir(abs) + "/"; strings.Count(above, "/") >= 2 && above != "/home/" && above != "/tmp/" {
			forbidden[above] = "the folder of this checkout"
		}
	}
	for _, host := range registryHosts() {
		forbidden[host] = "the host of a package registry"
	}
	for _, name := range projectFiles(t) {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		data := read(t, name)
		for word, what := range forbidden {
			if at := bytes.Index(data, []byte(word)); at >= 0 {
				t.Errorf("%s:%d has %s", name, 1+bytes.Count(data[:at], []byte("\n")), what)
			}
		}
	}
}

func registryHosts() []string {
	var out []string
	add := func(text string) {
		for _, found := range regexp.MustCompile(`https?://[^\s,|"']+`).FindAllString(text, -1) {
			u, err := url.Parse(found)
			if err != nil || u.Hostname() == "" || u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.") {
				continue
			}
			out = append(out, u.Hostname())
		}
	}
	for _, name := range []string{"GOPROXY", "GONOSUMDB", "npm_config_registry", "NPM_CONFIG_REGISTRY", "PIP_INDEX_URL", "UV_INDEX_URL"} {
		add(os.Getenv(name))
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, name := range []string{".npmrc", ".config/pip/pip.conf", ".pip/pip.conf"} {
			data, _ := os.ReadFile(filepath.Join(home, name))
			add(string(data))
		}
	}
	data, _ := os.ReadFile("/etc/npmrc")
	add(string(data))
	if env, err := exec.Command("go", "env", "GOPROXY").Output(); err == nil {
		add(string(env))
	}
	return out
}

// TestLocksNameNoRegistry: where packages come from is for whoever installs them
// to say, so the lock files keep their hashes and no addresses.
func TestLocksNameNoRegistry(t *testing.T) {
	for _, name := range projectFiles(t, "package-lock.json") {
		if bytes.Contains(read(t, name), []byte(`"resolved": "http`)) {
			t.Errorf("%s names the place that its packages came from; install with omit-lockfile-registry-resolved", name)
		}
	}
}

// TestNoHiddenCharacters: source reads as it runs. Characters that turn or hide
// text are written as escapes. What a test feeds to the program may have them.
func TestNoHiddenCharacters(t *testing.T) {
	for _, name := range projectFiles(t, ".go", ".ts", ".lua", ".js", ".mjs", ".json", ".md", ".sh", ".txtar", ".txt", "Makefile") {
		if strings.Contains("/"+name, "/testdata/") {
			continue
		}
		data := read(t, name)
		if !utf8.Valid(data) {
			t.Errorf("%s is not UTF-8", name)
		}
		for i, r := range string(data) {
			if r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0xfeff {
				t.Errorf("%s:%d has %U; write it as an escape", name, 1+bytes.Count(data[:i], []byte("\n")), r)
			}
		}
	}
}
