import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { TooSoon } from "../../src/too-soon";
import { contexts } from "../vscode";

test("what cannot be answered yet is known to the menus, and no longer once its time has passed", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let addresses = ["page:a", "page:hidden"];
  const tooSoon = new TooSoon("early", () => ({ addresses, passes: addresses.includes("page:a") }));
  tooSoon.look();
  assert.deepEqual(contexts.get("early"), ["page:a", "page:hidden"]);
  addresses = ["page:hidden"];
  mock.timers.tick(50);
  assert.deepEqual(contexts.get("early"), ["page:hidden"]);
  addresses = []; // by itself it does not come into sight: nobody looks again
  mock.timers.tick(1000);
  assert.deepEqual(contexts.get("early"), ["page:hidden"]);
  tooSoon.look();
  assert.deepEqual(contexts.get("early"), []);
  tooSoon.dispose();
  mock.timers.reset();
});
