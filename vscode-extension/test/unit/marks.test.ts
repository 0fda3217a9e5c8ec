import assert from "node:assert/strict";
import { test } from "node:test";
import { type LineMark, type Maker, Marks, replacedLines, type TextChange } from "../../src/marks";

const uri = "file:///project/app.py";
const by: Maker = { callId: "c1", agent: "claude", title: "Edit app.py", time: "2026-11-21T14:05:00Z" };
const later: Maker = { ...by, callId: "c2" };

function shown(marks: Marks): string {
  return marks.of(uri).map(({ kind, start, end }: LineMark) => `${kind} ${String(start)}-${String(end)}`).join(", ");
}

/** A text of numbered lines, of which an agent wrote 4 and 5, and removed something before 8. */
function sample(): { marks: Marks; text: string } {
  const marks = new Marks();
  marks.add(uri, [{ start: 4, end: 6, removed: 1 }, { start: 8, end: 8, removed: 2 }], by, false);
  return { marks, text: Array.from({ length: 12 }, (_, line) => `line ${String(line)}`).join("\n") };
}

/** Changes the text as an editor does, and tells the marks. */
function type(marks: Marks, text: string, ...changes: TextChange[]): string {
  const offset = ({ line, character }: { line: number; character: number }): number => text.split("\n").slice(0, line).join("\n").length + (line > 0 ? 1 : 0) + character;
  let after = text;
  for (const { range, text: put } of [...changes].sort((one, other) => offset(other.range.start) - offset(one.range.start))) {
    after = after.slice(0, offset(range.start)) + put + after.slice(offset(range.end));
  }
  const lines = after.split("\n");
  marks.shift(uri, replacedLines(changes, (line) => lines[line]?.length ?? 0));
  return after;
}

function change(from: [number, number], to: [number, number], text: string): TextChange {
  const at = ([line, character]: [number, number]): { line: number; character: number } => ({ line, character });
  return { range: { start: at(from), end: at(to) }, text };
}

const cases: { name: string; changes: TextChange[]; want: string }[] = [
  { name: "a letter anywhere moves nothing", changes: [change([1, 2], [1, 2], "x"), change([4, 0], [4, 0], "y")], want: "changed 4-6, removed 8-8" },
  { name: "a line above moves all", changes: [change([0, 6], [0, 6], "\n")], want: "changed 5-7, removed 9-9" },
  { name: "a line before the first, at its beginning, is the user's own", changes: [change([4, 0], [4, 0], "mine\n")], want: "changed 5-7, removed 9-9" },
  { name: "a line after the last, at its end, is the user's own", changes: [change([5, 6], [5, 6], "\nmine")], want: "changed 4-6, removed 9-9" },
  { name: "a line between them belongs to the stretch", changes: [change([4, 6], [4, 6], "\nmine")], want: "changed 4-7, removed 9-9" },
  { name: "a line that is split stays the agent's", changes: [change([5, 2], [5, 2], "\n")], want: "changed 4-7, removed 9-9" },
  { name: "lines deleted above move all", changes: [change([0, 0], [2, 0], "")], want: "changed 2-4, removed 6-6" },
  { name: "all of it deleted ends it", changes: [change([4, 0], [6, 0], "")], want: "removed 6-6" },
  { name: "all of it replaced ends it", changes: [change([4, 0], [5, 6], "mine\nalone")], want: "removed 8-8" },
  { name: "half of it deleted leaves the other", changes: [change([3, 0], [5, 0], "")], want: "changed 3-4, removed 6-6" },
  { name: "the line below joined to it stays the agent's", changes: [change([5, 6], [6, 0], "")], want: "changed 4-6, removed 7-7" },
  { name: "two places at once", changes: [change([0, 6], [0, 6], "\n"), change([7, 0], [7, 0], "\n\n")], want: "changed 5-7, removed 11-11" },
];

for (const { name, changes, want } of cases) {
  test(`typing: ${name}`, () => {
    const { marks, text } = sample();
    type(marks, text, ...changes);
    assert.equal(shown(marks), want);
  });
}

test("what was added, changed and removed is told apart", () => {
  const marks = new Marks();
  marks.add(uri, [{ start: 0, end: 2, removed: 0 }, { start: 5, end: 6, removed: 3 }, { start: 9, end: 9, removed: 1 }, { start: 11, end: 12 }], by, false);
  assert.equal(shown(marks), "added 0-2, changed 5-6, removed 9-9, changed 11-12");
});

test("a later change on disk moves the marks of earlier ones, and takes over what it rewrote", () => {
  const { marks } = sample();
  marks.add(uri, [{ start: 0, end: 3, removed: 0 }, { start: 8, end: 9, removed: 1 }], later, false);
  assert.equal(shown(marks), "added 0-3, changed 7-8, changed 8-9, removed 11-11");
  assert.equal(marks.at(uri, 8)?.by.callId, "c2");
  assert.equal(marks.at(uri, 7)?.by.callId, "c1");
});

test("in an open editor the marks have moved already", () => {
  const { marks } = sample();
  marks.add(uri, [{ start: 0, end: 1, removed: 0 }], later, true);
  assert.equal(shown(marks), "added 0-1, changed 4-6, removed 8-8");
});

test("a mark is found from its lines, and that of removed lines from both sides", () => {
  const { marks } = sample();
  assert.deepEqual([3, 4, 5, 6, 7, 8, 9].map((line) => marks.at(uri, line)?.kind), [undefined, "changed", "changed", undefined, "removed", "removed", undefined]);
});

test("marks go with the file, with their call, and come back", () => {
  const { marks } = sample();
  marks.add(uri, [{ start: 0, end: 1, removed: 0 }], later, true);
  const before = marks.of(uri);
  assert.equal(marks.dropCalls(new Set(["c1"])), true);
  assert.equal(shown(marks), "added 0-1");
  assert.equal(marks.dropCalls(new Set(["c1"])), false);
  marks.restore(uri, before.filter((mark) => mark.by.callId === "c1"));
  assert.deepEqual(marks.of(uri), before);
  assert.equal(marks.drop(uri), true);
  assert.equal(marks.drop(uri), false);
  marks.restore(uri, before);
  marks.move(uri, `${uri}.moved`);
  assert.deepEqual(marks.uris, [`${uri}.moved`]);
  marks.move("file:///proj", "file:///elsewhere"); // no folder of it
  marks.move("file:///project", "file:///old");
  assert.deepEqual(marks.uris, ["file:///old/app.py.moved"]);
  marks.move("file:///old");
  assert.deepEqual(marks.uris, []);
});

test("the next mark, and the one before, go around the end of the file", () => {
  const { marks } = sample();
  const starts = (next: boolean, ...lines: number[]): (number | undefined)[] => lines.map((line) => marks.beside(uri, line, next)?.start);
  assert.deepEqual(starts(true, -1, 4, 8), [4, 8, 4]);
  assert.deepEqual(starts(false, 20, 8, 4), [8, 4, 8]);
  assert.equal(marks.beside("file:///other", 0, true), undefined);
});

test("a mark that is kept goes alone", () => {
  const { marks } = sample();
  const [first] = marks.of(uri);
  assert.ok(first);
  marks.dropOne(uri, first);
  assert.equal(shown(marks), "removed 8-8");
});
