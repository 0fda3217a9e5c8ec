import assert from "node:assert/strict";
import { test } from "node:test";
import type { JournalReverted } from "../../src/protocol";
import { changesAnything, onlyDiff, outcome, revertPage } from "../../src/revert-page";
import { diff as changes, file } from "./samples";

const diff = "diff --git a/src/app.py b/src/app.py\n--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-new\n+old\n";
const text = { ...file, diff, before: "new\n", after: "old\n" };

function result(more: Partial<JournalReverted> = {}): JournalReverted {
  return { reverted: ["src/app.py"], merged: [], conflicts: [], reasons: {}, preview: changes([text]), ...more };
}

test("one text that fits is a diff, everything else a page", () => {
  assert.equal(onlyDiff(result())?.path, "src/app.py");
  assert.equal(onlyDiff(result({ conflicts: ["notes.md"] })), undefined);
  assert.equal(onlyDiff(result({ preview: changes([text, text]) })), undefined);
  assert.equal(onlyDiff(result({ preview: changes([{ ...text, operation: "move", to: "b", text: false }]) })), undefined);
});

test("the page shows what would become of each file, merged or not, and what stays as it is and why", () => {
  const files = [
    text,
    { ...file, path: "made.py", name: "made.py", operation: "delete", after: "", diff: "" },
    { ...file, path: "old", name: "old", operation: "create_directory", before: "", after: "", text: false },
    { ...file, path: "new.py", name: "new.py", operation: "move", before: "", after: "", text: false, to: "was.py" },
    { ...file, path: "src/lib", name: "src/lib", operation: "move", before: "", after: "", text: false, to: "lib", facts: [{ code: "contents", label: "Contents", text: "1 file" }] },
  ];
  const told = result({ merged: ["src/app.py"], conflicts: ["notes\u202e.md"], reasons: { "notes\u202e.md": "its lines were changed since" }, preview: changes(files) });
  const page = revertPage("“Tidy up” by claude", told);
  const lines = page.text.split("\n");
  assert.equal(lines[0], "Revert “Tidy up” by claude?");
  assert.equal(lines[page.places.get("src/app.py") ?? -1], "src/app.py   +1 -1");
  assert.match(page.text, /^ {2}merged: later changes stay\n {2}@@ -1 \+1 @@\n {2}-new\n {2}\+old\n$/m);
  assert.match(page.text, /^made\.py {3}is deleted, because the agent created it$/m);
  assert.match(page.text, /^old {3}is restored$/m);
  assert.match(page.text, /^new\.py {3}moves back to was\.py$/m);
  assert.match(page.text, /^src\/lib {3}moves back to lib\nContents {6}1 file$/m);
  assert.match(page.text, /^This file stays as it is:\n {2}notes\\u\{202e\}\.md\n {4}its lines were changed since$/m);
  assert.match(page.text, /^Revert$/m);
});

test("a diff is offered of texts alone: of a mode beside one, and of bytes, there is none", () => {
  const files = [
    text,
    { ...file, operation: "change_mode", before: "", after: "", text: false, summary: "no longer executable" },
    { ...file, path: "old.bin", name: "old.bin", operation: "create", before: "", after: "", text: false, summary: "new file, binary, 4 bytes", whole: "binary, 4 bytes" },
  ];
  const page = revertPage("all", result({ preview: changes(files) }));
  assert.deepEqual([...page.places], [["src/app.py", 2]]);
  assert.match(page.text, /\n\nsrc\/app\.py {3}no longer executable\n\nold\.bin {3}is restored, binary, 4 bytes\n\nRevert/);
});

test("a long diff leaves room for the other files", () => {
  const long = `@@ -1,90 +1,90 @@\n${"+line\n".repeat(90)}`;
  const page = revertPage("all", result({ preview: changes([{ ...text, diff: long }]) }));
  assert.match(page.text, /… and 51 lines more; the diff has them all/);
  assert.equal(page.text.match(/\+line/g)?.length, 39);
});

test("where nothing can be reverted, there is no yes", () => {
  const told = result({ reverted: [], conflicts: ["a.md"], reasons: null, preview: { ...changes([]), files: null } });
  assert.equal(changesAnything(told), false);
  const page = revertPage("“Edit a.md” by claude", told);
  assert.match(page.text, /^Cannot be reverted/);
  assert.match(page.text, /^ {4}it was changed since$/m);
  assert.doesNotMatch(page.text, /^Revert /m);
});

test("afterwards it is told what became of each file", () => {
  assert.equal(outcome(result()), "Reverted src/app.py");
  assert.equal(
    outcome(result({ reverted: ["a", "b"], merged: ["b"], conflicts: ["c", "d", "e"], reasons: { c: "it is gone" } })),
    "Reverted a and 1 more; b was merged with later changes; c stays as it is: it is gone; d stays as it is: it was changed since; 1 more stays as it is",
  );
  assert.match(outcome(result({ conflicts: ["c", "d", "e", "f"] })), /; 2 more stay as they are$/);
  assert.equal(outcome(result({ merged: ["src/app.py"] })), "Reverted src/app.py, merged with later changes");
  assert.match(outcome(result({ reverted: [], conflicts: ["c"] })), /^Nothing was reverted; c stays/);
});
