import assert from "node:assert/strict";
import { test } from "node:test";
import { counts, describe, details, freest, indexNote, indexText, modeLook, standing } from "../../src/session-words";
import { session } from "./samples";

const now = new Date("2026-05-04T15:00:00");
const busy = session("claude", { calls: 12, changes: 3, rejected: 1, mode: "auto_edit" });

test("what a session did, without what there is none of", () => {
  assert.equal(counts(session("a")), "no calls yet");
  assert.equal(counts(session("a", { calls: 1 })), "1 call");
  assert.equal(counts(busy), "12 calls, 3 changes, 1 rejected");
  assert.equal(counts({ ...busy, changes: 1, rejected: 0, refused: 2 }), "12 calls, 1 change, 2 refused");
});

test("how it stands: an agent that is gone waits for nobody, a paused one is paused before all", () => {
  assert.equal(standing(busy, true), "waiting");
  assert.equal(standing({ ...busy, paused: true }, true), "paused");
  assert.equal(standing({ ...busy, connected: false, paused: true }, true), "gone");
  assert.equal(standing(busy, false), "connected");
});

test("a row says how it stands, what it may do, what it did and since when", () => {
  assert.equal(describe(busy, "connected", now), "Edit Automatically · 12 calls, 3 changes, 1 rejected · since 14:05");
  assert.equal(describe(busy, "paused", now), "paused · Edit Automatically · 12 calls, 3 changes, 1 rejected · since 14:05");
  assert.equal(describe({ ...busy, connected: false, lastCall: "2026-05-03T09:30:00" }, "gone", now), "12 calls, 3 changes, 1 rejected · last seen 2026-05-03 09:30");
  assert.equal(describe({ ...busy, mode: "new\u200b", started: "?" }, "connected", now), "new\\u{200b} · 12 calls, 3 changes, 1 rejected");
});

test("the details say why it is paused, with nothing hidden", () => {
  assert.deepEqual(details({ ...busy, paused: true, pauseReason: "you\u202e", parent: "p" }, "paused", now), [
    "claude, a sub-agent, paused",
    "Mode Edit Automatically: Edits in the workspace run without asking. Commands ask.",
    "Paused: you\\u{202e}",
    "12 calls, 3 changes, 1 rejected, since 14:05",
  ]);
});

test("without an agent there is nothing to show", () => {
  assert.equal(modeLook([]), undefined);
});

test("of several agents the one that may do most is shown, and full access is marked", () => {
  const all = [session("red", { mode: "plan" }), session("blue", { mode: "full_access" }), session("green", { mode: "auto_edit" })];
  assert.equal(freest(all)?.agent.name, "blue");
  const look = modeLook(all);
  assert.equal(look?.text, "$(warning) Full Access: blue");
  assert.equal(look.background, "warning");
  assert.match(look.tooltip, /red is in mode Plan\. It only reads\.\n/);
});

test("other modes are named and not marked", () => {
  assert.deepEqual(["plan", "draft", "default", "auto_edit", "something new"].map((mode) => modeLook([session("a", { mode })])?.text), [
    "$(eye) Plan",
    "$(git-pull-request-draft) Draft",
    "$(shield) Ask",
    "$(edit) Edit Automatically",
    "$(shield) something new",
  ]);
  assert.equal(modeLook([session("a", { mode: "auto_edit" })])?.background, undefined);
});

test("an index that is built is told with its percentage, one that is there with its size", () => {
  const building = { building: true, percent: 40, files: 7, bytes: 100 };
  assert.deepEqual([indexText(building), indexNote(building)], [" (indexing 40 %)", "The search index of this project is being built; searches are slower until then"]);
  const built = { building: false, percent: 100, files: 86240, bytes: 89 * 2 ** 20 - 1 };
  assert.deepEqual([indexText(built), indexNote(built)], ["", "Search index: 86,240 files, 89 MB of memory"]);
  for (const none of [undefined, { building: false, percent: 0, files: 0, bytes: 0 }]) {
    assert.deepEqual([indexText(none), indexNote(none)], ["", ""]);
  }
});
