import assert from "node:assert/strict";
import { test } from "node:test";
import { find, type Hunk, hunksOf, standsAt, swap, textOf } from "../../src/hunks";

const before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
const after = "zero\none\ntwo\nTHREE\nfour\nfive\nsix\neight\nnine\nten";
const diff = [
  "diff --git a/a.txt b/a.txt",
  "--- a/a.txt",
  "+++ b/a.txt",
  "@@ -0,0 +1 @@",
  "+zero",
  "@@ -2,3 +3,3 @@ def counted():",
  " two",
  "-three",
  "+THREE",
  " four",
  "@@ -6,4 +7,4 @@",
  " six",
  "-seven",
  " eight",
  " nine",
  "+ten",
  "\\ No newline at end of file",
  "",
].join("\n");
const headers = ["@@ -0,0 +1 @@", "@@ -2,3 +3,3 @@", "@@ -6,4 +7,4 @@"];
const hunks = hunksOf({ diff, hunks: headers.map((header, index) => ({ id: String(index + 1), header })) });

function hunk(id: string): Hunk {
  const found = hunks.find((one) => one.id === id);
  assert.ok(found);
  return found;
}

function made(...ids: string[]): string {
  return textOf(before, hunks, ({ id }) => ids.includes(id));
}

test("a diff's hunks are those that the preview names", () => {
  assert.deepEqual(
    hunks.map(({ id, start, head, tail, additions, deletions, heading }) => [id, start, head, tail, additions, deletions, heading]),
    [
      ["1", 0, 0, 0, 1, 0, ""],
      ["2", 1, 1, 1, 1, 1, "def counted():"],
      ["3", 5, 1, 0, 1, 1, ""],
    ],
  );
});

test("any part of the hunks gives exactly their changes", () => {
  assert.equal(made(), before);
  assert.equal(made("1", "2", "3"), after);
  assert.equal(made("1"), `zero\n${before}`);
  assert.equal(made("2"), before.replace("three", "THREE"));
  assert.equal(made("3"), before.replace("seven\n", "") + "ten");
  assert.equal(made("1", "3"), `zero\n${before.replace("seven\n", "")}ten`);
});

test("a line of a file may look like a header or a mark of a diff", () => {
  const odd = ["@@ -1,2 +1,2 @@", "-@@ -1 +1 @@", "--- a/x", "+@@ -9 +9 @@", "++++ b/y", ""].join("\n");
  const [only, another] = hunksOf({ diff: odd, hunks: [{ id: "7", header: "@@ -1,2 +1,2 @@" }] });
  assert.ok(only && !another);
  assert.equal(textOf("@@ -1 +1 @@\n-- a/x\n", [only], () => true), "@@ -9 +9 @@\n+++ b/y\n");
});

test("carriage returns belong to their lines", () => {
  const windows = ["@@ -1,2 +1,2 @@", " one\r", "-two\r", "+TWO\r", ""].join("\n");
  const all = hunksOf({ diff: windows, hunks: [{ id: "1", header: "@@ -1,2 +1,2 @@" }] });
  assert.equal(textOf("one\r\ntwo\r\n", all, () => true), "one\r\nTWO\r\n");
});

test("a file that is taken as a whole has a hunk without lines", () => {
  const [only] = hunksOf({ diff: "", hunks: [{ id: "4", header: "deleted" }] });
  assert.ok(only);
  assert.deepEqual(only.lines, []);
  assert.deepEqual(standsAt([only], only, () => true), { start: 0, end: 0 });
});

test("a diff that is cut short gives no hunks, rather than wrong ones", () => {
  assert.deepEqual(hunksOf({ diff: "", hunks: [{ id: "1", header: "@@ -1 +1 @@" }] }), []);
});

test("where a hunk stands depends on those before it", () => {
  const all = (): boolean => true;
  assert.deepEqual(standsAt(hunks, hunk("2"), all), { start: 3, end: 4 });
  assert.deepEqual(standsAt(hunks, hunk("2"), ({ id }) => id !== "1"), { start: 2, end: 3 });
  assert.deepEqual(standsAt(hunks, hunk("3"), () => false), { start: 6, end: 9 });
});

test("in a text that somebody wrote in, a hunk is put in and taken out where it stands now", () => {
  const own = `mine\n\n${after}`;
  const without = swap(own, hunk("2"), false, 3);
  assert.equal(without, own.replace("THREE", "three"));
  assert.equal(swap(without, hunk("2"), true, 3), own);
});

test("lines around a hunk may be theirs, its own may not", () => {
  const around = after.replace("two\n", "two, by hand\n").replace("four\n", "four, by hand\n");
  assert.equal(swap(around, hunk("2"), false, 3), around.replace("THREE", "three"));
  assert.equal(swap(after.replace("THREE", "THREE!"), hunk("2"), false, 3), undefined);
});

test("without a line around it a hunk must be the only place", () => {
  const twice = "THREE\nx\nTHREE\n";
  assert.equal(find(twice, hunk("2"), "after", 0), undefined);
  assert.equal(swap(twice, hunk("2"), false, 0), undefined);
});

test("of several places with the same lines around, the one nearby is it", () => {
  const again = "two\nTHREE\nfour\nx\ntwo\nTHREE\nfour\n";
  assert.deepEqual(find(again, hunk("2"), "after", 1), { start: 1, end: 2 });
  assert.deepEqual(find(again, hunk("2"), "after", 5), { start: 5, end: 6 });
});
