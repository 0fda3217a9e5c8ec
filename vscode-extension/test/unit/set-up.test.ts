import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { isAgent, setUpLine } from "../../src/set-up";

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

test("only agents that can be set up are taken", () => {
  assert.deepEqual(["claude", "codex", "qwen", "aider", "; rm", undefined, { agent: "claude" }].map(isAgent), [true, true, true, false, false, false, false]);
});
