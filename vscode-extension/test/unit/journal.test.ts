import assert from "node:assert/strict";
import { test } from "node:test";
import { agentTarget, changeTarget, counts, isRevertible, Journal, notes, sinceTarget, turnTarget, when } from "../../src/journal";
import { journalEntry } from "./samples";

test("changes are listed by agent and turn, the newest first", () => {
  const journal = new Journal();
  journal.entries = [journalEntry("4", { turn: 2 }), journalEntry("3", { sessionId: "s2", agent: { name: "codex", via: "mcp" } }), journalEntry("2"), journalEntry("1")];
  assert.deepEqual(journal.turns.map(({ agent, turn, entries }) => `${agent} ${String(turn)}: ${entries.map(({ id }) => id).join(" ")}`), ["claude 2: 4", "codex 1: 3", "claude 1: 2 1"]);
});

test("a change keeps its place while its state changes; a new one is the first", () => {
  const journal = new Journal();
  journal.entries = [journalEntry("2"), journalEntry("1")];
  journal.hear(journalEntry("1", { state: "reverted" }));
  journal.hear(journalEntry("3"));
  assert.deepEqual(journal.entries.map(({ id, state }) => `${id} ${state}`), ["3 done", "2 done", "1 reverted"]);
  assert.equal(journal.find("call-1")?.id, "1");
  assert.equal(journal.revertible("call-1"), undefined);
  assert.equal(journal.revertible("call-2")?.id, "2");
  journal.end();
  assert.deepEqual(journal.entries, []);
});

test("what was undone or reverted cannot be reverted", () => {
  const states = ["done", "undone", "interrupted", "reverted", "partly_reverted"] as const;
  assert.deepEqual(states.filter((state) => isRevertible({ state })), ["done", "interrupted", "partly_reverted"]);
});

test("each target selects what its name says, and no name can hide", () => {
  const entry = journalEntry("1", { title: "Edit a\u202eb.py", turn: 7 });
  assert.deepEqual(changeTarget(entry), { selector: { callId: "call-1" }, name: "“Edit a\\u{202e}b.py” by claude" });
  const revert = { ...entry, sessionId: "", paths: ["app.py"] };
  assert.equal(changeTarget({ ...revert, agent: { name: "VS Code", via: "editor" } }).name, "your revert of app.py");
  assert.equal(changeTarget({ ...revert, agent: { name: "pillion", via: "setting" } }).name, "Pillion’s revert of app.py");
  assert.equal(sinceTarget({ sessionId: "s1", turn: 7, agent: "claude", prompt: "Mend \u202e it" }).name, "everything that claude changed from turn 7 on (“Mend \\u{202e} it”)");
  assert.deepEqual(sinceTarget({ sessionId: "s1", turn: 7, agent: "claude" }), { selector: { sessionId: "s1", sinceTurn: 7 }, name: "everything that claude changed from turn 7 on" });
  assert.deepEqual(turnTarget({ sessionId: "s1", turn: 7, agent: "claude" }), { selector: { sessionId: "s1", turn: 7 }, name: "everything that claude changed in turn 7" });
  assert.deepEqual(agentTarget("s1", "claude"), { selector: { sessionId: "s1" }, name: "everything that claude changed" });
});

test("lines are counted over all files, and times told with the day when it is another", () => {
  const file = { path: "a", operation: "overwrite", additions: 2, deletions: 1 };
  assert.equal(counts([file, file]), "+4 −2");
  assert.equal(counts([{ ...file, additions: 0, deletions: 0 }]), "");
  const now = new Date(2026, 10, 21, 15, 0);
  assert.equal(when(new Date(2026, 10, 21, 14, 5).toISOString(), now), "14:05");
  assert.equal(when(new Date(2026, 10, 20, 9, 30).toISOString(), now), "2026-11-20 09:30");
  assert.equal(when("", now), "");
});

test("what runs next is said of changes that still stand, once for each file", () => {
  const file = { path: "web/package.json", operation: "overwrite", additions: 1, deletions: 0, note: "runs when you next use npm" };
  const plain = { path: "a.txt", operation: "overwrite", additions: 1, deletions: 0 };
  const moved = { path: "a\u202e", to: "Makefile", operation: "move", additions: 0, deletions: 0, note: "runs when you next use make" };
  assert.deepEqual(
    notes([journalEntry("3", { files: [file, plain] }), journalEntry("2", { files: [file, moved] }), journalEntry("1", { state: "reverted", files: [{ ...file, path: "gone" }] })]),
    ["web/package.json runs when you next use npm", "Makefile runs when you next use make"],
  );
});
