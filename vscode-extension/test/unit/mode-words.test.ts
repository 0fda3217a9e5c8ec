import assert from "node:assert/strict";
import { test } from "node:test";
import { freest, modeLook } from "../../src/mode-words";
import { session } from "./samples";

test("without an agent there is nothing to show", () => {
  assert.equal(modeLook([]), undefined);
});

test("of several agents the one that may do most is shown, and full access is marked", () => {
  const all = [session("red", { mode: "plan" }), session("blue", { mode: "full_access" }), session("green", { mode: "auto_edit" })];
  assert.equal(freest(all)?.agent.name, "blue");
  const look = modeLook(all);
  assert.equal(look?.text, "$(warning) Full Access: blue");
  assert.equal(look.warns, true);
  assert.match(look.tooltip, /red is in mode Plan\. It only reads\.\n/);
});

test("other modes are named and not marked", () => {
  assert.deepEqual(["plan", "default", "auto_edit", "something new"].map((mode) => modeLook([session("a", { mode })])?.text), [
    "$(eye) Plan",
    "$(shield) Ask",
    "$(edit) Edit Automatically",
    "$(shield) something new",
  ]);
  assert.equal(modeLook([session("a", { mode: "auto_edit" })])?.warns, false);
});
