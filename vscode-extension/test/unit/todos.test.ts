import assert from "node:assert/strict";
import { test } from "node:test";
import type { Session } from "../../src/session";
import type { SessionTodos, Todo } from "../../src/session-protocol";
import { Sessions } from "../../src/sessions";
import { add, moveBy, moveTo, progress, progressLook, remove, tick, Todos } from "../../src/todos";
import { warnings } from "../vscode";
import { session, todos } from "./samples";

/** A sidecar with one session, whose list only a change of its present revision replaces. */
function sidecar(items: string): { sessions: Sessions; todos: Todos; sent: SessionTodos[]; agentWrites: (items: string) => void; shown: () => string; seen: string[] } {
  let kept = session("claude", { todos: todos(items), todosRevision: 1 });
  const sent: SessionTodos[] = [];
  const request = (method: string, params: unknown): Promise<unknown> => {
    if (method === "session/list") {
      return Promise.resolve({ sessions: [kept] });
    }
    const change = params as SessionTodos;
    sent.push(change);
    if (change.revision !== kept.todosRevision) {
      return Promise.reject(Object.assign(new Error("the list is another one now"), { code: -32801 }));
    }
    kept = { ...kept, todos: change.todos, todosRevision: kept.todosRevision + 1 };
    sessions.hear({ session: kept }); // the report may overtake the answer
    return Promise.resolve(kept);
  };
  const seen: string[] = [];
  const look = (): void => {
    if (seen.at(-1) !== shown()) {
      seen.push(shown());
    }
  };
  const sessions = new Sessions(() => ({ request }) as unknown as Session, () => { look(); });
  const lists = new Todos(sessions, () => { look(); });
  const agentWrites = (written: string): void => {
    kept = { ...kept, todos: todos(written), todosRevision: kept.todosRevision + 1 };
  };
  const shown = (): string => lists.of(sessions.get("claude") ?? kept).map(({ id, status }) => `${id}${status === "completed" ? "*" : ""}`).join(" ");
  sessions.hear({ session: kept });
  return { sessions, todos: lists, sent, agentWrites, shown, seen };
}

test("a change is on show at once, and several in a row are made one after the other", async () => {
  const { todos: lists, sent, shown } = sidecar("a b");
  void lists.change("claude", tick("a", true));
  void lists.change("claude", add("more"));
  const added = shown().split(" ")[2] ?? "";
  void lists.change("claude", moveBy(added, -2));
  const last = lists.change("claude", moveBy("b", -1));
  assert.match(shown(), /^user-[0-9a-f]{8} b a\*$/);
  const before = shown();
  await last;
  assert.equal(shown(), before);
  assert.deepEqual(sent.map(({ revision }) => revision), [1, 2, 3, 4]);
  assert.deepEqual(warnings, []);
});

test("a change is on show once, while it is under way and when it is made", async () => {
  const { todos: lists, seen } = sidecar("a b c");
  await lists.change("claude", moveBy("c", -1));
  await lists.change("claude", moveBy("c", -1));
  assert.deepEqual(seen, ["a b c", "a c b", "c a b"]);
});

test("a list that the agent wrote meanwhile stays, is on show, and the user reads that their change was not made", async () => {
  const { todos: lists, sent, agentWrites, shown } = sidecar("a b");
  agentWrites("b* c");
  await lists.change("claude", tick("a", true));
  assert.equal(shown(), "b* c");
  assert.equal(sent.length, 1, "it is not tried again");
  assert.deepEqual(warnings.splice(0), ["claude changed its to-do list at the same moment. You see its list now; your change was not made."]);
});

test("a list whose session has ended is left alone, and what changes nothing is not sent", async () => {
  const { sessions, todos: lists, sent } = sidecar("a");
  await lists.change("claude", moveBy("a", -1));
  sessions.hear({ session: session("claude"), ended: true });
  await lists.change("claude", tick("a", true));
  assert.deepEqual(sent, []);
});

test("lists are those of the agents that are there, or what the last one left to do", () => {
  const { sessions, todos: lists } = sidecar("a* b");
  const names = (): string => lists.lists.map(({ sessionId }) => sessionId).join(" ");
  const gone = { connected: false, todosRevision: 1 };
  sessions.hear({ session: session("claude", { ...gone, todos: todos("a* b"), lastCall: "2026-05-04T14:06:00Z" }) });
  sessions.hear({ session: session("codex", { ...gone, todos: todos("a"), lastCall: "2026-05-04T14:05:00Z" }) });
  sessions.hear({ session: session("qwen", { ...gone, todos: todos("a*"), lastCall: "2026-05-04T14:07:00Z" }) });
  sessions.hear({ session: session("idle") });
  assert.equal(names(), "claude");
  sessions.hear({ session: session("idle", { todos: todos("x") }) });
  assert.equal(names(), "idle");
});

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
