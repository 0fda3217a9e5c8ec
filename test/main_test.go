package test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"pillion/cli"
	"pillion/internal/testrig"
	"pillion/tools/process"
)

// TestMain lets the test binary be pillion itself, so that what is tested is the
// whole program in a process of its own, and an MCP server that it starts.
func TestMain(m *testing.M) {
	process.PlayPart()
	if os.Getenv(subAgentVariable) != "" {
		os.Exit(runSubAgent())
	}
	if os.Getenv("PILLION_TEST_MAIN") != "" {
		os.Exit(cli.Run(os.Args[1:], cli.Build{Version: "0.1.0-dev", Commit: "0123456789abcdef", Date: "2026-11-20T13:14:41Z"}))
	}
	if len(os.Args) > 1 && os.Args[1] == "mcp-server" {
		mcpServer()
		return
	}
	moreAtOnce()
	os.Exit(m.Run())
}

// moreAtOnce has more tests run at a time than there are cores: they wait for other programs most
// of theirs.
func moreAtOnce() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	}
}

// spawn starts `pillion serve` under a fake editor.
func spawn(t testing.TB, o testrig.Options) *testrig.Editor {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return testrig.Spawn(t, []string{exe, "serve"}, o)
}

type object = map[string]any
