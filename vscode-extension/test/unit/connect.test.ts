import assert from "node:assert/strict";
import { test } from "node:test";
import { connectPage, isName } from "../../src/connect";

const plan = {
  agent: "claude",
  name: "Claude Code",
  files: [{ path: "/home/.claude.json", what: "new", why: ["turns off Claude Code's own tools: Bash, Edit\u202e"], diff: "@@ -0,0 +1 @@\n+{}\n" }, { path: "/state/record.json", why: ["records it"] }],
  notes: ["Restart it."],
};

test("the page says what each file would get, and why, with nothing invisible", () => {
  const { text } = connectPage(plan);
  assert.match(text, /^Connect Claude Code: this would be written$/m);
  assert.match(text, /^Connect +writes these 2 files$/m);
  assert.match(text, /^\/home\/\.claude\.json, new\n {2}• turns off Claude Code's own tools: Bash, Edit\\u\{202e\}\n\n {2}@@ -0,0 \+1 @@\n {2}\+\{\}$/m);
  assert.match(text, /^Restart it\.$/m);
});

test("with nothing to write it is connected", () => {
  const { text } = connectPage({ ...plan, files: [] });
  assert.match(text, /^Claude Code is connected$/m);
  assert.doesNotMatch(text, /writes/);
});

test("a name that means anything to a shell is none", () => {
  assert.deepEqual(["claude", "opencode", "", "; rm", "a b", undefined, { agent: "claude" }].map(isName), [true, true, false, false, false, false, false]);
});
