import assert from "node:assert/strict";
import { test } from "node:test";
import { diffLines, find, type Hunk, hunksOf, isWhole, standsAt, swap, textOf } from "../../src/hunks";
import { hunk as sample, whole } from "./samples";

const before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
const after = "zero\none\ntwo\nTHREE\nfour\nfive\nsix\neight\nnine\nten";
const hunks = hunksOf({
  before,
  after,
  hunks: [sample("1", [0, 0], [0, 1], { tail: 2 }), sample("2", [2, 3], [3, 4], { head: 1, tail: 1 }), sample("3", [6, 7], [7, 7], { head: 1, tail: 1 }), sample("4", [9, 9], [9, 10], { head: 1 })],
});

function hunk(id: string): Hunk {
  const found = hunks.find((one) => one.id === id);
  assert.ok(found);
  return found;
}

function made(...ids: string[]): string {
  return textOf(before, hunks, ({ id }) => ids.includes(id));
}

test("a hunk has the lines of both texts, with those around it", () => {
  assert.deepEqual(hunk("2").old, ["two\n", "three\n", "four\n"]);
  assert.deepEqual(hunk("2").new, ["two\n", "THREE\n", "four\n"]);
  assert.deepEqual(hunk("4").new, ["nine\n", "ten"]);
  assert.deepEqual(diffLines(hunk("2")), [" two", "-three", "+THREE", " four"]);
});

test("any part of the hunks gives exactly their changes", () => {
  assert.equal(made(), before);
  assert.equal(made("1", "2", "3", "4"), after);
  assert.equal(made("1"), `zero\n${before}`);
  assert.equal(made("2"), before.replace("three", "THREE"));
  assert.equal(made("3", "4"), before.replace("seven\n", "") + "ten");
  assert.equal(made("1", "3"), `zero\n${before.replace("seven\n", "")}`);
});

test("carriage returns belong to their lines", () => {
  const all = hunksOf({ before: "one\r\ntwo\r\n", after: "one\r\nTWO\r\n", hunks: [sample("1", [1, 2], [1, 2], { head: 1 })] });
  assert.equal(textOf("one\r\ntwo\r\n", all, () => true), "one\r\nTWO\r\n");
});

test("a file that is taken as a whole has a hunk without lines", () => {
  const [only] = hunksOf({ before: "x\n", after: "", hunks: [whole("4", "deleted")] });
  assert.ok(only && isWhole(only));
  assert.deepEqual([only.old, only.new], [[], []]);
  assert.deepEqual(standsAt([only], only, () => true), { start: 0, end: 0 });
});

test("where a hunk stands depends on those before it", () => {
  const all = (): boolean => true;
  assert.deepEqual(standsAt(hunks, hunk("2"), all), { start: 3, end: 4 });
  assert.deepEqual(standsAt(hunks, hunk("2"), ({ id }) => id !== "1"), { start: 2, end: 3 });
  assert.deepEqual(standsAt(hunks, hunk("3"), () => false), { start: 6, end: 7 });
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
  assert.equal(find(twice, hunk("2"), "new", 0), undefined);
  assert.equal(swap(twice, hunk("2"), false, 0), undefined);
});

test("of several places with the same lines around, the one nearby is it", () => {
  const again = "two\nTHREE\nfour\nx\ntwo\nTHREE\nfour\n";
  assert.deepEqual(find(again, hunk("2"), "new", 1), { start: 1, end: 2 });
  assert.deepEqual(find(again, hunk("2"), "new", 5), { start: 5, end: 6 });
});
