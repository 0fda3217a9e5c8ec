package policy

import "testing"

// What programs run or load from where they are started, or read what to run from.
func TestWhatRunsNextIsKnown(t *testing.T) {
	for _, name := range []string{
		"Cargo.toml", "crates/x/Cargo.toml", ".pdbrc", ".pylintrc", "mypy.ini", ".flake8", ".coveragerc", "requirements.txt", "requirements-dev.txt", "Pipfile", "pixi.toml", "x.pth",
		".Rprofile", ".irbrc", ".pryrc", ".rspec", ".ghci", "Setup.hs", ".gdbinit", ".lldbinit", "karma.conf.js", "wdio.conf.ts", "webpack.config.babel.js", "vitest.workspace.ts",
		"project.json", "angular.json", "ember-cli-build.js", "magefile.go", "Makefile.am", "configure", "CMakeUserPresets.json",
		"Snakefile", "Dangerfile", "Fastfile", "Podfile", "Brewfile", "Earthfile", "global.json",
	} {
		if RunsNext(name) == "" {
			t.Errorf("%s is written unasked", name)
		}
	}
	for _, name := range []string{"src/main.go", "README.md", "tsconfig.json", "build.md", "workspace.go", "configure.go", "build", "project.go"} {
		if RunsNext(name) != "" {
			t.Errorf("%s asks", name)
		}
	}
}
