import assert from "node:assert/strict";
import { test } from "node:test";
import { isName } from "../../src/agent-name";

test("a name that means anything to a shell is none", () => {
  assert.deepEqual(["claude", "opencode", "", "; rm", "a b", undefined, { agent: "claude" }].map(isName), [true, true, false, false, false, false, false]);
});
