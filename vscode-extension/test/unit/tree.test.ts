import assert from "node:assert/strict";
import { test } from "node:test";
import { DrawnRows } from "../../src/tree";

interface Node {
  id: string;
  label?: string;
  box?: 0 | 1;
  below?: Node[];
}

/** A tree as it was drawn; `different` gives the ids of what has to be drawn anew, and `all` for everything. */
function drawn(nodes: Node[]): { rows: DrawnRows<Node>; different: () => string } {
  const rows = new DrawnRows<Node>(
    (node) => (node ? (node.below ?? []) : nodes),
    ({ id, label, box }) => ({ id, label, checkboxState: box }),
  );
  rows.different();
  return { rows, different: () => rows.different()?.map(({ id }) => id).join(" ") ?? "all" };
}

function tree(): Node[] {
  return [{ id: "question", label: "a patch", below: [{ id: "file", box: 1, below: [{ id: "one", box: 1 }, { id: "two", box: 1 }] }, { id: "yes", label: "all 2" }] }, { id: "other" }];
}

test("what looks as it did is not drawn anew", () => {
  const { different } = drawn(tree());
  assert.equal(different(), "");
});

test("a row is drawn by itself, not what it is below", () => {
  const nodes = tree();
  const { different } = drawn(nodes);
  Object.assign(nodes[0]?.below?.[1] ?? {}, { label: "1 of 2" });
  assert.equal(different(), "yes");
  assert.equal(different(), "");
});

test("a box that VS Code has drawn as it was pressed is left alone, and goes back when the press changed nothing", () => {
  const one: Node = { id: "one", box: 1 };
  const { rows, different } = drawn([{ id: "file", below: [one] }]);
  rows.pressed(one, 0);
  one.box = 0;
  assert.equal(different(), "");
  rows.pressed(one, 1);
  assert.equal(different(), "one");
});

test("a row that comes or goes has what it is below drawn anew", () => {
  const nodes = tree();
  const { different } = drawn(nodes);
  nodes[0]?.below?.[0]?.below?.pop();
  assert.equal(different(), "file");
  nodes.pop();
  assert.equal(different(), "all");
});

test("a row stays the same object, with what is said of it now", () => {
  const { rows } = drawn(tree());
  const known = rows.known({ id: "other" });
  assert.equal(rows.known({ id: "other", label: "later" }), known);
  assert.equal(known.label, "later");
});
