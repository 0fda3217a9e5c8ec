import assert from "node:assert/strict";
import { test } from "node:test";
import { add, moveBy, moveTo, progress, progressLook, remove, tick } from "../../src/todo-list";
import type { Todo } from "../../src/session-protocol";
import { session, todos } from "./samples";

/** As `todos` reads it. */
function written(list: readonly Todo[]): string {
  return list.map(({ id, status }) => (status === "completed" ? `${id}*` : status === "in_progress" ? `>${id}` : id)).join(" ");
}

test("a box ticks one item and leaves all others as they are, with what else an agent gave them", () => {
  const list = [{ id: "a", content: "x", status: "in_progress", priority: "high", extra: { activeForm: "Doing x" } } as Todo, ...todos("b")];
  assert.deepEqual(tick("a", true)(list)[0], { ...list[0], status: "completed" });
  assert.equal(written(tick("b", true)(list)), ">a b*");
  assert.equal(written(tick("a", false)(tick("a", true)(list))), "a b");
  assert.equal(written(tick("gone", true)(list)), ">a b");
});

test("items are added at the end, removed and moved, and no further than the list is long", () => {
  const list = todos("a* >b c d");
  assert.match(written(add("more")(list)), /^a\* >b c d user-[0-9a-f]{8}$/);
  assert.equal(written(remove("c")(list)), "a* >b d");
  assert.equal(written(moveBy("c", -1)(list)), "a* c >b d");
  assert.equal(written(moveBy("c", 1)(list)), "a* >b d c");
  assert.equal(written(moveBy("a", -1)(list)), "a* >b c d");
  assert.equal(written(moveBy("d", 1)(list)), "a* >b c d");
  assert.equal(written(moveBy("gone", 1)(list)), "a* >b c d");
});

test("a dragged item takes the place of the one that it is dropped on; below all it is the last", () => {
  const list = todos("a b c d");
  assert.equal(written(moveTo("a", "c")(list)), "b c a d");
  assert.equal(written(moveTo("d", "b")(list)), "a d b c");
  assert.equal(written(moveTo("b", undefined)(list)), "a c d b");
  assert.equal(written(moveTo("b", "b")(list)), "a b c d");
});

test("progress is short, and nothing of an item hides in it", () => {
  assert.equal(progress(todos("a* >b c"), 20), "1/3 · item b");
  assert.equal(progress(todos("a* b c"), 20), "1/3");
  assert.equal(progress([{ id: "a", content: "Fix \u202e the very long clock", status: "in_progress", priority: "low" }], 20), "0/1 · Fix \\u{202e} t…clock");
});

test("nothing of an item becomes an icon of the status bar", () => {
  const item: Todo = { id: "a", content: "$(error) $(sync~spin) stopped", status: "in_progress", priority: "high" };
  assert.equal(progressLook([session("a", { todos: [item] })])?.text, "$(checklist) 0/1 · \\$(error) \\$(sync~spin) stopped");
});

test("the status bar follows the agent that is at an item and called last, and nothing when all is done", () => {
  assert.equal(progressLook([session("idle"), session("done", { todos: todos("a*") })]), undefined);
  const early = session("early", { todos: todos(">a"), lastCall: "2026-05-04T14:06:00" });
  const late = session("late", { todos: todos("x* >b"), lastCall: "2026-05-04T14:07:00" });
  const resting = session("resting", { todos: todos("c"), lastCall: "2026-05-04T14:08:00" });
  const look = progressLook([early, late, resting]);
  assert.equal(look?.text, "$(checklist) 1/2 · item b");
  assert.equal(look.tooltip, "early: 0 of 1 to-do done; now: item a\nlate: 1 of 2 to-dos done; now: item b\nresting: 0 of 1 to-do done\nClick to see the to-do list.");
});
