import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { isName, setUpLine } from "../../src/set-up";

test("a plain program is typed as it is, any other one in quotes", () => {
  assert.equal(setUpLine("/usr/bin/pillion", "claude", "linux"), "/usr/bin/pillion mcp install claude");
  assert.equal(setUpLine("C:\\Program Files\\it's\\pillion.exe", "codex", "win32"), "& 'C:\\Program Files\\it''s\\pillion.exe' mcp install codex");
});

test("a shell takes the quoted program for what it is", () => {
  for (const program of ["/opt/my tools/pillion", "/it's/$HOME/`x`/pillion"]) {
    const typed = setUpLine(program, "claude", "linux").replace(/ mcp install claude$/, "");
    assert.equal(execFileSync("/bin/sh", ["-c", `printf %s ${typed}`], { encoding: "utf8" }), program);
  }
});

test("a name that means anything to a shell is none", () => {
  assert.deepEqual(["claude", "opencode", "", "; rm", "a b", undefined, { agent: "claude" }].map(isName), [true, true, false, false, false, false, false]);
});
